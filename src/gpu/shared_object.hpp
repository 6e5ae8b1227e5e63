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
  /// The file behind the name, links followed: "libamdhip64.so.5.2.21153".
  std::string file_name() const;
  /// Null where it has no such symbol.
  void* symbol(const char* name) const;

 private:
  void* handle_ = nullptr;
  std::string name_, failure_;
};

/// Where a compiler's library may lie.
struct CompilerFiles {
  std::string chosen;              ///< what the user's variable names; then it is the only one
  std::vector<std::string> files;  ///< to be tried in this order
};

/// The file that `variable` names. Without one the loader's `names`, then what begins with `prefix` in the
/// folders of `homes` (CUDA_HOME) and `roots` and in the Python packages of every python3 on the PATH
/// (`nvidia/*/lib`).
CompilerFiles compiler_files(const char* variable, const std::vector<std::string>& names,
                             const std::vector<const char*>& homes, const std::vector<std::string>& roots,
                             const std::string& prefix);

}  // namespace isomer::gpu
