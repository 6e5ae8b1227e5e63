// GPU kernels on the CPU: build a module from CUDA or HIP source files, launch its kernels by name or run its
// host code, and be told what they did wrong.
//
//   auto module = emulator::Module::build({.sources = {"scale.hip.cpp"}, .watch = true});
//   std::vector<float> x(100, 1.0f), y(100);
//   auto result = module.launch("scale", {{1, 1, 1}, {128, 1, 1}},
//                               {Argument::input("x", x), Argument::output("y", y), Argument::value(100)});
//   for (const auto& report : result.reports) puts(report.text.c_str());
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <string>
#include <type_traits>
#include <vector>

#include "isomer/emulator/error.hpp"
#include "isomer/emulator/report.hpp"

namespace isomer::emulator {

/// What a module is compiled for: the emulated device, or a real one by its vendor's own compiler. Of a
/// module for a real device only sessions can be had (session.hpp), and lanes, watch and device_math say
/// nothing.
enum class Target : std::uint8_t { emulated, cuda, hip };

struct BuildOptions {
  std::vector<std::filesystem::path> sources;
  Target target = Target::emulated;
  std::string device_compiler;  ///< of a real target: nvcc or hipcc, as a path
  std::string architecture;     ///< of a real target: "sm_90a", "gfx90a"; empty: the machine's own
  int lanes = 32;               ///< of a warp: 32 or 64, a constant of the compiled module
  bool watch = false;           ///< compile with a hook at every load and store
  bool device_math = false;     ///< fast intrinsics with the hardware's error instead of accurate ones
  std::vector<std::string>
      instantiate;  ///< template kernels that have to be launchable by name: "scale<float, 4>"
  std::vector<std::string> include_directories;
  std::vector<std::string>
      system_directories;                ///< headers that are not the user's: never rewritten or refused
  std::vector<std::string> definitions;  ///< "NAME" or "NAME=VALUE"
  std::vector<std::string> compile_flags;
  std::vector<std::string> link_flags;
  std::string standard = "gnu++17";
  std::string compiler;          ///< empty: ISOMER_CXX, else g++, else clang++
  double compile_seconds = 300;  ///< for each source
  /// Files and folders that a contained compiler does not see: what the code is compared with.
  std::vector<std::filesystem::path> hidden;
  /// What does not compile is told by all its lines at once (RefusedLines), not by the first alone.
  bool every_refused_line = false;
  bool entries = false;  ///< host functions and kernels can be called by their signatures (session.hpp)
  bool entries_of_torch = false;  ///< of a real target: functions take PyTorch's tensors
};

/// What a kernel or host function is called with. The memory belongs to the caller and outlives the call.
struct Argument {
  enum class Role : std::uint8_t { value, input, output, in_out };
  Role role = Role::value;
  std::string name;      ///< of the buffer, as reports shall call it
  void* data = nullptr;  ///< of a buffer: copied to the device before and, unless it is an input, back after
  std::size_t bytes = 0;
  std::vector<std::byte> bits;  ///< of a value

