// Calling what a module offers, whatever its signature: host functions over pointers, DLPack or tensors,
// functions exported to Python, bare kernels. A session keeps one process with the module loaded; each call
// runs in a fresh copy of that process, so that no call sees what another left behind, and none of them can
// harm the caller. A device takes a process in slowly: of a module for a real one, a copy serves calls until
// one ends otherwise than by returning, or a fresh one is asked for.
//
//   auto module = emulator::Module::build({.sources = {"port.hip.cpp"}, .watch = true, .entries = true});
//   emulator::Session session(module);
//   auto result = session.call(0, arguments, {.timeout_seconds = 10});
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "isomer/emulator/module.hpp"

namespace isomer::emulator {

/// omitted: the parameter's default is meant, which the child reads off the source.
enum class ValueKind : std::uint8_t { none, tensor, integer, real, boolean, text, dtype, list, omitted };

/// none, f64, f32, f16, bf16, e4m3fn, e5m2, e4m3fnuz, e5m2fnuz, i8, i32, i64, u8, bool, i16, by number.
using Element = std::uint8_t;

/// An argument or a result. A tensor is a strided view of a whole storage; arguments that share a storage
/// share it on the device as well.
struct SessionValue {
  ValueKind kind = ValueKind::none;
  std::string name;  ///< of a tensor's buffer, as reports shall call it
  std::int64_t integer = 0;
  double real = 0;
  std::string text;
  Element element = 0;  ///< of a tensor or dtype
  std::vector<std::int64_t> shape, strides;
  std::shared_ptr<void> storage;
  std::size_t storage_bytes = 0;
  std::size_t storage_offset = 0;  ///< bytes to the first element
  std::vector<SessionValue> items;
};

struct EntryParameter {
  enum class Kind : std::uint8_t {
    tensor,
    optional_tensor,
    pointer,
    integer,
    real,
    boolean,
    text,
    dtype,
    stream,
    list,
    any,  ///< a Python object of no stated type
    unknown
  };
  Kind kind = Kind::unknown;
  std::string name;       ///< empty where the source has none
  std::string type;       ///< as written, else demangled
  Element element = 0;    ///< of a pointer: what it points to; 0 for void and unknown
  bool is_const = false;  ///< of a pointer: to const
  int bits = 0;           ///< of an integer or real
  bool has_default = false;
  bool has_keyword = true;  ///< callers may pass it by its name
};

struct EntryInfo {
  enum class Form : std::uint8_t { kernel, function, exported };
  Form form = Form::function;
  std::string name;      ///< as exported; a function or kernel by its qualified name
  std::string function;  ///< in the source; empty for a lambda
  std::vector<EntryParameter> parameters;
  std::vector<std::string> template_types;  ///< of a kernel template that has not been instantiated
  bool takes_tensors = false;               ///< of PyTorch
  int returned_tensors = 0;                 ///< of PyTorch; negative: a list or a Python object
  bool callable = true;                     ///< every parameter has a type that can be passed
  std::string file;
  int line = 0;
};

struct CallOptions {
  std::uint64_t seed = 0;
  int workers = 0;  ///< 0: one where the module is watched, else one for each core
  /// Of the processor's time where the code works, of the clock's where it only waits: other work of the
  /// machine is not the code's.
  double timeout_seconds = 20;
  double idle_seconds = 0;  ///< for code of which no block or launch comes to its end; 0: all of the time
  std::uint64_t step_limit = 0;
  std::uint8_t poison = 0xff;                            ///< what fresh device memory holds
  std::uint64_t memory_limit = std::uint64_t{2} << 30;   ///< of what the code allocates, device and host each
  std::uint64_t file_limit = std::uint64_t{64} << 20;    ///< of a file that it writes
  std::uint64_t output_limit = std::uint64_t{64} << 20;  ///< of what it prints; the first MiB is kept
  Geometry geometry;                                     ///< of a kernel
  /// Calls in one process, at the same addresses: of zeros, and last, the answer, as given. What the earlier
  /// ones return is held meanwhile: who writes it in a later one is reported.
  int repeats = 1;
  bool kernels_idle =
      false;  ///< launches are taken, and none of their threads runs: what is left is the host's
  std::uint32_t most_threads = 0;  ///< of a block along x alone, whatever a launch asks for; 0: as it asks
  std::uint32_t blocks = 0;        ///< of each launch that run, spread over its grid; 0: all
  /// Of a source with exchangeable expressions (isomer_emulator/edits.h) which are others; 0: none. −1 as the
  /// first of them: none, and the result says which the call comes to.
  std::array<int, 4> edits = {};
  // Of a module for a real device:
  bool fresh = false;  ///< in a process that no call was made in; otherwise one serves until a call harms it
  int measured = 0;    ///< that many more calls after the answer and three more, as given, timed and compared
};

struct CallResult {
  /// `too_large`: time was up while blocks, or launches, were still coming to their ends one after the other.
  enum class End : std::uint8_t {
    returned,
    refused,
    crashed,
    timed_out,
    exited,
    over_limit,
    not_callable,
    too_large
  };
  End end = End::returned;
  std::string message;  ///< one sentence where it did not return
  bool unknown_element = false;  ///< not callable: its headers do not have the element type of a tensor
  Place place;          ///< of the exception, crash or exit, where known
  std::vector<SessionValue>
      arguments;  ///< as the call left them; the given ones where it did not end by itself
  std::vector<SessionValue> returned;
  std::vector<Report> reports;
  std::vector<LaunchRecord> launches;
  std::vector<Refusal> refusals;  ///< launches and calls that the device would refuse
  std::string output;                 ///< at most a mebibyte
  double worked_seconds = 0;          ///< of the processor, on this call
  std::vector<int> reached_edits;     ///< where that was asked
  // Of a module for a real device:
  std::string device;           ///< its name
  std::vector<double> seconds;  ///< of each measured call, the device's time
  int differing = 0;  ///< measured calls whose answer has other bytes than that of the call before them all
};

/// Not to be used by two threads at once.
class ISOMER_EMULATOR_EXPORT Session {
 public:
  /// Loads the module (built with `entries`) in a process of its own. Throws Error with one sentence where
  /// that fails: its static initialisation crashes, hangs or throws.
  explicit Session(const Module& module);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Exported entries first, in their order, then host functions and kernels in the order of the source.
  const std::vector<EntryInfo>& entries() const;

  /// Whatever the code does, this process survives. The arguments are left alone: what the call made of them,
  /// with their whole storages, stands in the result.
  CallResult call(std::size_t entry, const std::vector<SessionValue>& arguments,
                  const CallOptions& options = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace isomer::emulator
