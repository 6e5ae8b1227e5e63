// Each rule of Hopper's words: a kernel that breaks it is told so at its line, its clean twin is not.
#include "device.hpp"

#include <algorithm>
#include <fstream>

namespace isomer::emulator::tests {
namespace {

struct Line {
  std::string file;
  std::uint32_t number = 0;
};

Line fault_line(const std::string& name) {
  for (const char* file : {"faults_of_copies.cu", "faults_of_products.cu"}) {
    std::ifstream in(path_of(file));
    std::string line;
    for (std::uint32_t number = 1; std::getline(in, line); ++number)
      if (line.ends_with("// fault: " + name)) return {file, number};
  }
  return {};
}

struct Fault {
  const char* name;
  Kind kind;
  const char* says;
  unsigned threads = 128;
  std::uint32_t cluster = 1;
};
void PrintTo(const Fault& f, std::ostream* out) { *out << f.name; }

const Fault kFaults[] = {
    {"read_before_wait", Kind::in_flight, "nobody has waited for that phase of the barrier"},
    {"wait_by_one_lane", Kind::race, "a bulk copy of block (0,0,0)"},
    {"first_phase_wrong", Kind::in_flight, "nobody has waited for that phase of the barrier"},
    {"phase_not_turned", Kind::wrong_phase, "waits for parity 0 of the barrier"},
    {"stage_filled_again", Kind::in_flight, "reads shared memory"},
    {"stage_given_back_early", Kind::early_reuse, "that a thread read at"},
    {"writes_into_copy", Kind::in_flight, "writes shared memory"},
    {"bytes_too_many", Kind::byte_count, "16 bytes more were announced"},
    {"bytes_too_few", Kind::byte_count, "16 bytes more than were announced"},
    {"barrier_not_initialised", Kind::barrier_misuse, "nobody has initialised"},
    {"barrier_not_announced", Kind::barrier_misuse, "barrier at offset 32768"},
    {"barrier_fence_missing", Kind::unseen_barrier, "the copy engine may not see yet"},
    {"one_arrival_too_many", Kind::barrier_misuse, "once more than the 1 times"},
    {"arrival_missing", Kind::barrier_divergence, "1 of 4 arrivals and 0 bytes are missing"},
    {"tile_not_aligned", Kind::copy_misuse, "expected a multiple of 128"},
    {"copy_left_behind", Kind::unfinished, "nobody has waited for"},
    {"proxy_fence_missing", Kind::missing_proxy_fence, "no fence.proxy.async"},
    {"proxy_fence_too_early", Kind::missing_proxy_fence, "no fence.proxy.async"},
    {"store_before_barrier", Kind::race, "no barrier between"},
    {"stored_tile_overwritten", Kind::early_reuse, "its thread has not waited for it"},
    {"store_left_behind", Kind::unfinished, "without having waited"},
    {"store_in_no_group", Kind::unfinished, "without having waited"},
    {"fence_missing", Kind::missing_fence, "no fence"},
    {"fence_of_the_wave_before", Kind::missing_fence, "no fence behind its last wait"},
    {"product_before_copy_landed", Kind::in_flight, "multiplies shared memory"},
    {"accumulator_read", Kind::in_flight, "reads an accumulator"},
    {"accumulator_written", Kind::in_flight, "writes an accumulator"},
    {"wait_for_too_few_groups", Kind::in_flight, "reads an accumulator"},
    {"group_not_ended", Kind::in_flight, "reads an accumulator"},
    {"product_left_behind", Kind::unfinished, "while this product"},
    {"wrong_swizzle", Kind::wrong_swizzle, "a 64-byte swizzle"},
    {"product_without_proxy_fence", Kind::missing_proxy_fence, "multiplies"},
    {"operand_overwritten_in_flight", Kind::early_reuse, "it is under way"},
    {"operand_filled_again_in_flight", Kind::early_reuse, "copies into", 256},
    {"one_warp_speaks_for_four", Kind::early_reuse, "the wait of each of its warps", 256},
    {"product_is_no_barrier", Kind::early_reuse, "that a thread read at", 256},
    {"another_product_in_one_warp", Kind::warpgroup_divergence, "another product"},
    {"another_call_in_one_warp", Kind::warpgroup_divergence, "call the same in the same order"},
    {"one_warp_stays_away", Kind::barrier_divergence, "96 of its warpgroup's 128 threads"},
    {"operand_behind_the_end", Kind::out_of_bounds_read, "outside of shared memory"},
    {"operand_that_nobody_wrote", Kind::uninitialised_read, "nobody has written"},
    {"registers_do_not_add_up", Kind::register_pool, "waits for ever for 240 registers", 384},
    {"takes_fewer_registers", Kind::register_pool, "takes up to 160 registers a thread and has 168", 384},
    {"one_thread_keeps_registers", Kind::register_pool, "waits for ever for 232 registers", 384},
    {"turn_without_arrival", Kind::barrier_divergence, "a named barrier", 256},
    {"turns_of_different_size", Kind::barrier_divergence, "for 384 threads", 384},
    {"named_barrier_missing", Kind::race, "no barrier between", 384},
    {"halves_of_a_tile", Kind::byte_count, "4096 bytes more than were announced", 128, 2},
    {"peer_has_ended", Kind::out_of_bounds_write, "which has ended", 128, 2},
    {"peer_is_overwritten", Kind::early_reuse, "it is under way", 128, 2},
};

class HopperFault : public testing::TestWithParam<Fault> {
 protected:
  static RunResult launch(const std::string& kernel, const Fault& fault, std::uint64_t seed) {
    Memory<std::uint16_t> from(256 * 64, 0x3c00), to(64 * 64);
    Memory<float> out(384);
    device::HopperParameters p{};
    p.from = map_of(from, 64, 256, 64, 64, 128);
    p.to = map_of(to, 64, 64, 64, 64, 128);
    p.half = map_of(from, 64, 256, 64, 32, 128);
    p.out = out.data();
    return module_of(fault_line(fault.name).file)
        .launch_here(kernel,
                     {.grid = {fault.cluster, 1, 1},
                      .block = {fault.threads, 1, 1},
                      .shared_bytes = 4 * 64 * 128 + 64,
                      .cluster = fault.cluster},
                     {Argument::value(p)}, {.seed = seed});
  }
};

TEST_P(HopperFault, IsReportedAtItsLine) {
  const Fault& fault = GetParam();
  const Line line = fault_line(fault.name);
  ASSERT_NE(line.number, 0u);
  for (const std::uint64_t seed : {0, 5}) {
    const RunResult result = launch(std::string(fault.name) + "_bad", fault, seed);
    const bool found = std::any_of(result.reports.begin(), result.reports.end(), [&](const Report& r) {
      return r.kind == fault.kind && r.place.line == line.number && r.place.file == path_of(line.file) &&
             r.text.find(fault.says) != std::string::npos;
    });
    EXPECT_TRUE(found) << fault.name << " (seed " << seed << ") is not reported at line " << line.number
                       << "; " << result.failure;
    if (!found)
      for (const Report& r : result.reports) ADD_FAILURE() << r.text;
  }
}

TEST_P(HopperFault, HasACleanTwin) {
  ASSERT_NE(fault_line(GetParam().name).number, 0u);
  for (const std::uint64_t seed : {0, 5}) {
    const RunResult result = launch(std::string(GetParam().name) + "_ok", GetParam(), seed);
    EXPECT_EQ(result.failure, "");
    EXPECT_EQ(result.error, 0);
    for (const Report& r : result.reports) ADD_FAILURE() << r.text;
    for (const Refusal& r : result.refusals) ADD_FAILURE() << r.text;
  }
}

INSTANTIATE_TEST_SUITE_P(All, HopperFault, testing::ValuesIn(kFaults),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace isomer::emulator::tests
