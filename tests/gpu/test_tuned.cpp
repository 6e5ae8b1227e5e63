// Tables of measured choices: what is written is read again, and what is no table is one sentence.
#include "gpu/tuned.hpp"

#include <isomer/error.hpp>

#include <gtest/gtest.h>

#include <string>

namespace isomer::gpu {
namespace {

TunedRow row(const std::string& shape, const std::string& takes) {
  return {.key = {"NVIDIA \"H\"", "fp8_gemm", "sm90", "c=bf16", shape},
          .takes = takes,
          .nanoseconds = {{"64x64", 1200}, {"64x128 split 2", 1100}}};
}

std::string refusal(const std::string& text) {
  try {
    TunedTable::parse(text, "the table");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_argument);
    return error.what();
  }
  return "accepted";
}

TEST(TunedTable, ComesBackFromItsText) {
  TunedTable table;
  table.put(row("m=1", "64x64"));
  table.put(row("m=2", "64x128 split 2"));
  const TunedTable again = TunedTable::parse(table.json(), "the table");
  ASSERT_EQ(again.rows().size(), 2u);
  const TunedRow* found = again.find(row("m=2", "").key);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->takes, "64x128 split 2");
  EXPECT_EQ(found->nanoseconds, row("", "").nanoseconds);
  EXPECT_DOUBLE_EQ(tuned_seconds(found, "64x64"), 1.2e-6);
  EXPECT_EQ(tuned_seconds(found, "64x192"), -1);
  EXPECT_EQ(tuned_seconds(nullptr, "64x64"), -1);
  EXPECT_EQ(TunedTable::parse(TunedTable().json(), "the table").rows().size(), 0u);
}

TEST(TunedTable, EveryPartOfTheKeyCounts) {
  TunedTable table;
  table.put(row("m=1", "64x64"));
  for (std::string TunedKey::*part :
       {&TunedKey::device, &TunedKey::op, &TunedKey::implementation, &TunedKey::dtypes, &TunedKey::shape}) {
    TunedKey other = row("m=1", "").key;
    other.*part += "x";
    EXPECT_EQ(table.find(other), nullptr);
  }
}

TEST(TunedTable, ALaterRowTakesThePlaceOfTheOneBefore) {
  TunedTable table;
  table.put(row("m=1", "64x64"));
  table.put(row("m=1", "64x128 split 2"));
  ASSERT_EQ(table.rows().size(), 1u);
  EXPECT_EQ(table.rows()[0].takes, "64x128 split 2");
}

TEST(TunedTable, WhatIsNoTableIsOneSentence) {
  const std::string head = R"({"isomer_tuned":1,"rows":[{"device":"d","op":"o","implementation":"i",)";
  const struct {
    std::string text, says;
  } table[] = {
      {"", "the table is not valid at byte 0: expected '{'"},
      {"{}", "the table is not valid: \"isomer_tuned\": 1 expected, got none"},
      {R"({"isomer_tuned":2,"rows":[]})", "the table is not valid: \"isomer_tuned\": 1 expected, got 2"},
      {R"({"isomer_tuned":1,"rows":[],"more":1})", "the field \"more\", expected isomer_tuned and rows"},
      {R"({"isomer_tuned":1,"rows":[{}]})",
       "a row lacks one of device, op, implementation, dtypes, shape, takes"},
      {head + R"("tile":"64x64"}]})", "a row has the field \"tile\", expected device, op,"},
      {head + R"("dtypes":"t","shape":"s","takes":"a","nanoseconds":{"a":0}}]})",
       "a positive number of nanoseconds"},
      {head + R"("dtypes":"t","shape":"s","takes":"a","nanoseconds":{"a":1.5}}]})", "is not valid at byte"},
  };
  for (const auto& [text, says] : table)
    EXPECT_NE(refusal(text).find(says), std::string::npos) << refusal(text);
}

TEST(TunedTable, AFileThatIsNotThereIsOneSentence) {
  try {
    TunedTable::read("/nowhere/at/all", "the table");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io);
    EXPECT_STREQ(error.what(), "the table cannot be read");
  }
}

TEST(TunedChoice, IsOneOfTheCandidatesOrASentence) {
  EXPECT_EQ(tuned_choice(row("m=1", "b"), {"a", "b"}), 1u);
  try {
    tuned_choice(row("m=1", "7x7"), {"a", "b"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "ISOMER_TUNED: the row of fp8_gemm m=1 on NVIDIA \"H\" takes '7x7', expected one of a or b");
  }
}

}  // namespace
}  // namespace isomer::gpu
