// The lab's regular expressions.
#include "lab/text/pattern.hpp"

#include <isomer/error.hpp>

#include <gtest/gtest.h>

namespace isomer::lab {
namespace {

TEST(Pattern, GroupsAreWhatTheyMatchedAndSayWhetherTheyDid) {
  const Pattern size("size\\((\\d)\\)|shape\\[(\\d)\\]");
  EXPECT_EQ(size.groups(), 2u);
  const std::optional<Match> match = size.find("x.shape[3]");
  ASSERT_TRUE(match);
  EXPECT_EQ((*match)[0], "shape[3]");
  EXPECT_EQ((*match)[2], "3");
  EXPECT_FALSE(match->has(1));
  EXPECT_EQ(match->begin(), 2u);
  EXPECT_EQ(match->end(), 10u);
  EXPECT_EQ(match->before(), "x.");
  EXPECT_FALSE(size.whole("x.shape[3]"));
  EXPECT_TRUE(size.is("shape[3]"));
}

TEST(Pattern, AMatchIsTheLeftmostAndItsFirstAlternative) {
  EXPECT_EQ((*Pattern("int|int32").find("an int32"))[0], "int");
  EXPECT_EQ((*Pattern("b+?").find("abbb"))[0], "b");
}

TEST(Pattern, AllMatchesFollowEachOtherAlsoWhereTheyAreEmpty) {
  std::string found;
  for (const Match& match : Pattern("\\b\\w").all("of every word")) found += match[0];
  EXPECT_EQ(found, "oew");
  EXPECT_EQ(Pattern("x*").all("axb").size(), 4u);
  EXPECT_TRUE(Pattern("x").all("").empty());
}

TEST(Pattern, GroupsStandInWhatReplaces) {
  EXPECT_EQ(Pattern("(\\w)=(\\w)").replaced("a=b, c=d", "$2:$1"), "b:a, d:c");
  EXPECT_EQ(Pattern("x").replaced("a$", "$1"), "a$");
}

TEST(Pattern, LettersOfAnyCaseAreAskedFor) {
  EXPECT_FALSE(Pattern("float32").found_in("Float32"));
  EXPECT_TRUE(Pattern("float32", Pattern::Letters::of_any_case).found_in("Float32"));
}

TEST(Pattern, BytesOfNoEncodingAreRead) {
  EXPECT_TRUE(Pattern("^[^a-z]+k$").found_in("\xff\xfe\x80k"));
  EXPECT_TRUE(Pattern("\\bK\\b").found_in("\xe5\x8f\x82K\xe6\x98\xaf"));
}

TEST(Pattern, ALongTextNeedsNoStackAndNoPatience) {
  const std::string text(1 << 20, 'a');
  EXPECT_FALSE(Pattern("(a|aa)*b").found_in(text));
  EXPECT_TRUE(Pattern("(?:a|aa)+").is(text));
}

TEST(Pattern, WhatIsNoExpressionIsSaid) {
  for (const char* wrong : {"(", "a{2,1}", "(a)\\1", "a(?=b)"}) try {
      Pattern pattern{wrong};
      ADD_FAILURE() << wrong;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_argument);
      EXPECT_NE(std::string(error.what()).find("expected a regular expression, got '" + std::string(wrong)),
                std::string::npos)
          << error.what();
    }
}

TEST(Pattern, LiterallyMeansItself) {
  EXPECT_TRUE(Pattern(literally("operator()[0].+")).is("operator()[0].+"));
}

}  // namespace
}  // namespace isomer::lab