  template <class T>
  static Argument value(const T& v) {
    static_assert(std::is_trivially_copyable_v<T>);
    Argument a;
    a.bits.resize(sizeof(T));
    __builtin_memcpy(a.bits.data(), &v, sizeof(T));
    return a;
  }
  template <class Range>
  static Argument buffer(Role role, std::string name, Range& range) {
    Argument a;
    a.role = role;
    a.name = std::move(name);
    a.data = const_cast<void*>(static_cast<const void*>(std::data(range)));
    a.bytes = std::size(range) * sizeof(*std::data(range));
    return a;
  }
  template <class Range>
  static Argument input(std::string name, const Range& range) {
    return buffer(Role::input, std::move(name), range);
  }
  /// Its bytes begin as poison: what the kernel leaves alone comes back as 0xff (or RunOptions::poison).
  template <class Range>
  static Argument output(std::string name, Range& range) {
    return buffer(Role::output, std::move(name), range);
  }
  template <class Range>
  static Argument in_out(std::string name, Range& range) {
    return buffer(Role::in_out, std::move(name), range);
  }
};

struct Geometry {
  Index3 grid{1, 1, 1};
  Index3 block{1, 1, 1};
  std::uint64_t shared_bytes = 0;
  bool cooperative = false;
  std::uint32_t cluster = 1;  ///< blocks that reach one another's shared memory, neighbours along x
};

struct RunOptions {
  static constexpr std::uint64_t kReversed = ~std::uint64_t{0};
  /// Of the schedule; 0: blocks and threads in their natural order, kReversed: in the opposite one.
  std::uint64_t seed = 0;
  /// 0: one for each core, where that is faster. The reports do not depend on it.
  int workers = 0;
  double timeout_seconds = 60;
  std::uint64_t step_limit = 0;  ///< watched memory accesses of one launch; 0: none
  std::uint8_t poison = 0xff;    ///< what memory holds before it is written
  std::uint64_t memory_limit = std::uint64_t{4} << 30;
  /// Blocks of each launch that run, spread evenly from the first to the last; 0: all. Cooperative launches
  /// and clusters run whole.
  std::uint64_t blocks = 0;
  bool leaks = false;  ///< report the buffers that nobody has freed when the program ends
  /// Of the launches of a watched run (counted from 1) these are watched, and of them those of this kernel
  /// (empty: of any). The others run and are not judged.
  std::uint64_t first_watched = 1, last_watched = ~std::uint64_t{0};
  std::string watched_kernel;
};

struct RunResult {
  std::string failure;  ///< one sentence; empty where nothing failed
  /// One sentence where a limit of time or of accesses stopped it, which is no fault: what was reported
  /// stands, what would have come is not judged. Empty where everything ran to its end.
  std::string not_finished;
  int error = 0;        ///< the runtime's code of the (last) launch; 0 is success
  int exit_status = 0;  ///< of a program's main
  std::vector<Report> reports;
  std::vector<Report> stopped;  ///< where the kernels were that a limit stopped; none of them is a finding
  std::vector<LaunchRecord> launches;
  std::vector<Refusal> refusals;  ///< launches and calls that the device would refuse
  std::string output;                 ///< what the code printed, at most a mebibyte
  bool ok() const {
    return failure.empty() && not_finished.empty() && error == 0 && reports.empty() && refusals.empty();
  }
};

class ISOMER_EMULATOR_EXPORT Module {
 public:
  /// Compiles, or takes from the cache. Throws Error with the compiler's first complaint and the user's line.
  static Module build(const BuildOptions& options);
  /// Why nothing can be built with these options for want of a compiler, as a sentence; empty where one is
  /// found.
  static std::string lack_of_compiler(const BuildOptions& options);

  /// Kernels by qualified name; templates without their arguments.
  const std::vector<std::string>& kernels() const { return kernels_; }
  bool has_main() const { return has_main_; }
  bool hip() const { return hip_; }
  bool cached() const { return cached_; }  ///< nothing had to be compiled
  const std::filesystem::path& library() const { return library_; }
  int lanes() const { return lanes_; }
  /// "uses ptrace", "defines malloc": what no kernel's code needs, by its object file.
  const std::vector<std::string>& reaches() const { return reaches_; }
  bool watched() const { return watch_; }
  Target target() const { return target_; }

  /// Runs one kernel in a process of its own: whatever it does, this process survives. Throws Error where the
  /// kernel is unknown or the arguments do not fit its parameters.
  RunResult launch(const std::string& kernel, const Geometry& geometry,
                   const std::vector<Argument>& arguments, const RunOptions& options = {}) const;

  /// Runs a host function with C linkage that takes pointers and integers, in a process of its own. Buffers
  /// are passed as device memory, values as integers of up to eight bytes; at most twelve.
  RunResult call(const std::string& function, const std::vector<Argument>& arguments,
                 const RunOptions& options = {}) const;

  /// Runs the program's main.
  RunResult run_main(const std::vector<std::string>& arguments = {}, const RunOptions& options = {}) const;

  /// Runs one kernel in this process, on buffers that are device memory already (`device_allocate`). For code
  /// that is trusted not to crash.
  RunResult launch_here(const std::string& kernel, const Geometry& geometry,
                        const std::vector<Argument>& arguments, const RunOptions& options = {}) const;

  /// The size of each parameter of a kernel; the module stays loaded in this process. Throws Error where the
  /// kernel is unknown.
  std::vector<std::size_t> parameter_bytes(const std::string& kernel) const;

 private:
  friend class Session;
  BuildOptions built_;
  std::filesystem::path library_;
  std::vector<std::filesystem::path> linked_;  ///< what it loads from beside the system
  std::vector<std::string> kernels_, reaches_;
  bool has_main_ = false, hip_ = false, watch_ = false, cached_ = false;
  int lanes_ = 32;
  Target target_ = Target::emulated;
};

/// Memory that kernels of this process may touch. Null when it is exhausted.
ISOMER_EMULATOR_EXPORT void* device_allocate(std::size_t bytes, const std::string& name = {});
ISOMER_EMULATOR_EXPORT void device_free(void* pointer);

}  // namespace isomer::emulator
