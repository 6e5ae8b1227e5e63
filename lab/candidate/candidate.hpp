#pragma once

#include "lab/candidate/value.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace isomer::lab {

/// A place in the candidate's source; line 0: unknown.
struct SourcePlace {
  std::string file;
  int line = 0;
};

/// One parameter of an entry, as the compiler (not the eye) sees it.
struct Parameter {
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
  std::string name;             ///< empty where the source has none
  std::string type;             ///< as written or demangled, for people
  DType element = DType::none;  ///< of a pointer: what it points to; none for void and unknown
  bool is_const = false;        ///< of a pointer: to const
  int bits = 0;                 ///< of an integer or real
  bool has_default = false;
  bool has_keyword = true;  ///< callers may pass it by its name; not where a binding names no arguments
};

/// Who can call a host function: its own file alone, C++ callers, or whoever opens the library.
enum class Linkage : std::uint8_t { internal, cpp, c };

/// Something of a candidate that can be called.
struct Entry {
  enum class Form : std::uint8_t {
    kernel,
    function,
    extension
  };  ///< __global__, raw pointers or DLPack, ATen
  Form form = Form::function;
  std::string name;      ///< as exported: pybind11's name, the C symbol, the kernel
  std::string function;  ///< in the source
  std::vector<Parameter> parameters;
  int returned_tensors = 0;        ///< at once; negative: a list of any number
  bool exported = false;           ///< by pybind11 or TORCH_LIBRARY, under `name`
  Linkage linkage = Linkage::cpp;  ///< of a host function
  bool called_inside = false;      ///< another function of the file calls it
  int overload = 0;  ///< of several exported under one name, which, in the order in which they are tried
  SourcePlace place;
};

/// Where candidates are compiled for and run.
enum class Backend : std::uint8_t { emulated, cuda, hip };
const char* name_of(Backend backend);
/// Why candidates cannot run on that backend here: no such device, no compiler. Empty where they can.
std::string device_missing(Backend backend);

/// How one call is made.
struct CallSettings {
  int lanes = 32;
  bool watch = true;
  std::uint64_t schedule_seed = 0;
  std::uint8_t poison = 0xff;   ///< what fresh device memory holds
  double timeout_seconds = 20;  ///< of the processor's time; less where nothing in it comes to an end
  std::uint64_t memory_limit = std::uint64_t{2} << 30;
  bool device_math = true;  ///< fast intrinsics with the hardware's error, as callers get them
  /// Of a kernel without a host function; zeros: from its own launch line or the element count.
  std::uint32_t grid[3] = {0, 0, 0}, block[3] = {0, 0, 0};
  std::uint64_t shared_bytes = 0;
  /// Calls in one process, at the same addresses: of zeros, and last, the answer, as given. What the earlier
  /// ones return is held meanwhile: who writes it in a later one is seen ("stale-state").
  int repeats = 1;
  bool kernels_idle = false;  ///< no thread of what is launched runs: what is left is computed by the host
  std::uint32_t most_threads = 0;  ///< of a block along x alone, whatever a launch asks for; 0: as it asks
  std::uint32_t blocks = 0;        ///< of each launch that run, spread over its grid; 0: all
  /// Of a source with exchangeable expressions which of them are others; 0: none. −1 as the first of them:
  /// none, and the answer says which the call comes to.
  std::array<int, 4> edits = {};
  // On a real device:
  bool fresh = false;  ///< in a process that no call was made in
  int measured = 0;    ///< that many more calls after the answer, timed and compared
};

/// One fault that the emulator saw while the candidate ran (kinds of isomer/emulator/report.hpp).
struct Seen {
  std::string kind, text, kernel, buffer;
  int role = -1;             ///< of the original's arguments, the one that the buffer was passed for
  SourcePlace place, other;  ///< `other`: of the second access of a race
  std::uint64_t count = 1;
  bool stores_twice = false;  ///< a race of stores of one value, as far as these inputs show
  bool shared = false;        ///< of shared memory
  bool local = false;         ///< of a thread's own variable or array
  bool null = false;          ///< through a null pointer
  bool nowhere = false;       ///< so far from every buffer that its index is none of the launch
  bool harmless = false;      ///< memory that nothing has written, which changes no answer whatever it holds
  bool unnamed_lane = false;  ///< a warp operation whose mask does not name its caller
};

