#pragma once

#include "lab/launches/inject/arguments.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

namespace isomer::inject {

/// A kernel that a code object brings, as the profiler registers it.
struct HipKernel {
  std::uint64_t id = 0;  ///< of the profiler's, never used twice
  std::uint64_t code_object = 0;
  std::string_view name;  ///< mangled, with or without the ".kd" of its descriptor
  std::uint32_t group_bytes = 0, private_bytes = 0;
  std::uint32_t vector_registers = 0, accumulation_registers = 0, scalar_registers = 0;
};

/// A kernel on its way into a queue.
struct HipDispatch {
  std::uint64_t id = 0;  ///< of the profiler's, one for each kernel that runs
  std::uint64_t kernel = 0;
  std::uint32_t device = 0;
  std::uint32_t group_bytes = 0, private_bytes = 0;  ///< with what the launch adds
  std::uint32_t block[3]{1, 1, 1};
  std::uint32_t work_items[3]{1, 1, 1};  ///< AMD's packets count threads where CUDA counts blocks
};

/// The program's call that makes kernels run, while it lasts.
struct HipCall {
  bool graph = false;              ///< it launches a graph: its kernels' arguments are not there
  const void* function = nullptr;  ///< the host's stub or the module's function
  std::uint32_t grid[3]{1, 1, 1}, block[3]{1, 1, 1};
  bool grid_in_work_items = false;  ///< hipExtModuleLaunchKernel's
  bool cooperative = false;
  std::uint64_t stream = 0;     ///< its handle; 0: the default stream
  void** parameters = nullptr;  ///< one address for each parameter; or
  void** extra = nullptr;       ///< HIP's list with one buffer
};

/// What rocprofiler-sdk tells, written as the lines of a capture. Every function from any thread.
class HipRecorder {
 public:
  /// A code object, whose kernels' parameters and machine code are read here: it need not stay.
  void loaded(std::uint64_t code_object, std::span<const std::uint8_t> image);
  void registered(const HipKernel& kernel);
  /// That a function by that address is the kernel of that name.
  void named(const void* function, std::string_view name);
  /// This thread is in such a call; and has left it.
  void entered(const HipCall& call);
  void left();
  /// Inside the call that makes the dispatch, before the kernel can run: its arguments are read here.
  void enqueued(const HipDispatch& dispatch, std::uint64_t thread);
  /// Times in ns since 1970.
  void completed(const HipDispatch& dispatch, std::uint64_t start, std::uint64_t end);

  std::uint64_t recorded() const { return recorded_; }
  std::uint64_t hashed_bytes() const { return hashed_bytes_; }

 private:
  struct Code {
    Layout layout;
    std::string hash;
    std::uint32_t vector_registers = 0, scalar_registers = 0;
  };
  struct Image {
    std::string words;  ///< "code object of 4712 bytes"
    std::unordered_map<std::string, Code> kernels;
  };
  struct Known {
    std::string name;
    std::uint32_t group_bytes = 0, private_bytes = 0, vector_registers = 0, scalar_registers = 0;
    Layout layout;
    bool layout_known = false, written = false;
    std::string hash, image;
  };
  std::shared_ptr<const Known> kernel_of(std::uint64_t id);
  bool makes(const HipCall& call, const HipDispatch& dispatch, const Known& kernel);
  std::uint64_t stream_number(std::uint64_t handle);

  std::mutex mutex_;
  std::unordered_map<std::uint64_t, Image> images_;
  std::unordered_map<std::uint64_t, std::shared_ptr<Known>> kernels_;
  std::unordered_map<const void*, std::string> functions_;
  std::unordered_map<std::uint64_t, std::uint64_t> streams_;
  std::uint64_t recorded_ = 0, hashed_bytes_ = 0;
};

}  // namespace isomer::inject
