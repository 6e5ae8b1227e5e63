// Case folders are found by their names or by case.toml; what is none is one sentence.
#include "lab/candidate/folder.hpp"
#include "written.hpp"

#include <isomer/error.hpp>

#include <sys/stat.h>

namespace isomer::lab::tests {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_of(const std::vector<fs::path>& paths) {
  std::vector<std::string> names;
  for (const fs::path& p : paths) names.push_back(p.filename().string());
  return names;
}

std::string refusal_of(const fs::path& path) {
  try {
    find_cases(path);
  } catch (const Error& e) {
    return e.what();
  }
  ADD_FAILURE() << "found cases in " << path;
  return {};
}

fs::path case_folder(const fs::path& folder) {
  fs::create_directories(folder);
  for (const char* name :
       {"0_instruction.txt", "1_label_source.py", "2_initial_predict.hip.cpp", "3_test_code.py",
        "candidate_exec.hip.cpp", "candidate_call_fix.hip.cpp", "candidate.cu", "candidate_notes.txt",
        "reflection_strategy.md", "recording.safetensors"})
    write_file(folder / name, "x");
  return folder;
}

TEST(CandidateFolders, ACaseFolderIsReadByItsNames) {
  const fs::path folder = case_folder(fresh_folder());
  const auto cases = find_cases(folder);
  ASSERT_EQ(cases.size(), 1u);
  EXPECT_EQ(names_of(cases[0].candidates),
            (std::vector<std::string>{"2_initial_predict.hip.cpp", "candidate_call_fix.hip.cpp",
                                      "candidate_exec.hip.cpp", "candidate.cu"}));
  EXPECT_EQ(cases[0].instruction, folder / "0_instruction.txt");
  EXPECT_EQ(cases[0].label, folder / "1_label_source.py");
  EXPECT_EQ(cases[0].test, folder / "3_test_code.py");
  EXPECT_EQ(cases[0].recording, folder / "recording.safetensors");
  EXPECT_EQ(cases[0].error, "");
}

TEST(CandidateFolders, WhatCaseTomlSaysWins) {
  const fs::path folder = case_folder(fresh_folder());
  write_file(folder / "mine.cu", "x");
  write_file(folder / "case.toml",
             "op = \"sin\"\nentry = \"call_kernel\"\ncandidate = [\"mine.cu\", \"candidate.cu\"]\ntolerance "
             "= { rtol = 1e-3, atol = 2 }\nreference = \"3_test_code.py\"\ndefinitions = [\"N=4\"]\n");
  const auto cases = find_cases(folder);
  ASSERT_EQ(cases.size(), 1u);
  EXPECT_EQ(cases[0].op, "sin");
  EXPECT_EQ(cases[0].entry, "call_kernel");
  EXPECT_EQ(names_of(cases[0].candidates), (std::vector<std::string>{"mine.cu", "candidate.cu"}));
  EXPECT_EQ(cases[0].rtol, 1e-3);
  EXPECT_EQ(cases[0].atol, 2);
  EXPECT_EQ(cases[0].label, folder / "3_test_code.py");
  EXPECT_EQ(cases[0].definitions, std::vector<std::string>{"N=4"});
}

TEST(CandidateFolders, ABadCaseTomlIsOneSentenceWithItsLine) {
  const std::vector<std::pair<std::string, std::string>> files = {
      {"op = ", "not valid TOML"},
      {"op = \"sin\"\nentry = \"f\nrtol = 1\n", "case.toml:2: not valid TOML: Error while parsing string"},
      {"op = \"\"\n", ":1: op is empty"},
      {"op = \"sin\"\nspeed = 3\n", ":2: unknown key speed"},
      {"op = 3\n", ":1: op is not a text"},
      {"candidate = \"absent.cu\"\n", ":1: candidate names absent.cu, which does not exist"},
      {"candidate = []\n", ":1: candidate names nothing"},
      {"tolerance = -1\n", ":1: tolerance is not a number"},
      {"rtol = nan\n", ":1: rtol is not a number"},
      {"tolerance = { ulp = 3 }\n", "unknown key tolerance.ulp"},
      {std::string("\0\xff\xfe", 3), "not valid TOML"}};
  for (const auto& [text, sentence] : files) {
    const fs::path folder = case_folder(fresh_folder());
    write_file(folder / "case.toml", text);
    const std::string said = refusal_of(folder);
    EXPECT_NE(said.find(sentence), std::string::npos) << said;
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
  }
}

TEST(CandidateFolders, AFileIsACaseAndBringsTheRestOfItsFolder) {
  const fs::path folder = case_folder(fresh_folder());
  const auto cases = find_cases(folder / "candidate.cu");
  ASSERT_EQ(cases.size(), 1u);
  EXPECT_EQ(names_of(cases[0].candidates), std::vector<std::string>{"candidate.cu"});
  EXPECT_EQ(cases[0].test, folder / "3_test_code.py");
  const fs::path alone = write_file(fresh_folder() / "kernel.hip.cpp", "x");
  EXPECT_EQ(find_cases(alone).at(0).test, "");
  EXPECT_NE(refusal_of(folder / "0_instruction.txt").find("no candidate, expected a .hip.cpp"),
            std::string::npos);
}

TEST(CandidateFolders, AFolderOfFoldersGoesOnPastTheBrokenOnes) {
  const fs::path root = fresh_folder();
  case_folder(root / "b");
  case_folder(root / "deep/er/a");
  fs::create_directories(root / "empty");
  fs::create_directories(root / ".hidden");
  write_file(root / ".hidden/candidate.cu", "x");
  fs::create_directories(root / "lonely");
  write_file(root / "lonely/3_test_code.py", "x");
  fs::create_directories(root / "wrong");
  write_file(root / "wrong/case.toml", "op = 1\n");
  fs::create_directory_symlink(root, root / "deep/back");
  fs::create_directory_symlink(root / "nowhere", root / "dangling");
  const auto cases = find_cases(root);
  ASSERT_EQ(cases.size(), 4u);
  EXPECT_EQ(cases[0].folder, root / "b");
  EXPECT_EQ(cases[1].folder, root / "deep/er/a");
  EXPECT_NE(cases[2].error.find("lonely: no candidate in this folder"), std::string::npos) << cases[2].error;
  EXPECT_NE(cases[3].error.find("case.toml:1: op is not a text"), std::string::npos) << cases[3].error;
}

TEST(CandidateFolders, WhatHoldsNoCaseIsOneSentence) {
  const fs::path folder = fresh_folder();
  EXPECT_NE(refusal_of(folder).find("no case in this folder"), std::string::npos);
  EXPECT_NE(refusal_of(folder / "absent").find("no such file or folder"), std::string::npos);
  fs::create_symlink(folder / "nowhere", folder / "link.cu");
  EXPECT_NE(refusal_of(folder / "link.cu").find("a link that leads nowhere"), std::string::npos);
  fs::create_symlink(folder / "loop", folder / "loop");
  EXPECT_FALSE(refusal_of(folder / "loop").empty());
  ASSERT_EQ(mkfifo((folder / "candidate.cu").c_str(), 0600), 0);
  EXPECT_NE(refusal_of(folder / "candidate.cu").find("neither a file nor a folder"), std::string::npos);
  write_file(folder / "3_test_code.py", "x");
  EXPECT_NE(refusal_of(folder).find("no candidate in this folder"), std::string::npos);
  EXPECT_NE(refusal_of(std::string("a\0b", 3)).size(), 0u);
}

TEST(CandidateFolders, AnUnreadableFolderIsOneSentence) {
  const fs::path folder = fresh_folder();
  fs::permissions(folder, fs::perms::none);
  // Root reads everything; nobody does not.
  const bool root = geteuid() == 0;
  if (root) ASSERT_EQ(seteuid(65534), 0);
  const std::string said = refusal_of(folder);
  if (root) ASSERT_EQ(seteuid(0), 0);
  fs::permissions(folder, fs::perms::all);
  EXPECT_NE(said.find("cannot be read: Permission denied"), std::string::npos) << said;
}

TEST(CandidateValues, ADeepCopySharesNothingAndKeepsStridesAndOffset) {
  Value whole = tensor_value("x", DType::f32, {4, 6});
  EXPECT_EQ(whole.storage_bytes, 96u);
  for (int i = 0; i < 24; ++i) {
    EXPECT_EQ(static_cast<const float*>(whole.tensor.data)[i], 0);
    static_cast<float*>(whole.tensor.data)[i] = static_cast<float>(i);
  }
  Value view = whole;
  view.tensor = whole.tensor.transpose(0, 1).slice(0, 2, 5);
  view.storage_offset = 8;
  Value list;
  list.kind = Value::Kind::list;
  list.items = {view, integer_value("n", 3)};
  const Value copy = deep_copy(list);
  static_cast<float*>(whole.storage.get())[2] = -1;
  ASSERT_EQ(copy.items.size(), 2u);
  EXPECT_EQ(copy.items[1].integer, 3);
  const Value& c = copy.items[0];
  EXPECT_EQ(c.tensor.data, static_cast<std::byte*>(c.storage.get()) + 8);
  EXPECT_EQ(c.tensor.stride(1), 6);
  EXPECT_EQ(*c.tensor.at<float>(0, 0), 2);
  EXPECT_EQ(*c.tensor.at<float>(2, 3), 22);
}

}  // namespace
}  // namespace isomer::lab::tests
