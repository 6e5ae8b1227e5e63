// The forms of the report: each says the same, and each can be read by what it is for.
#include <gtest/gtest.h>

#include "lab/report/candidate_report.hpp"
#include "lab/report/markup.hpp"

#include <nlohmann/json.hpp>

namespace isomer::lab {
namespace {

Finding finding(Code code, const char* argument, const char* evidence) {
  Finding f;
  f.code = code;
  f.argument = argument;
  f.evidence = evidence;
  f.fix = "mend it";
  f.location = {"/somewhere/k.hip.cpp", 7};
  return f;
}

std::vector<Diagnosis> two_candidates() {
  Diagnosis first;
  first.folder = "ports/sin";
  first.candidate = "2_initial_predict.hip.cpp";
  first.op = "sin";
  first.compile = first.call = Stage::passed;
  first.exec = Stage::failed;
  first.calls = 3;
  first.findings = {finding(Code::empty_input, "x", "grid of <0> & \"nothing\""),
                    finding(Code::rounding_mode, "", "rounds\xff")};
  first.findings[1].strength = Strength::proved;
  first.findings[1].variations = {"rounding=nearest", "scale=f32"};
  first.differences = {{"y", {2, 3}, {0, 1, 0, 0, 0, 1}, {0, 0.5, 0, 0, 0, -2}}};
  Diagnosis second = first;
  second.candidate = "candidate_call_fix.hip.cpp";
  second.findings = {finding(Code::empty_input, "x", "still")};
  return {first, second};
}

TEST(CandidateReport, JsonHasTheFieldsThatAreDocumented) {
  const auto json = nlohmann::json::parse(candidates_json(two_candidates()));
  EXPECT_EQ(json["version"], 1);
  ASSERT_EQ(json["candidates"].size(), 2u);
  const auto& one = json["candidates"][0];
  EXPECT_EQ(one["folder"], "ports/sin");
  EXPECT_EQ(one["candidate"], "2_initial_predict.hip.cpp");
  EXPECT_EQ(one["op"], "sin");
  EXPECT_EQ(one["verdict"], "fail");
  EXPECT_EQ(one["stages"]["call"], "passed");
  EXPECT_EQ(one["stages"]["exec"], "failed");
  const auto& f = one["findings"][1];
  EXPECT_EQ(f["code"], "rounding-mode");
  EXPECT_EQ(f["subject"], "candidate");
  EXPECT_EQ(f["strength"], "proved");
  EXPECT_EQ(f["location"]["line"], 7);
  EXPECT_EQ(f["fix"], "mend it");
  EXPECT_EQ(f["variations"]["rounding"], "nearest");
  EXPECT_EQ(f["variations"]["scale"], "f32");
  EXPECT_EQ(json["summary"]["failed"], 2);
  EXPECT_EQ(json["candidates"][1]["against"]["mended"], nlohmann::json({"rounding-mode"}));
  EXPECT_EQ(json["candidates"][1]["against"]["left"], nlohmann::json({"empty-input x"}));
}

TEST(CandidateReport, TableSaysWhatWasMendedAndWhatIsLeft) {
  const std::string text = candidates_table(two_candidates());
  EXPECT_NE(text.find("1. empty-input x"), std::string::npos) << text;
  EXPECT_NE(text.find("fix: mend it  (k.hip.cpp:7)"), std::string::npos) << text;
  EXPECT_NE(text.find("fixed rounding-mode; remaining empty-input x"), std::string::npos) << text;
}

TEST(CandidateReport, PageNeedsNothingElseAndEscapesWhatCandidatesPrint) {
  const std::string html = candidates_html(two_candidates());
  EXPECT_EQ(html.find("http"), std::string::npos);
  EXPECT_EQ(html.find("grid of <0>"), std::string::npos);
  EXPECT_NE(html.find("grid of &lt;0&gt; &amp; &quot;nothing&quot;"), std::string::npos);
  EXPECT_NE(html.find("<svg"), std::string::npos);
  EXPECT_NE(html.find("2 of 6 elements differ"), std::string::npos);
  EXPECT_EQ(html.find('\xff'), std::string::npos);
}

TEST(CandidateReport, JUnitHasACaseForEachCandidate) {
  const std::string xml = candidates_junit(two_candidates());
  EXPECT_NE(xml.find("<testsuites tests=\"2\" failures=\"2\" errors=\"0\">"), std::string::npos) << xml;
  EXPECT_NE(xml.find("<failure message=\"empty-input x, rounding-mode\">"), std::string::npos) << xml;
}

TEST(CandidateReport, MarkdownKeepsItsTableWhateverTheEvidence) {
  std::vector<Diagnosis> said = two_candidates();
  said[0].findings[0].evidence = "a | b\nc";
  EXPECT_NE(candidates_markdown(said).find("a \\| b c"), std::string::npos);
}

TEST(CandidateReport, NothingThatATerminalObeysReachesIt) {
  std::vector<Diagnosis> said = two_candidates();
  said[0].folder = "ports/two\nlines";
  said[0].findings[0].evidence = "#error \xff\x1b[31m red \x07 Größe \xc2\x9b 中";
  said[0].notes = {"a note\x1b]0;title\x07"};
  const std::string text = candidates_table(said);
  EXPECT_NE(text.find("ports/two\\nlines/2_initial_predict.hip.cpp"), std::string::npos) << text;
  EXPECT_NE(text.find("#error \\xff\\x1b[31m red \\x07 Größe \\xc2\\x9b 中"), std::string::npos) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
  EXPECT_EQ(candidates_markdown(said).find('\x1b'), std::string::npos);
  EXPECT_EQ(candidates_html(said).find('\x1b'), std::string::npos);
}

TEST(CandidateReport, JUnitTellsPlaceAndFixOfEveryFinding) {
  const std::string xml = candidates_junit(two_candidates());
  EXPECT_NE(xml.find("\nrounding-mode (proved): rounds"), std::string::npos) << xml;
  EXPECT_NE(xml.find(". Fix: mend it (k.hip.cpp:7)\n"), std::string::npos) << xml;
}

TEST(CandidateReport, AnOutputOfOneColumnIsDrawnByTheDimensionBeforeIt) {
  std::vector<Diagnosis> said = two_candidates();
  said[0].differences = {{"scale", {3, 2, 1}, {0, 1, 0, 0, 0, 1}, {0, 0.5, 0, 0, 0, -2}}};
  const std::string html = candidates_html(said);
  EXPECT_NE(html.find("viewBox=\"0 0 40 60\""), std::string::npos);  // two across, three down
  EXPECT_NE(html.find("rows: all but the last 2 dimensions"), std::string::npos);
}

}  // namespace
}  // namespace isomer::lab
