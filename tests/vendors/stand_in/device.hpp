#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "image.hpp"

/// A GPU that both stand-in drivers share: memory of the emulator's, streams that have nothing to wait for,
/// and the rules of graph capture. It is stricter than real ones: whatever a driver may refuse, it refuses.
namespace isomer::stand_in {

enum class Status { ok, invalid, memory, image, not_found, lost, capture };

/// As CUDA and HIP number them.
enum class Capture : int { none = 0, active = 1, invalidated = 2 };

struct Stream {
  std::atomic<Capture> capture{Capture::none};
  std::atomic<int> captured_launches{0};
};

struct Event {
  double seconds = 0;
};

struct LoadedModule;

struct Function {
  LoadedModule* module;
  std::string kernel;
  std::vector<std::size_t> parameter_bytes;
  int dynamic_shared;  ///< what it may be launched with
};

struct LoadedModule {
  Image image;
  std::shared_ptr<emulator::Module> code;  ///< null where nothing is executed
  std::mutex mutex;
  std::vector<std::unique_ptr<Function>> functions;
};

struct Geometry {
  std::array<std::uint32_t, 3> grid, block;
  std::uint32_t shared_bytes;
};

class Device {
 public:
  explicit Device(const char* kind, int shared_without_opt_in)
      : kind_(kind), shared_without_opt_in_(shared_without_opt_in) {}

  Status allocate(void** data, std::size_t bytes);
  Status release(void* data);
  Status copy(void* to, const void* from, std::size_t bytes, Stream* stream);
  Status fill(void* to, int value, std::size_t bytes, Stream* stream);
  Status load(LoadedModule** module, const void* image);
  Status unload(LoadedModule* module);
  Status find(Function** function, LoadedModule* module, const char* kernel);
  Status launch(Function* function, const Geometry& geometry, void** parameters, Stream* stream);
  Status make_stream(Stream** stream);
  Status release_stream(Stream* stream);
  Status wait_for(Stream* stream);
  Status record(Event* event);
  static double seconds_between(const Event& first, const Event& second);

  static Status begin_capture(Stream* stream);
  /// The number of launches in the graph, or −1 where the capture was invalidated.
  static int end_capture(Stream* stream);

 private:
  Status usable() const;
  /// A call that is not allowed while any stream is captured invalidates the capture.
  static Status outside_capture();

  const char* kind_;
  int shared_without_opt_in_;
  std::atomic<int> allocations_{0}, loads_{0}, launches_{0};
  std::mutex mutex_;
  std::map<void*, std::size_t> blocks_;
};

}  // namespace isomer::stand_in
