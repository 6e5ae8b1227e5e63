#include "cpu/implementation.hpp"
#include "ops/fp8_gemm/cpu/tiles.hpp"

namespace isomer::ops::fp8_gemm {
namespace {

/// The plan of either op: Args is Fp8GemmArgs or GroupedFp8GemmArgs.
template <class Args>
class GemmPlan : public core::Plan {
 public:
  GemmPlan(const core::Call& call, const Queue& queue, cpu::Target target)
      : target_(target),
        threads_(queue.executor().concurrency()),
        contract_(*call.contract),
        operands_(call.args<Args>()),
        tiling_(tiling(operands_.segments, operands_.capacity, operands_.columns, threads_)) {}

  void describe(core::Description& out) const override {
    out.variant = {{"target", std::string(cpu::name_of(target_))},
                   {"rows", std::string(name_of(operands_.layout))},
                   {"kernel", operands_.capacity <= kSkinnyRows ? "skinny" : "panel"},
                   {"c", std::string(isomer::name_of(operands_.c_type))}};
    out.parameters = {{"m", std::to_string(operands_.a.count())},
                      {"n", std::to_string(operands_.columns)},
                      {"k", std::to_string(operands_.depth)},
                      {"experts", std::to_string(operands_.b.size(0))}};
    out.constants = {{"tile_m", std::to_string(tiling_.rows)}, {"tile_n", std::to_string(tiling_.columns)}};
    out.launches = {{.kernel = contract_.op,
                     .grid = {tiling_.row_tiles, tiling_.column_tiles, tiling_.segments},
                     .shared_bytes = static_cast<std::int64_t>(tiling_.scratch_bytes())}};
  }

  std::size_t workspace_bytes() const override {
    return tiling_.scratch_bytes() * static_cast<std::size_t>(threads_);
  }

  void run(const Queue& queue, const core::Call& call, void* workspace) const override {
    run_tiles(queue.executor(), target_, Operands(call.args<Args>()), tiling_,
              static_cast<float*>(workspace));
  }

 private:
  cpu::Target target_;
  int threads_;
  const core::Contract& contract_;
  Operands operands_;  ///< for the sizes; the tensors of a run are its own
  Tiling tiling_;
};

}  // namespace

std::vector<std::unique_ptr<const core::Implementation>> cpu() {
  return cpu::implementations<GemmPlan<Fp8GemmArgs>>(tile_function());
}

std::vector<std::unique_ptr<const core::Implementation>> grouped_cpu() {
  return cpu::implementations<GemmPlan<GroupedFp8GemmArgs>>(tile_function());
}

}  // namespace isomer::ops::fp8_gemm
