// Candidates written by the tests: a source in a folder of its own, built and called.
#pragma once

#include "lab/candidate/candidate.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace isomer::lab::tests {

/// A folder that goes with the test program.
inline std::filesystem::path fresh_folder() {
  struct Removed {
    std::filesystem::path root;
    Removed() {
      std::string pattern = (std::filesystem::temp_directory_path() / "isomer-candidate-XXXXXX").string();
      root = mkdtemp(pattern.data());
      setenv("ISOMER_CACHE", ISOMER_CANDIDATE_CACHE, 1);
    }
    ~Removed() {
      std::error_code failed;
      std::filesystem::remove_all(root, failed);
    }
  };
  static const Removed removed;
  static int count = 0;
  const std::filesystem::path folder = removed.root / std::to_string(count++);
  std::filesystem::create_directory(folder);
  return folder;
}

/// A file that lies where its text says, so that every test of it finds what another has compiled.
inline std::filesystem::path lasting_file(const std::string& name, const std::string& text) {
  const std::filesystem::path folder = std::filesystem::path(ISOMER_CANDIDATE_CACHE) / "sources" /
                                       std::to_string(std::hash<std::string>{}(text));
  const std::filesystem::path path = folder / name, part = folder / (name + "." + std::to_string(getpid()));
  if (!std::filesystem::exists(path)) {
    std::filesystem::create_directories(folder);
    std::ofstream(part, std::ios::binary) << text;
    std::filesystem::rename(part, path);
  }
  return path;
}

inline std::filesystem::path write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

/// The candidate that the text is; a failure of the test where it does not build.
inline std::shared_ptr<const Candidate> built(const std::string& name, const std::string& text,
                                              const BuildSettings& settings = {}) {
  BuildFailure failure;
  setenv("ISOMER_CACHE", ISOMER_CANDIDATE_CACHE, 1);
  auto candidate = build_candidate(lasting_file(name, text), settings, failure);
  EXPECT_NE(candidate, nullptr) << failure.place.file << ":" << failure.place.line << ": " << failure.message;
  if (!candidate) throw std::runtime_error("the test's candidate does not build");
  return candidate;
}

inline BuildFailure not_built(const std::string& name, const std::string& text) {
  BuildFailure failure;
  EXPECT_EQ(build_candidate(write_file(fresh_folder() / name, text), {}, failure), nullptr);
  return failure;
}

inline const Entry& entry_named(const Candidate& candidate, const std::string& name) {
  for (const Entry& e : candidate.entries()) {
    if (e.name == name) return e;
  }
  throw std::runtime_error("the candidate has no entry " + name);
}

template <class T>
Value filled(const std::string& name, DType dtype, const std::vector<std::int64_t>& shape,
             T (*at)(std::int64_t)) {
  Value value = tensor_value(name, dtype, shape);
  auto* data = static_cast<T*>(value.tensor.data);
  for (std::int64_t i = 0, n = value.tensor.numel(); i < n; ++i) data[i] = at(i);
  return value;
}

inline Value ramp(const std::string& name, const std::vector<std::int64_t>& shape) {
  return filled<float>(name, DType::f32, shape, [](std::int64_t i) { return static_cast<float>(i); });
}

template <class T>
const T* data_of(const Value& value) {
  return static_cast<const T*>(value.tensor.data);
}

}  // namespace isomer::lab::tests
