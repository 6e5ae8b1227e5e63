#pragma once

#include <string>
#include <vector>

namespace isomer::gpu {

/// A library that is opened at run time and stays open.
class SharedObject {
 public:
  /// The first of the names that opens; `open()` is false where none does, and `failure()` then says why the
  /// last did not.
  explicit SharedObject(const std::vector<std::string>& names);
  bool open() const { return handle_ != nullptr; }
  const std::string& failure() const { return failure_; }
  const std::string& name() const { return name_; }
  /// Null where it has no such symbol.
  void* symbol(const char* name) const;

 private:
  void* handle_ = nullptr;
  std::string name_, failure_;
};

/// Where a compiler library may lie besides the loader's own search: the file that `variable` names, the
/// folders of `home` (CUDA_HOME) and `roots`, and the Python packages of every python3 on the PATH
/// (`nvidia/*/lib`). Existing files only, those named by the user first.
std::vector<std::string> library_files(const char* variable, const std::vector<const char*>& homes,
                                       const std::vector<std::string>& roots, const std::string& prefix);

}  // namespace isomer::gpu
