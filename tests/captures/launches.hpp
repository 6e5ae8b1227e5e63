#pragma once

#include "lab/capture/capture_file.hpp"
#include "lab/diff/launch_groups.hpp"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace isomer::lab {

/// A capture with its launches, from whatever reader.
template <class Read>
Capture collected(Read&& read) {
  std::vector<Launch> launches;
  Capture capture = read([&](Launch&& launch) { launches.push_back(std::move(launch)); });
  capture.launches = std::move(launches);
  return capture;
}

inline Capture read_text(const std::string& text) {
  std::istringstream in(text);
  return collected([&](const LaunchSink& sink) { return read_capture_file(in, "text", sink); });
}

inline GroupedCapture grouped(const std::vector<Launch>& launches, const std::string& kind = "isomer") {
  Grouping grouping;
  for (const Launch& launch : launches) grouping.add(Launch(launch));
  Capture about;
  about.kind = kind;
  return grouping.finish(std::move(about));
}

template <class Value>
ArgumentBytes argument(const Value& value, std::uint32_t offset = 0) {
  ArgumentBytes bytes;
  bytes.offset = offset;
  bytes.bytes.resize(sizeof value);
  std::memcpy(bytes.bytes.data(), &value, sizeof value);
  return bytes;
}

/// A folder that goes with it.
class Folder {
 public:
  Folder() {
    std::string pattern = std::filesystem::temp_directory_path() / "isomer-tests-XXXXXX";
    path = mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string file(const std::string& name, const std::string& content) const {
    std::ofstream(path / name, std::ios::binary) << content;
    return path / name;
  }
  std::filesystem::path path;
};

inline std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace isomer::lab
