#pragma once

#include <isomer/tensor.hpp>

#include "gpu/facts.hpp"
#include "gpu/tensor_map.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace isomer::gpu {

/// What a vendor's compiler is given: a file among the embedded sources and its macros.
struct Translation {
  std::string source;
  std::string kernel;                    ///< the one function in it
  std::vector<std::string> definitions;  ///< "ISOMER_HEAD_DIM=128"
  std::string architecture;
};

/// What a kernel needs of a multiprocessor; −1 where the vendor does not say.
struct Resources {
  int registers = -1;              ///< of one thread
  std::int64_t spill_bytes = -1;   ///< of one thread, stores and loads
  std::int64_t shared_bytes = -1;  ///< static
  bool serialized = false;         ///< the compiler made a warpgroup's products wait for one another
};

/// Compiled code in the form that the vendor loads.
struct Image {
  std::vector<std::byte> bytes;
  std::string compiler;  ///< "NVRTC 13.0"
  Resources resources;   ///< as far as the compiler says
};

/// Handles of the vendor's.
using Module = void*;
using Function = void*;
using Event = void*;
using Stream = void*;  ///< CUstream, hipStream_t

using Dim3 = std::array<std::uint32_t, 3>;

/// A launch as data.
struct Launch {
  Function function = nullptr;
  std::string_view kernel;  ///< for sentences
  Dim3 grid{1, 1, 1}, block{1, 1, 1}, cluster{1, 1, 1};
  std::uint32_t shared_bytes = 0;  ///< dynamic
  bool overlap_previous = false;   ///< programmatic dependent launch, where the device has it
  const void* parameters = nullptr;
  std::size_t parameter_bytes = 0;
};

/// A way to compile and launch device code. The rest of src/gpu and every op know only this. Every function
/// may be called from any thread; what fails throws Error with one sentence and leaves the process able to go
/// on.
class Vendor {
 public:
  virtual ~Vendor() = default;
  virtual std::string_view name() const = 0;  ///< "cuda", "hip", "emulated"
  virtual DeviceType device_type() const = 0;

  /// Why no device of this vendor can be used, and what to do; empty where one can. Does not throw.
  virtual std::string unavailable() = 0;
  virtual int devices() = 0;
  virtual const Facts& facts(int device) = 0;

  /// Why nothing can be compiled on this machine, and what to install; empty where it can. Needs no device.
  virtual std::string compiler_unavailable() = 0;
  virtual Image compile(const Translation& translation) = 0;
  /// Whether images may be kept in the cache folder; the emulator keeps its own.
  virtual bool cacheable() const { return true; }

  virtual Module load(int device, const Image& image) = 0;
  virtual void unload(int device, Module module) noexcept = 0;
  /// Ready for that much dynamic shared memory and any geometry that the device takes.
  virtual Function function(int device, Module module, const std::string& kernel) = 0;

  virtual void* allocate(int device, std::size_t bytes) = 0;  ///< null when the memory is exhausted
  virtual void release(int device, void* data) noexcept = 0;
  enum class Copy { to_device, to_host, on_device };
  /// In the stream's order; a copy to the host has arrived when this returns.
  virtual void copy(int device, Stream stream, void* to, const void* from, std::size_t bytes, Copy kind) = 0;
  virtual void fill(int device, Stream stream, void* to, std::uint8_t value, std::size_t bytes) = 0;

  virtual Stream make_stream(int device) = 0;
  virtual void release_stream(int device, Stream stream) noexcept = 0;
  virtual void synchronize(int device, Stream stream) = 0;
  /// A graph is being captured from the stream: nothing may be allocated, loaded or waited for.
  virtual bool capturing(int device, Stream stream) = 0;

  virtual Event make_event(int device) = 0;
  virtual void release_event(int device, Event event) noexcept = 0;
  virtual void record(int device, Stream stream, Event event) = 0;
  /// Waits for the second.
  virtual double seconds_between(int device, Event first, Event second) = 0;

  /// The tensor map of a tensor at that address; refused with a reason where it cannot be, or the vendor has
  /// none.
  virtual void encode(int device, const TensorMap& map, const void* address, device::TensorMap& into) = 0;
  virtual void launch(int device, Stream stream, const Launch& launch) = 0;
};

}  // namespace isomer::gpu
