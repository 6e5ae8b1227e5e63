// The Hopper kernels on the emulated device: the same sources as on the GPU, every access watched.
#include "lab/check/suite.hpp"

#include <gtest/gtest.h>

#include "vendor/vendor.hpp"

#include <cstdlib>

namespace isomer {
namespace {

struct Sm90 {
  const char* op;
  int sample;  ///< of the list's cases; all of them take more than two minutes of a processor
  int least;   ///< cases of these that it takes
};
void PrintTo(const Sm90& of, std::ostream* out) { *out << of.op; }

class Sm90OnTheEmulator : public testing::TestWithParam<Sm90> {};

TEST_P(Sm90OnTheEmulator, GivesTheReferencesResultsAndBreaksNoRule) {
  setenv("ISOMER_CACHE", ISOMER_EMULATED_CACHE, 1);
  emulator::register_vendor();
  lab::Selection selection;
  selection.ops = {GetParam().op};
  selection.implementations = {"emulated/sm90"};
  selection.backends = {"emulated"};
  selection.seed = 1;
  selection.sample = GetParam().sample;
  const lab::Suite suite = lab::check(selection);
  EXPECT_GE(suite.count(lab::Status::passed), GetParam().least);
  for (const lab::Outcome& outcome : suite.outcomes)
    if (outcome.status == lab::Status::failed) ADD_FAILURE() << outcome.line << ": " << outcome.reason;
}

INSTANTIATE_TEST_SUITE_P(Of, Sm90OnTheEmulator,
                         testing::Values(Sm90{"attention", 520, 200}, Sm90{"fp8_gemm", 120, 60},
                                         Sm90{"grouped_fp8_gemm", 100, 60}),
                         [](const auto& info) { return std::string(info.param.op); });

}  // namespace
}  // namespace isomer
