#include "lab/check/planted.hpp"

#include "core/codec.hpp"

#include <cmath>

namespace isomer::lab {
namespace {

class PlantedPlan : public core::Plan {
 public:
  explicit PlantedPlan(const std::function<void(const core::Call&)>& compute) : compute_(compute) {}
  void describe(core::Description& out) const override { out.launches = {{.kernel = "planted"}}; }
  void run(const Queue&, const core::Call& call, void*) const override { compute_(call); }

 private:
  const std::function<void(const core::Call&)>& compute_;
};

class Planted : public core::Implementation {
 public:
  Planted(std::string name, std::function<void(const core::Call&)> compute)
      : name_(std::move(name)), compute_(std::move(compute)) {}
  const std::string& name() const override { return name_; }
  DeviceType device() const override { return DeviceType::cpu; }
  core::PlanOrRefusal plan(const core::Call&, const Queue&) const override {
    return std::make_unique<PlantedPlan>(compute_);
  }

 private:
  std::string name_;
  std::function<void(const core::Call&)> compute_;
};

/// Sets every element of every output to value(output, row-major index).
template <class Value>
void write_outputs(const core::Call& call, Value value) {
  for (int i = 0; i < call.count; ++i) {
    const Tensor& tensor = call.tensor(i);
    if (!tensor.defined() || core::role_in(call, static_cast<std::size_t>(i)) == core::Role::in) continue;
    const std::int64_t count = tensor.numel();
    for (std::int64_t flat = 0; flat < count; ++flat) {
      std::int64_t offset = 0, index = flat;
      for (int d = tensor.rank - 1; d >= 0; --d) {
        offset += index % tensor.size(d) * tensor.stride(d);
        index /= tensor.size(d);
      }
      core::encode(tensor.dtype, value(i, flat),
                   static_cast<std::byte*>(tensor.data) + offset * size_of(tensor.dtype));
    }
  }
}

}  // namespace

std::unique_ptr<core::Implementation> plant(std::string name,
                                            std::function<void(const core::Call&)> compute) {
  return std::make_unique<Planted>(std::move(name), std::move(compute));
}

std::unique_ptr<core::Implementation> plant_variation(const oracle::Oracle& oracle,
                                                      const oracle::Variation& variation) {
  return plant("planted/" + variation.name, [&oracle, name = variation.name](const core::Call& call) {
    oracle::run_reference(oracle, call, oracle::Variations({name}));
  });
}

std::unique_ptr<core::Implementation> plant_reference(Expectation answer) {
  return plant("planted/reference", [answer = std::move(answer)](const core::Call& call) {
    oracle::write_values(call, answer(call));
  });
}

std::unique_ptr<core::Implementation> plant_zero() {
  return plant("planted/zero",
               [](const core::Call& call) { write_outputs(call, [](int, std::int64_t) { return 0.0; }); });
}

std::unique_ptr<core::Implementation> plant_mean(Expectation answer) {
  return plant("planted/mean", [answer = std::move(answer)](const core::Call& call) {
    oracle::Expected expected = answer(call);
    for (oracle::ExpectedTensor& output : expected.tensors) {
      double sum = 0, count = 0;
      for (std::size_t i = 0; i < output.value.size(); ++i)
        if (output.written[i] && std::isfinite(output.value[i])) {
          sum += output.value[i];
          count += 1;
        }
      output.value.assign(output.value.size(), count > 0 ? sum / count : 0.0);
    }
    write_outputs(call, [&](int arg, std::int64_t flat) {
      return expected[call.contract->args[static_cast<std::size_t>(arg)].name]
          .value[static_cast<std::size_t>(flat)];
    });
  });
}

std::unique_ptr<core::Implementation> plant_copy() {
  return plant("planted/copy", [](const core::Call& call) {
    const std::vector<double> input = oracle::elements(call.tensor(0));
    write_outputs(call, [&](int, std::int64_t flat) {
      return input.empty() ? 0.0 : input[static_cast<std::size_t>(flat) % input.size()];
    });
  });
}

}  // namespace isomer::lab
