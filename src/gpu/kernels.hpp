#pragma once

#include "gpu/binary.hpp"

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace isomer::gpu {

/// A kernel that is loaded on a device.
struct Kernel {
  Function function = nullptr;
  Module module = nullptr;
  Resources resources;
  std::string binary_source, hash;
  std::string not_kept;  ///< why the cache has not taken it; empty where it has, or already had it
  double seconds = 0;    ///< spent on finding, compiling and loading it
};

/// The kernels that this process has loaded on one device. They stay loaded until it ends.
class Kernels {
 public:
  Kernels(Vendor& vendor, int device) : vendor_(vendor), device_(device) {}

  /// Finds, compiles and loads at the first call. Inside a graph capture nothing may load: then one sentence.
  const Kernel& get(const Program& program, Stream stream);
  /// Null where it is not loaded yet.
  const Kernel* find(const Program& program);

  /// Those of a device, shared by every queue on it.
  static Kernels& of(Vendor& vendor, int device);

 private:
  std::unique_ptr<Kernel> load(const Program& program, const Binary& binary);

  Vendor& vendor_;
  int device_;
  std::mutex mutex_;
  std::unordered_map<std::string, std::unique_ptr<Kernel>> loaded_;
};

}  // namespace isomer::gpu