/// A launch or another call that a device would refuse (causes of isomer/emulator/report.hpp).
struct RefusedLaunch {
  enum class Cause : std::uint8_t {
    other,
    no_blocks,
    no_threads,
    too_many_blocks,
    too_many_threads,
    shared_memory,
    clusters,
    no_host_memory
  };
  Cause cause = Cause::other;
  std::string kernel, text;
  bool is_alike(const RefusedLaunch& other) const { return cause == other.cause && kernel == other.kernel; }
};

/// What came of a call.
struct Answer {
  /// `too_large`: time was up while block after block was coming to its end; nothing is said of the
  /// candidate.
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
  std::string message;  ///< one sentence: the exception's text, the signal, the limit
  SourcePlace place;    ///< of a refusal or crash, where known
  std::vector<Value>
      arguments;  ///< as the call left them, whole storages; the given ones where it ended otherwise
  std::vector<Value> returned;
  std::vector<Seen> seen;
  std::vector<RefusedLaunch> refused_launches;
  bool no_blocks = false;        ///< each of these was of a grid without a block
  bool unknown_element = false;  ///< not callable: its PyTorch does not have the element type of a tensor
  bool asserted = false;         ///< an assertion in a kernel of its own does not hold
  int launches = 0;
  std::string output;              ///< what it printed, cut
  std::string launch;              ///< of a bare kernel: its geometry, and where that came from
  bool launch_guessed = false;     ///< neither its source nor the caller says it
  double worked_seconds = 0;       ///< of the processor, on this call
  std::vector<int> reached_edits;  ///< where CallSettings::edits ask for them
  bool waits_for_ever = false;     ///< timed out: its threads wait for what none of them will do
  bool unwatched = false;          ///< the watch was asked for, and takes too long with so much to do
  // Of a real device:
  std::string device;           ///< its name
  std::vector<double> seconds;  ///< of each measured call, the device's time
  int differing = 0;            ///< measured calls whose answer has other bytes
  bool ok() const { return end == End::returned; }
};

/// How local variables that nothing initialises begin.
enum class Locals : std::uint8_t { as_they_come, zero, pattern };

struct BuildSettings {
  Backend backend = Backend::emulated;
  int lanes = 32;
  bool watch = true;
  bool device_math = true;
  Locals locals = Locals::as_they_come;
  /// Its expressions can be exchanged for others (CallSettings::edit); all lines that do not compile so are
  /// told (BuildFailure::lines).
  bool exchangeable = false;
  std::vector<std::string> include_directories, definitions;
  /// The C declaration of a prebuilt library's function: "void scale(const float* x, float* y, int64_t n)".
  std::string signature;
};

/// Why a candidate does not build: the first complaint, and where.
struct BuildFailure {
  std::string message;
  SourcePlace place;
  std::string missing_header;  ///< where that is the cause
  bool of_machine = false;     ///< nothing is said of the candidate
  std::vector<int> lines;      ///< of BuildSettings::exchangeable
};

/// Somebody's implementation: a .cu or .hip.cpp or .cpp source with kernels, host functions over raw pointers
/// or DLPack, or a PyTorch extension; or a prebuilt .so. Compiled unchanged for the emulated device, or for a
/// real one by nvcc or hipcc, and called in a process of its own.
class Candidate {
 public:
  virtual ~Candidate() = default;
  virtual const std::filesystem::path& path() const = 0;
  virtual const std::vector<Entry>& entries() const = 0;
  virtual Backend backend() const { return Backend::emulated; }
  /// "uses ptrace", "defines malloc": what no kernel needs, as its object file says.
  virtual std::vector<std::string> reaches() const { return {}; }
  /// Storages of gigabytes travel by the pages that were touched; elsewhere every byte is.
  virtual bool carries_sparse_storages() const { return false; }
  /// Whatever the candidate does, this process survives. Values are passed in order; their number and kinds
  /// need not fit: then End::not_callable or End::refused says so. Throws Error io where this machine could
  /// not make the call, which says nothing of the candidate. Several threads may call at once.
  virtual Answer call(const Entry& entry, const std::vector<Value>& arguments,
                      const CallSettings& settings) const = 0;
};

/// Compiles, or takes from the cache. Null, and `failure` filled, where it does not compile; throws Error for
/// what is no candidate at all (no such file, no known suffix, no compiler).
std::shared_ptr<const Candidate> build_candidate(const std::filesystem::path& path,
                                                 const BuildSettings& settings, BuildFailure& failure);

}  // namespace isomer::lab
