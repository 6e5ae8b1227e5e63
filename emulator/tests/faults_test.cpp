// Planted faults: each is reported, as its kind and at its line; its clean twin reports nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "isomer/emulator/module.hpp"

namespace isomer::emulator::tests {
namespace {

std::string path_of(const std::string& file) { return std::string(ISOMER_EMULATOR_KERNELS) + "/" + file; }

std::uint32_t fault_line(const std::string& file, const std::string& name) {
  std::ifstream in(path_of(file));
  std::string line;
  for (std::uint32_t number = 1; std::getline(in, line); ++number) {
    if (line.ends_with("// fault: " + name)) return number;
  }
  return 0;
}

struct Fault {
  const char* name;
  Kind kind;
  unsigned shared_bytes = 0;
};
void PrintTo(const Fault& f, std::ostream* out) { *out << f.name; }

const Fault kFaults[] = {
    {"write_before_first", Kind::out_of_bounds_write},
    {"write_behind_last", Kind::out_of_bounds_write},
    {"write_middle_far", Kind::out_of_bounds_write},
    {"read_before_first", Kind::out_of_bounds_read},
    {"read_behind_last", Kind::out_of_bounds_read},
    {"tail_not_masked", Kind::out_of_bounds_write},
    {"null_pointer", Kind::out_of_bounds_write},
    {"vector_store_behind", Kind::out_of_bounds_write},
    {"atomic_behind", Kind::out_of_bounds_write},
    {"memcpy_behind", Kind::out_of_bounds_write},
    {"shared_write_first", Kind::out_of_bounds_write},
    {"shared_write_last", Kind::out_of_bounds_write},
    {"shared_read_behind", Kind::out_of_bounds_read},
    {"dynamic_shared_behind", Kind::out_of_bounds_write, 256},
    {"uninitialised_shared", Kind::uninitialised_read},
    {"uninitialised_word", Kind::uninitialised_read},
    {"uninitialised_output", Kind::uninitialised_read},
    {"uninitialised_accumulator", Kind::uninitialised_read},
    {"race_missing_barrier", Kind::race},
    {"race_reduction_without_barrier", Kind::race},
    {"race_overwrites_what_others_read", Kind::race},
    {"race_all_write_one", Kind::race},
    {"race_inside_warp", Kind::race},
    {"race_across_warps", Kind::race},
    {"race_across_blocks", Kind::race},
    {"race_neighbour_block", Kind::race},
    {"race_atomic_and_plain", Kind::race},
    {"race_missing_fence", Kind::race},
    {"barrier_in_both_branches", Kind::barrier_divergence},
    {"barrier_in_uneven_loop", Kind::barrier_divergence},
    {"barrier_against_warp_barrier", Kind::barrier_divergence},
    {"mask_without_own_lane", Kind::warp_divergence},
    {"mask_of_no_lane", Kind::warp_divergence},
    {"shuffle_from_absent_lane", Kind::warp_divergence},
    {"writes_its_input", Kind::writes_input},
    {"misaligned_vector", Kind::misaligned},
    {"misaligned_float4", Kind::misaligned},
    {"writes_constant_memory", Kind::writes_input},
    {"fails_assertion", Kind::assertion},
    {"traps", Kind::trap},
    {"variable_write_behind", Kind::out_of_bounds_write},
    {"variable_read_before", Kind::out_of_bounds_read},
    {"constant_read_behind", Kind::out_of_bounds_read},
    {"variable_race", Kind::race},
    {"variable_misaligned", Kind::misaligned},
    {"variable_lock_without_fence", Kind::race},
    {"volatile_reduction", Kind::race},
    {"volatile_flag_without_acquire", Kind::race},
    {"volatile_store_of_all", Kind::race},
    {"lock_without_acquire", Kind::race},
    {"fence_of_the_block", Kind::race},
    {"atomic_of_the_block", Kind::race},
    {"inside_a_called_function", Kind::out_of_bounds_write},
    {"inside_a_header_function", Kind::out_of_bounds_read},
};

class PlantedFault : public testing::TestWithParam<Fault> {
 protected:
  static RunResult run(const std::string& kernel, unsigned shared_bytes, std::uint64_t seed,
                       const char* compiler = "") {
    const Module module =
        Module::build({.sources = {path_of("faults.cu")}, .watch = true, .compiler = compiler});
    std::vector<int> in(128, 3), out(128);
    // Two blocks of two warps. Where the kernel accumulates on purpose, `out` is never its own input.
    const bool zeroed =
        kernel.find("fence") != std::string::npos || kernel.find("atomic") != std::string::npos;
    return module.launch(kernel, {{2, 1, 1}, {64, 1, 1}, shared_bytes},
                         {zeroed ? Argument::in_out("out", out) : Argument::output("out", out),
                          Argument::input("in", in), Argument::value(128)},
                         {.seed = seed, .timeout_seconds = 30});
  }
};

TEST_P(PlantedFault, IsReportedAtItsLine) {
  const Fault& fault = GetParam();
  const std::uint32_t line = fault_line("faults.cu", fault.name);
  ASSERT_NE(line, 0u);
  for (std::uint64_t seed : {0, 5}) {
    const RunResult result = run(std::string(fault.name) + "_bad", fault.shared_bytes, seed);
    const auto found = std::find_if(result.reports.begin(), result.reports.end(), [&](const Report& r) {
      const bool here = r.place.line == line || (fault.kind == Kind::race && r.other.line == line) ||
                        (fault.kind == Kind::barrier_divergence && r.other.line == line);
      return r.kind == fault.kind && here && r.place.file == path_of("faults.cu");
    });
    if (found == result.reports.end()) {
      ADD_FAILURE() << fault.name << " (seed " << seed << ") is not reported at line " << line
                    << "; failure: " << result.failure;
      for (const Report& r : result.reports) ADD_FAILURE() << r.text;
    }
  }
}

TEST_P(PlantedFault, HasACleanTwinThatReportsNothing) {
  for (std::uint64_t seed : {0, 5}) {
    const RunResult result = run(std::string(GetParam().name) + "_ok", GetParam().shared_bytes, seed);
    EXPECT_EQ(result.failure, "");
    EXPECT_EQ(result.error, 0);
    for (const Report& r : result.reports) ADD_FAILURE() << r.text;
    for (const Refusal& r : result.refusals) ADD_FAILURE() << r.text;
  }
}

INSTANTIATE_TEST_SUITE_P(All, PlantedFault, testing::ValuesIn(kFaults),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(PlantedFaults, AnIndexThatWrapsIsNamedAsSuch) {
  const Module module = Module::build({.sources = {path_of("overflow.cu")}, .watch = true});
  const RunResult bad = module.call("run", {Argument::value(0)});
  ASSERT_EQ(bad.reports.size(), 1u) << bad.failure;
  EXPECT_EQ(bad.reports[0].kind, Kind::index_overflow) << bad.reports[0].text;
  EXPECT_EQ(bad.reports[0].place.line, fault_line("overflow.cu", "index_wraps"));
  const RunResult good = module.call("run", {Argument::value(1)});
  EXPECT_TRUE(good.ok()) << good.failure << (good.reports.empty() ? "" : good.reports[0].text);
}

TEST(PlantedFaults, ARaceNamesBothAccesses) {
  const Module module = Module::build({.sources = {path_of("faults.cu")}, .watch = true});
  std::vector<int> in(128, 3), out(128);
  const RunResult r =
      module.launch("race_missing_barrier_bad", {{1, 1, 1}, {64, 1, 1}},
                    {Argument::output("out", out), Argument::input("in", in), Argument::value(128)});
  const auto race =
      std::find_if(r.reports.begin(), r.reports.end(), [](const Report& x) { return x.kind == Kind::race; });
  ASSERT_NE(race, r.reports.end());
  const std::uint32_t read_line = fault_line("faults.cu", "race_missing_barrier");
  EXPECT_EQ(std::min(race->place.line, race->other.line), read_line - 1);
  EXPECT_EQ(std::max(race->place.line, race->other.line), read_line);
  EXPECT_NE(race->thread, race->other_thread);
  EXPECT_EQ(race->buffer, "s");
  EXPECT_NE(race->text.find("with no barrier between"), std::string::npos) << race->text;
}

}  // namespace
}  // namespace isomer::emulator::tests
