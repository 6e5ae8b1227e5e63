// A label and a test of a folder of their own, recorded under a real PyTorch on a machine without a GPU.
#pragma once

#include "lab/record/record.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

namespace isomer::lab {

namespace fs = std::filesystem;

inline constexpr const char* kPlain = "import torch\n\ndef twice(x, out=None, *, by=2):\n    return x * by\n";

class RecordTorch : public testing::Test {
 protected:
  RecordTorch() : folder(fs::path(testing::TempDir()) / ("record_torch_" + std::to_string(getpid()))) {
    fs::create_directories(folder);
    // Without Triton's interpreter, whether it is installed or not.
    setenv("TRITON_INTERPRET", "0", 1);
  }
  ~RecordTorch() override { fs::remove_all(folder); }

  Recorded recorded(const std::string& label, const std::string& test) {
    std::ofstream(folder / "1_label_source.py") << label;
    std::ofstream(folder / "3_test_code.py") << test;
    RecordSettings settings = settings_of_folder(folder);
    settings.python = {ISOMER_PYTHON};
    return record(settings);
  }
  std::vector<std::string> groups(const Recorded& recorded) {
    std::vector<std::string> all;
    for (const RecordedCall& call : recorded.recording.calls) all.push_back(call.group);
    return all;
  }
  fs::path folder;
};

}  // namespace isomer::lab
