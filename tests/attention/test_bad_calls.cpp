// Every rule of the contract, broken once: one sentence, and not a byte changed.
#include <gtest/gtest.h>

#include "bad_calls.hpp"
#include "oracle/oracle.hpp"

#include <cstring>
#include <iostream>

namespace isomer {
namespace {

std::vector<BadCall> all_bad_calls() {
  std::vector<BadCall> list = calls_of_bad_form();
  list.insert(list.end(), calls_of_bad_content().begin(), calls_of_bad_content().end());
  return list;
}

/// Every byte that a problem owns.
std::vector<std::byte> memory_of(const oracle::Problem& problem) {
  std::vector<std::byte> bytes;
  for (const oracle::Problem::Buffer& buffer : problem.buffers())
    bytes.insert(bytes.end(), buffer.base, buffer.base + buffer.bytes);
  return bytes;
}

class BadCalls : public testing::TestWithParam<BadCall> {};

TEST_P(BadCalls, AreRefusedInOneSentenceAndChangeNothing) {
  const BadCall& bad = GetParam();
  const oracle::Case c = oracle::parse_case(std::string("attention ") + bad.line + " seed=5");
  oracle::Problem problem(c);
  oracle::find_oracle("attention")->make(c, problem);
  auto& args = problem.args<AttentionArgs>();
  auto& options = problem.options<AttentionOptions>();
  bad.spoil(args, options);
  const std::vector<std::byte> before = memory_of(problem);
  try {
    attention(Queue::cpu(), args, options);
    FAIL() << "accepted: " << c.line();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), bad.sentence);
    EXPECT_EQ(error.code(), ErrorCode::bad_argument);
  }
  EXPECT_TRUE(memory_of(problem) == before);
}

INSTANTIATE_TEST_SUITE_P(Attention, BadCalls, testing::ValuesIn(all_bad_calls()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(BadCallTable, PrintsHowManyBadCallsThereAre) {
  std::cout << "attention: " << all_bad_calls().size() << " bad calls\n";
  EXPECT_GE(all_bad_calls().size(), 100u);
}

}  // namespace
}  // namespace isomer
