#pragma once

#include "lab/candidate/recording.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace isomer::lab {

/// What is run, and for how long.
struct RecordSettings {
  std::filesystem::path label, test;  ///< either may be empty: then one file holds both
  std::vector<std::string> python;    ///< the interpreter with its options; empty: the first that has PyTorch
  std::vector<std::string> arguments;  ///< of the test
  double timeout_seconds = 120;
  double edit_seconds = 20;  ///< of these, for edits of the label; 0: none are tried
  std::uint64_t max_bytes = std::uint64_t{256} << 20;  ///< of all storages together
};

/// The calls that the test made, and what else happened.
struct Recorded {
  Recording recording;
  int unanswered = 0;               ///< calls whose kernels could not run here
  std::string why = {};             ///< of the first of these
  std::vector<std::string> raised;  ///< "test_sin: ValueError: …": what stopped, while the rest went on
};

/// Label and test of a folder as porting pipelines leave it, or of a command `python3 [options] test.py
/// [arguments]`. Throws Error bad_argument, one sentence, where there is no test.
RecordSettings settings_of_folder(const std::filesystem::path& folder);
RecordSettings settings_of_command(const std::vector<std::string>& words);

/// Runs label and test in a Python of their own, under PyTorch, with or without a GPU and Triton. Throws
/// Error bad_argument with one sentence where nothing can be recorded: no Python, no PyTorch, no call, a
/// syntax error, a test that does not end or ends its process. Nothing is left behind.
Recorded record(const RecordSettings& settings);

}  // namespace isomer::lab
