// What the emulator tells about one run: the reports of the watch and the way a launch ended.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "isomer/emulator/export.hpp"

namespace isomer::emulator {

using Index3 = std::array<std::uint32_t, 3>;

/// The kinds of misbehaviour that the watch reports. `name(kind)` gives the stable word.
enum class Kind : std::uint8_t {
  out_of_bounds_read,
  out_of_bounds_write,
  index_overflow,  ///< out of bounds, and 2^32 elements away from an address inside the buffer
  uninitialised_read,
  race,                ///< two accesses to one byte, one of them a write, that nothing orders
  barrier_divergence,  ///< threads of a block that wait at different barriers, or for threads that never come
  warp_divergence,     ///< lanes of a warp in different warp operations, or outside of the mask they pass
  warpgroup_divergence,  ///< threads of a warpgroup that call its instructions in different orders
  writes_input,
  misaligned,
  stack_overflow,
  endless_wait,  ///< threads wait in loops for values that nobody is left to write
  step_limit,    ///< no fault: a launch that a limit of time or of accesses stopped
  assertion,
  trap,
  crash,
  host_call,            ///< a host function called by a device thread
  wrong_stream,         ///< work that nothing orders with that of the caller's stream
  default_stream,       ///< likewise, but only where the caller's stream is not the default one
  in_flight,            ///< touches what a copy or a product of matrices under way reads or writes
  early_reuse,          ///< writes shared memory whose readers nothing has shown to be done
  unseen_barrier,       ///< a copy is counted by a barrier whose initialisation no fence made known
  missing_proxy_fence,  ///< written through the generic proxy, read by an asynchronous unit, no fence between
  missing_fence,        ///< a product of a warpgroup with no fence since its registers were touched
  wrong_swizzle,        ///< a tile read with another swizzle than it was written with
  wrong_phase,          ///< a wait for a phase that was waited for before, where other findings come of it
  byte_count,           ///< a barrier announced other bytes than its copies bring
  barrier_misuse,       ///< a barrier in shared memory that is not initialised, or has too many arrivals
  copy_misuse,          ///< a bulk copy or matrix descriptor that the hardware would not take
  register_pool,        ///< registers handed between warpgroups that do not add up
  unfinished,           ///< a thread ends while its copies or products are under way
  stale_state,          ///< a result that the caller still holds is written by a later call
  benign_race,          ///< unordered stores of one value, or the first look of a compare-and-swap
  use_after_free,       ///< an access to a buffer that the host has freed
  leak,                 ///< a buffer that nobody has freed when the program ends
  float_to_integer,     ///< a value that the integer cannot hold: the device saturates, this machine does not
  integer_division,     ///< by zero, or of the lowest number by -1: a device goes on, this machine does not
  ragged_store,         ///< a bulk store past a row's end, where the hardware writes whole sixteen bytes
  host_touch,           ///< host code reads or writes device memory by its address
  host_race,            ///< host code touches what a copy or kernel of a stream may still be using
};
ISOMER_EMULATOR_EXPORT const char* name(Kind kind);

/// What an access is to.
enum class Where : std::uint8_t {
  buffer,       ///< a buffer or a variable, or what lies beside one
  shared,       ///< shared memory
  null,         ///< through a null pointer
  nowhere,      ///< far from every buffer: the index is none of this launch
  host_memory,  ///< what the device cannot see
  local,        ///< a thread's own variable or array
};

/// A place in the user's source. `line` 0: unknown.
struct Place {
  std::string file;
  std::uint32_t line = 0;
};

/// One misbehaviour, once per pair of source places however often it happened.
struct Report {
  Kind kind{};
  std::string kernel;
  Index3 block{};
  Index3 thread{};
  Place place;
  Where where{};
  bool own_lane_unnamed = false;    ///< a warp operation whose mask leaves its caller out
  bool looks_again = false;         ///< a race of a read that a compare-and-swap of the same thread looks at again
  bool waits_for_left_out = false;  ///< a stop, perhaps for blocks that did not run
  std::string asserted;             ///< of an assertion that fails: its expression
  std::string buffer;               ///< name of the buffer or shared array; empty where none is meant
  std::int64_t offset = 0;          ///< bytes from the buffer's begin
  std::uint32_t bytes = 0;          ///< size of the access
  Place other;                      ///< the second access of a race, the second barrier of a divergence
  Index3 other_block{};
  Index3 other_thread{};
  std::uint64_t count = 1;  ///< how often
  std::string text;         ///< the whole report in one line
};

/// A launch or another call that the device would refuse.
struct Refusal {
  enum class Cause : std::uint8_t {
    other,
    no_blocks,         ///< a launch of a grid without a block
    no_threads,        ///< of blocks without a thread
    too_many_blocks,   ///< of more than the device takes, in a dimension or at once
    too_many_threads,  ///< in a block
    shared_memory,     ///< more of it than the kernel may use
    clusters,          ///< that the device does not form
    no_host_memory,    ///< a copy to or from the host that is given memory of the device for the host's
  };
  Cause cause = Cause::other;
  std::string kernel;  ///< of a launch
  std::string text;    ///< one sentence
};

/// One launch that ran (or was refused): geometry and time.
struct LaunchRecord {
  std::string kernel;
  Index3 grid{}, block{};
  std::uint64_t shared_bytes = 0;
  std::uint32_t stream = 0;  ///< 0: the default one; 1: the caller's of a session; others as they come
  int error = 0;             ///< the runtime's error code; 0 is success
  double seconds = 0;
  std::uint64_t thread_steps = 0;  ///< times that a thread was started or resumed
  std::uint64_t blocks = 0;        ///< that ran: fewer than the grid has where they were sampled
  bool watched = false;            ///< judged: the module is watched, and the run's filters let it be
  bool side_by_side = false;       ///< watched with its blocks on several cores; the reports are those of one
};

}  // namespace isomer::emulator
