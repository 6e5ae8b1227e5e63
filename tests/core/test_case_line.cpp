// A case is one line that can be pasted back: what it prints parses to the same case, and what does not parse
// is refused with one sentence that says which token is wrong and what would be right.
#include <gtest/gtest.h>

#include "oracle/case.hpp"
#include "oracle/oracle.hpp"
#include "oracle/values.hpp"

#include <cmath>
#include <set>

namespace isomer::oracle {
namespace {

/// One field of every kind.
const CaseSchema& schema() {
  static const CaseSchema schema(
      "probe", {integer("n", 8, "elements"), real("scale", 1.0, "factor"), flag("inplace", "y is x"),
                dtype("dtype", {DType::f32, DType::f16}, DType::f32, "element type", true),
                dtype("out", {DType::f32, DType::bf16}, DType::f32, "result type"),
                choice("layout", {"contiguous", "padded"}, "how it lies", true),
                choice("regime", {"normal", "zero", "nan"}, "values")});
  return schema;
}

std::string sentence(std::string_view line) {
  try {
    const Case parsed = Case::parse(schema(), line);
    return "parsed as " + parsed.line();
  } catch (const Error& error) {
    return error.code() == ErrorCode::bad_argument ? error.what() : "another code";
  }
}

TEST(CaseLine, PrintsTheOpAndOnlyWhatDiffersFromTheFallback) {
  EXPECT_EQ(Case(schema()).line(), "probe");
  EXPECT_EQ(Case(schema()).set("n", 8).set("dtype", "f32").line(), "probe");
  EXPECT_EQ(Case(schema())
                .set("n", 9)
                .set("inplace", "1")
                .set("dtype", "f16")
                .set("regime", "nan")
                .with_seed(7)
                .line(),
            "probe n=9 inplace f16 regime=nan seed=7");
  EXPECT_EQ(Case(schema()).set("layout", "padded").set("out", "bf16").set("scale", "0.25").line(),
            "probe scale=0.25 out=bf16 padded");
}

TEST(CaseLine, GivesEveryFieldItsValue) {
  const Case c = Case::parse(
      schema(), " n=-3\tscale=1e-3 inplace f16 out=bf16 padded regime=zero seed=18446744073709551615 ");
  EXPECT_EQ(c.integer("n"), -3);
  EXPECT_EQ(c.real("scale"), 1e-3);
  EXPECT_TRUE(c.flag("inplace"));
  EXPECT_EQ(c.dtype("dtype"), DType::f16);
  EXPECT_EQ(c.dtype("out"), DType::bf16);
  EXPECT_EQ(c.choice("layout"), "padded");
  EXPECT_EQ(c.choice("regime"), "zero");
  EXPECT_EQ(c.seed(), UINT64_MAX);
}

TEST(CaseLine, GivesFallbacksWhereTheLineIsSilent) {
  const Case c = Case::parse(schema(), "");
  EXPECT_EQ(c.integer("n"), 8);
  EXPECT_EQ(c.real("scale"), 1.0);
  EXPECT_FALSE(c.flag("inplace"));
  EXPECT_EQ(c.dtype("dtype"), DType::f32);
  EXPECT_EQ(c.choice("regime"), "normal");
  EXPECT_EQ(c.seed(), 0u);
}

TEST(CaseLine, HasOneSpellingHoweverItWasWritten) {
  const Case c = Case::parse(schema(), "n=12 scale=2 f16");
  for (const char* line :
       {"f16 scale=2.0 n=12", "n=0012 scale=0.2e1 dtype=f16", "n=12 scale=2 f16 inplace=0 seed=0",
        "n=12 scale=2 f16 seed=000 layout=contiguous"}) {
    EXPECT_EQ(Case::parse(schema(), line), c) << line;
    EXPECT_EQ(Case::parse(schema(), line).line(), c.line()) << line;
  }
}

TEST(CaseLine, OfAnyCombinationParsesToTheSameCase) {
  Random random(20240607);
  for (int i = 0; i < 2000; ++i) {
    Case c(schema());
    if (random.below(2))
      c.set("n", random.below(4) ? random.below(1 << 20) : static_cast<std::int64_t>(random.bits()));
    if (random.below(2))
      c.set("scale", real("", random.normal() * std::exp2(random.below(200) - 100.0), "").fallback);
    if (random.below(2)) c.set("inplace", "1");
    for (const char* name : {"dtype", "out", "layout", "regime"}) {
      const Field& field = schema().fields[static_cast<std::size_t>(schema().index_of(name))];
      c.set(name, field.choices[static_cast<std::size_t>(
                      random.below(static_cast<std::int64_t>(field.choices.size())))]);
    }
    if (random.below(2)) c = c.with_seed(random.bits());
    const std::string line = c.line();
    EXPECT_EQ(Case::parse(schema(), std::string_view(line).substr(5)), c) << line;
  }
}

TEST(CaseLine, OfEveryOrdinaryCaseOfEveryOpParsesToTheSameCaseAndStandsOnce) {
  for (const Oracle& oracle : oracles()) {
    std::set<std::string> lines;
    for (const Case& c : oracle.cases()) {
      EXPECT_EQ(parse_case(c.line()), c) << c.line();
      EXPECT_EQ(parse_case(c.with_seed(UINT64_MAX).line()).seed(), UINT64_MAX) << c.line();
      EXPECT_TRUE(lines.insert(c.line()).second) << c.line() << " is in the list twice";
    }
  }
}

struct Malformed {
  const char* line;
  const char* sentence;
};

constexpr char kKnown[] =
    "known: n=, scale=, inplace, f32 or f16, out=, contiguous or padded, regime=, seed=";

void PrintTo(const Malformed& malformed, std::ostream* out) { *out << '\'' << malformed.line << '\''; }

class MalformedLine : public testing::TestWithParam<Malformed> {};

TEST_P(MalformedLine, IsRefusedWithASentence) { EXPECT_EQ(sentence(GetParam().line), GetParam().sentence); }

std::string unknown(const char* name) {
  return std::string("probe: a case has no '") + name + "'; " + kKnown;
}

const std::string kUnknownName = unknown("m"), kUnknownWord = unknown("f64"), kUnknownEmpty = unknown(""),
                  kUnknownOp = unknown("probe"), kUnknownCase = unknown("N"),
                  kUnknownDash = unknown("--json");

INSTANTIATE_TEST_SUITE_P(
    Of, MalformedLine,
    testing::Values(
        Malformed{"m=3", kUnknownName.c_str()}, Malformed{"f64", kUnknownWord.c_str()},
        Malformed{"=3", kUnknownEmpty.c_str()}, Malformed{"probe n=3", kUnknownOp.c_str()},
        Malformed{"N=3", kUnknownCase.c_str()}, Malformed{"--json", kUnknownDash.c_str()},
        Malformed{"n", "probe: n expects a value, as in n=8"},
        Malformed{"n=", "probe: n expects an integer, got ''"},
        Malformed{"n=4x", "probe: n expects an integer, got '4x'"},
        Malformed{"n=4.5", "probe: n expects an integer, got '4.5'"},
        Malformed{"n=+4", "probe: n expects an integer, got '+4'"},
        Malformed{"n==4", "probe: n expects an integer, got '=4'"},
        Malformed{"n=9223372036854775808", "probe: n expects an integer, got '9223372036854775808'"},
        Malformed{"n=4 n=4", "probe: n is given twice"},
        Malformed{"f16 dtype=f16", "probe: dtype is given twice"},
        Malformed{"f16 f32", "probe: dtype is given twice"},
        Malformed{"inplace inplace", "probe: inplace is given twice"},
        Malformed{"scale", "probe: scale expects a value, as in scale=1"},
        Malformed{"scale=big", "probe: scale expects a finite number, got 'big'"},
        Malformed{"scale=inf", "probe: scale expects a finite number, got 'inf'"},
        Malformed{"scale=nan", "probe: scale expects a finite number, got 'nan'"},
        Malformed{"scale=1e999", "probe: scale expects a finite number, got '1e999'"},
        Malformed{"scale=1,5", "probe: scale expects a finite number, got '1,5'"},
        Malformed{"inplace=yes", "probe: inplace expects 0 or 1, got 'yes'"},
        Malformed{"dtype=bf16", "probe: dtype expects f32 or f16, got 'bf16'"},
        Malformed{"dtype=", "probe: dtype expects f32 or f16, got ''"},
        Malformed{"out", "probe: out expects a value, as in out=f32"},
        Malformed{"out=f16", "probe: out expects f32 or bf16, got 'f16'"},
        Malformed{"layout=Padded", "probe: layout expects contiguous or padded, got 'Padded'"},
        Malformed{"regime=huge", "probe: regime expects normal, zero or nan, got 'huge'"},
        Malformed{"seed=-1", "probe: seed expects an integer from 0 to 2^64 - 1, got '-1'"},
        Malformed{"seed=18446744073709551616",
                  "probe: seed expects an integer from 0 to 2^64 - 1, got '18446744073709551616'"},
        Malformed{"seed", "probe: seed expects a value, as in seed=0"}));

TEST(CaseLine, OfAnUnknownOpNamesTheOpsThereAre) {
  for (const char* line : {"", "   ", "sine n=3", "n=3 sin", "SIN"}) {
    try {
      parse_case(line);
      ADD_FAILURE() << line;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_argument);
      EXPECT_NE(std::string(error.what()).find("case: expected an op first (sin, "), std::string::npos)
          << error.what();
      EXPECT_NE(std::string(error.what()).find("got '" + std::string(op_of(line)) + "'"), std::string::npos)
          << error.what();
    }
  }
}

TEST(CaseLine, OfAnyBytesParsesOrIsRefused) {
  Random random(7);
  constexpr std::string_view kAlphabet = "n=seed scalef16pad\t\n-.0123456789=e\0\xFFzinplace";
  for (int i = 0; i < 20000; ++i) {
    std::string line;
    for (std::int64_t j = random.below(24); j > 0; --j)
      line += kAlphabet[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(kAlphabet.size())))];
    const std::string answer = sentence(line);
    EXPECT_TRUE(answer.starts_with("probe: ") || answer.starts_with("parsed as probe")) << answer;
  }
}

}  // namespace
}  // namespace isomer::oracle
