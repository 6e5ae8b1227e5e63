#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace isomer {

using Environment = std::vector<std::pair<std::string, std::string>>;

/// Runs `body` in a process of its own under that environment, so that it has a driver of its own, and gives
/// what it returned. An Error becomes "device: the sentence", and then the process must still be able to
/// compute on the CPU; one that a signal ended is "killed by signal 11".
std::string in_child(const Environment& environment, const std::function<std::string()>& body);

/// The same without a process: "device: the sentence", or what `body` returned.
std::string said_by(const std::function<std::string()>& body);

/// An empty folder, removed with this object.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace isomer
