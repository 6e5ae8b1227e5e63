// Every port of ISOMER_PORTED says in its first two lines what it is of and what must be found; nothing less
// may be found, and nothing more.
#pragma once

#include <gtest/gtest.h>

#include "lab/judge/diagnose.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace isomer::lab {

namespace fs = std::filesystem;

inline std::vector<fs::path> ported() {
  std::vector<fs::path> list;
  for (const fs::directory_entry& entry : fs::directory_iterator(ISOMER_PORTED)) list.push_back(entry.path());
  std::sort(list.begin(), list.end());
  return list;
}

struct Stated {
  std::string op;
  std::set<std::string> codes;
};

/// "// op: sin" and "// finds: rounding-mode, clamp" or "// finds: nothing". A convention is no fault.
inline Stated stated_by(const fs::path& file) {
  std::ifstream stream(file);
  std::string op, finds;
  std::getline(stream, op);
  std::getline(stream, finds);
  const std::string before_op = "// op: ", before_codes = "// finds: ";
  EXPECT_EQ(op.find(before_op), 0u) << file;
  EXPECT_EQ(finds.find(before_codes), 0u) << file;
  Stated stated{op.substr(before_op.size()), {}};
  std::istringstream codes(finds.substr(before_codes.size()));
  for (std::string code; codes >> code;) {
    std::erase(code, ',');
    if (code != "nothing") stated.codes.insert(code);
  }
  for (const std::string& code : stated.codes) EXPECT_TRUE(code_named(code)) << code;
  return stated;
}

class EveryPort : public testing::TestWithParam<fs::path> {};

TEST_P(EveryPort, IsSaidToHaveItsFaultsAndNoOthers) {
  setenv("ISOMER_CACHE", ISOMER_CANDIDATE_CACHE, 1);
  const Stated stated = stated_by(GetParam());
  CaseFolder folder;
  folder.folder = GetParam().parent_path();
  folder.candidates = {GetParam()};
  folder.op = stated.op;
  const std::vector<Diagnosis> said = diagnose_folder(folder);
  ASSERT_EQ(said.size(), 1u);
  std::set<std::string> found;
  std::string text = said[0].error;
  for (const Finding& finding : said[0].findings) {
    text += "\n" + said_against(finding) + ": " + finding.evidence;
    if (finding.strength != Strength::unobservable) found.insert(name_of(finding.code));
  }
  EXPECT_EQ(found, stated.codes) << text;
  const std::size_t faults = stated.codes.size() - stated.codes.count("convention");
  EXPECT_EQ(said[0].verdict(), faults == 0 ? "pass" : "fail") << text;
}

inline std::string name_of_port(const testing::TestParamInfo<fs::path>& info) {
  const std::string name = info.param.filename().string();
  return name.substr(0, name.find('.'));
}

}  // namespace isomer::lab
