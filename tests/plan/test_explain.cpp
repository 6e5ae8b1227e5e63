// A plan needs shapes, strides, dtypes and addresses, no data: none is made for it.
#include "core/registry.hpp"
#include "gpu/vendors.hpp"
#include "lab/plan/explain.hpp"
#include "lab/plan/programs.hpp"
#include "lab/report/plan_report.hpp"
#include "oracle/oracle.hpp"

#include <isomer/error.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace isomer {
namespace {

/// Pages of this process that lie in memory.
std::int64_t resident_bytes() {
  std::int64_t size = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

lab::CaseExplanation explained(const std::string& line, const std::string& backend = "cpu") {
  lab::ExplainSelection selection;
  selection.line = line;
  selection.backend = backend;
  return lab::explain(selection);
}

std::string text_of(const Explanation& plan) { return lab::explain_json({"", "", "", plan}); }

std::size_t bytes_of(const oracle::Problem& problem) {
  std::size_t bytes = 0;
  for (const oracle::Problem::Buffer& buffer : problem.buffers()) bytes += buffer.bytes;
  return bytes;
}

/// Each third of the cases that are quick to fill meets every choice of every op.
TEST(Explain, SaysTheSameWithoutDataAsWithIt) {
  constexpr std::size_t kQuickToFill = 200'000;
  for (const oracle::Oracle& oracle : oracle::oracles()) {
    const std::vector<oracle::Case> cases = oracle.cases();
    int compared = 0;
    for (std::size_t i = 0; i < cases.size(); i += 3) {
      const oracle::Case c = cases[i].with_seed(i + 1);
      oracle::Problem reserved(c, oracle::Contents::none);
      oracle.make(c, reserved);
      if (bytes_of(reserved) > kQuickToFill) continue;
      oracle::Problem filled(c);
      oracle.make(c, filled);
      const Explanation with_data = core::explain(Queue::cpu(), filled.call());
      const Explanation without = explained(c.line()).plan;
      ASSERT_FALSE(without.implementation.empty()) << c.line();
      ASSERT_EQ(text_of(without), text_of(with_data)) << c.line();
      ++compared;
    }
    EXPECT_GT(compared, 3) << oracle.contract->op;
  }
}

TEST(Explain, PlansEveryCaseForEveryArchitectureWithoutData) {
  lab::ProgramSelection selection;
  for (const std::string& architecture : gpu::known_architectures())
    selection.backends.push_back(lab::parse_architecture("test", architecture));
  ASSERT_FALSE(selection.backends.empty());
  EXPECT_GT(lab::programs_of(selection).planned, 1000);
}

TEST(Programs, OfASampleAreSpreadOverEveryKernel) {
  lab::ProgramSelection selection;
  selection.backends.push_back(lab::parse_architecture("test", "sm_90a"));
  const auto by_kernel = [&] {
    std::map<std::string, std::vector<std::string>> kernels;
    for (const lab::Wanted& wanted : lab::programs_of(selection).wanted)
      kernels[wanted.program.source + " " + wanted.program.kernel].push_back(wanted.program.text());
    return kernels;
  };
  const auto all = by_kernel();
  selection.sample = 3;
  const auto few = by_kernel();
  ASSERT_EQ(few.size(), all.size());
  bool thinned = false;
  for (const auto& [kernel, programs] : all) {
    EXPECT_EQ(few.at(kernel).size(), std::min<std::size_t>(programs.size(), 3)) << kernel;
    EXPECT_EQ(few.at(kernel).front(), programs.front()) << kernel;
    thinned = thinned || programs.size() > 6;
  }
  EXPECT_TRUE(thinned);
}

TEST(Explain, TouchesNoMemoryOfACaseBeyondTheMachine) {
  const char* lines[] = {
      "attention b=64 sq=262144 hq=16 d=128 bf16 causal",
      "attention b=64 sq=1 sk=1000000 hq=16 d=128 bf16 page=1",
      "attention b=64 sq=4 sk=1000000 hq=16 d=128 bf16 append=4 rotary=interleaved",
      "flash_decode b=64 len=400000 hq=32 hkv=8 d=128",
      "flash_decode_stage1 b=64 len=400000 hq=32 hkv=8 d=128",
      "flash_decode_stage2 b=4096 h=128 nb=256 d=512",
      "merge_attention b=64 s=100000 h=32 d=128",
      "fp8_gemm m=10000000 n=7168 k=7168",
      "grouped_fp8_gemm g=256 r=100000 n=7168 k=2048",
      "fp8_linear m=10000000 n=7168 k=7168",
      "expert_layer g=256 r=100000 k=7168 i=2048 n=7168",
      "act_quant m=20000000 k=7168",
      "act_quant m=20000000 k=7168 regime=powers",
      "weight_dequant m=10000000 n=7168 regime=patterns",
      "weight_quant m=10000000 n=7168",
      "quantize_copy_kv s=50000000 n=60000000 h=8 d=128",
      "silu_mul_quant m=20000000 k=7168",
      "sin n=40000000000",
  };
  std::vector<std::string> ops;
  for (const char* line : lines)
    for (const char* backend : {"cpu", "cuda:sm_90a", "hip:gfx90a"}) {
      explained(std::string(oracle::op_of(line)), backend);
      const std::int64_t before = resident_bytes();
      const lab::CaseExplanation found = explained(line, backend);
      EXPECT_FALSE(found.plan.implementation.empty()) << line << " on " << backend;
      EXPECT_LT(resident_bytes() - before, 4 << 20) << line << " on " << backend;
      ops.emplace_back(oracle::op_of(line));
    }
  for (const core::Registry::Op& op : core::Registry::builtin().ops())
    EXPECT_NE(std::find(ops.begin(), ops.end(), op.contract->op), ops.end()) << op.contract->op;
}

/// FlashAttention-3's choice under that name.
std::string of_fa3(const std::string& line, const std::string& name) {
  const lab::Beside beside =
      lab::explain({.line = line, .backend = "cuda:sm_90a", .implementation = "", .like = "fa3"}).beside;
  for (const lab::Beside::Row& row : beside.rows)
    if (row.name == name) return row.theirs;
  return beside.reason;
}

TEST(Explain, SaysWhatFlashAttention3WouldChoose) {
  const std::string plain = "attention b=4 sq=4096 hq=16 d=128 bf16";
  EXPECT_EQ(of_fa3(plain, "block_n"), "176");
  EXPECT_EQ(of_fa3(plain, "scheduler"), "static_persistent");
  EXPECT_EQ(of_fa3(plain, "cluster"), "2");
  EXPECT_EQ(of_fa3(plain + " causal", "block_n"), "128");
  EXPECT_EQ(of_fa3(plain + " causal", "scheduler"), "dynamic_persistent_longest_first");
  EXPECT_EQ(of_fa3(plain + " causal", "num_splits"), "1");
  EXPECT_EQ(of_fa3("attention b=2 sq=4096 hq=16 d=64 f16", "block_m"), "192");
  // One query of eight heads: 16 tiles, of which each wants 8 parts to fill 128 of 132 multiprocessors.
  const std::string decode = "attention b=2 sq=1 sk=16384 hq=64 hkv=8 d=128 bf16";
  EXPECT_EQ(of_fa3(decode, "num_splits"), "8");
  EXPECT_EQ(of_fa3(decode, "pack_gqa"), "1");
  EXPECT_EQ(of_fa3(decode, "scheduler"), "single_tile");
  EXPECT_EQ(of_fa3(decode + " num_splits=3", "num_splits"), "3");
  EXPECT_EQ(of_fa3("attention b=2 sq=512 hq=8 hkv=2 d=128 bf16 page=16", "pack_gqa"), "1");
  EXPECT_EQ(of_fa3("attention b=2 sq=8 hq=2 d=64 f32", "block_m"), "it takes f16, bf16 and e4m3fn, q is f32");
}

TEST(Explain, ComparesWithNobodyWhereThatMeansNothing) {
  const auto refusal = [](const char* line, const char* backend, const char* like) -> std::string {
    try {
      lab::explain({.line = line, .backend = backend, .implementation = "", .like = like});
    } catch (const Error& error) {
      return error.what();
    }
    return "taken";
  };
  EXPECT_EQ(refusal("attention sq=8", "cuda:sm_90a", "fa3"), "taken");
  EXPECT_EQ(refusal("attention sq=8", "cuda:sm_90a", "fa9"), "explain: --like expects fa3, got 'fa9'");
  EXPECT_EQ(refusal("sin n=8", "cuda:sm_90a", "fa3"),
            "explain: --like fa3 expects a case of attention, got one of sin");
  EXPECT_EQ(
      refusal("attention sq=8", "cpu", "fa3"),
      "explain: --like fa3 expects a GPU, which FlashAttention-3 runs on, such as --backend cuda:sm_90a, "
      "got 'cpu'");
}

TEST(Explain, RefusesACaseThatItsContractRefuses) {
  for (const char* line : {"attention hq=5 hkv=2", "attention b=-1", "grouped_fp8_gemm r=-1", "sin n=-5"})
    EXPECT_THROW(explained(line), Error) << line;
}

/// What an op's make() would write or read is not there: its pages allow neither.
TEST(Explain, ReservesTensorsThatNobodyMayTouch) {
  for (const oracle::Oracle& oracle : oracle::oracles()) {
    const oracle::Case c = oracle.cases().front().with_seed(1);
    oracle::Problem problem(c, oracle::Contents::none);
    oracle.make(c, problem);
    ASSERT_FALSE(problem.buffers().empty()) << c.line();
    for (const oracle::Problem::Buffer& buffer : problem.buffers()) {
      // A system call is told that it cannot read there, where a load would end the process.
      int ends[2];
      ASSERT_EQ(::pipe(ends), 0);
      EXPECT_EQ(::write(ends[1], buffer.tensor.data, 1), -1) << c.line() << ": " << buffer.name;
      EXPECT_EQ(errno, EFAULT) << c.line() << ": " << buffer.name;
      ::close(ends[0]);
      ::close(ends[1]);
    }
  }
}

}  // namespace
}  // namespace isomer
