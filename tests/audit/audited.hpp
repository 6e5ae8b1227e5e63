#pragma once

#include "lab/audit/audit.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <unistd.h>

namespace isomer::lab {

/// A case folder of a test's own: texts, and calls that a recorder would have kept.
class Audited : public testing::Test {
 protected:
  Audited() : path(std::filesystem::path(testing::TempDir()) / ("audit_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path);
    folder.folder = path;
  }
  ~Audited() override { std::filesystem::remove_all(path); }

  void instruction(const std::string& text) { folder.instruction = write("0_instruction.txt", text); }

  /// Label and test, whose facts are read as the recorder reads them.
  void sources(const std::string& label, const std::string& test) {
    folder.label = write("1_label_source.py", label);
    folder.test = write("3_test_code.py", test);
    const std::filesystem::path out = path / "facts.json";
    const std::string command =
        "python3 -B -c 'import sys, ast, json; sys.path.insert(0, sys.argv[1]); from isomer_record import "
        "facts; "
        "a, b = sys.argv[2:4]; print(json.dumps(facts.of(ast.parse(open(a).read()), a, "
        "ast.parse(open(b).read()), "
        "b)))' " ISOMER_RECORDER " " +
        folder.label.string() + " " + folder.test.string() + " > " + out.string();
    ASSERT_EQ(std::system(command.c_str()), 0);
    std::stringstream text;
    text << std::ifstream(out).rdbuf();
    recording.metadata["facts"] = text.str();
  }

  RecordedCall& call(const std::string& function, std::vector<Value> before, const std::string& group = "") {
    RecordedCall made{.function = function, .before = std::move(before), .group = group};
    made.keyword.resize(made.before.size());
    recording.calls.push_back(std::move(made));
    return recording.calls.back();
  }

  static Value indices(const std::string& name, const std::vector<std::int32_t>& values) {
    Value value = tensor_value(name, DType::i32, {static_cast<std::int64_t>(values.size())});
    std::copy(values.begin(), values.end(), static_cast<std::int32_t*>(value.storage.get()));
    return value;
  }
  static Value floats(const std::string& name, const std::vector<std::int64_t>& shape, float fill) {
    Value value = tensor_value(name, DType::f32, shape);
    for (std::size_t i = 0; i < value.storage_bytes / 4; ++i)
      static_cast<float*>(value.storage.get())[i] = fill;
    return value;
  }

  /// "test output-not-compared scale @7" for every finding.
  std::vector<std::string> found() {
    std::vector<std::string> all;
    for (const Finding& each : audit(folder, recording)) {
      EXPECT_FALSE(each.evidence.empty());
      EXPECT_FALSE(each.fix.empty());
      EXPECT_NE(each.subject, Subject::candidate);
      all.push_back((each.subject == Subject::test ? "test " : "instruction ") + said_against(each) + " @" +
                    std::to_string(each.location.line));
    }
    return all;
  }

  std::filesystem::path path;
  CaseFolder folder;
  Recording recording;

 private:
  std::filesystem::path write(const char* name, const std::string& text) {
    std::ofstream(path / name, std::ios::binary) << text;
    return path / name;
  }
};

using Findings = std::vector<std::string>;

}  // namespace isomer::lab
