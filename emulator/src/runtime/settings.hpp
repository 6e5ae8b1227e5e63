// What holds for a whole run: chosen by the caller (or by the environment) before the first launch.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace isomer::emulator {

/// Which of a source's exchangeable expressions are others (isomer_emulator/edits.h); 0: none. A first number
/// of −1 asks which of them the call comes to.
void choose_edits(const std::array<int, 4>& numbers);
/// Whether one of them is another one.
bool is_edited();
/// Their numbers, since that was asked.
std::vector<int> reached_edits();

/// How the running program was built: what it compiles while it runs is read in the same way.
struct BuiltFrom {
  std::vector<std::string> folders;  ///< of its sources
  std::vector<std::string> include_directories, system_directories, definitions;
  std::string standard, compiler;
  bool device_math = false;
};

struct Settings {
  int lanes = 32;
  std::uint64_t seed = 0;
  bool watch = false;               ///< the module carries hooks, and they are obeyed
  int workers = 0;                  ///< 0: as many as the machine has cores
  std::uint64_t step_limit = 0;     ///< watched memory accesses of one launch; 0: none
  std::uint64_t blocks = 0;         ///< of a launch that run; 0: all
  bool kernels_idle = false;        ///< launches are taken, and none of their threads runs
  std::uint32_t most_threads = 0;   ///< of a block along x alone, whatever a launch asks for; 0: as it asks
  bool host_writes_unseen = false;  ///< the host writes device memory by itself: a library runs there
  bool allocation_refused = false;  ///< the program asked for more memory than the device has
  bool leaks = false;               ///< where memory was allocated is kept
  std::uint64_t first_watched = 1, last_watched = ~std::uint64_t{0};
  std::string watched_kernel;  ///< empty: any
  bool copies_by_role =
      false;         ///< what a copy calls the host's memory has to be it, as a session's callers ask
  bool hip = false;  ///< which vendor's limits and defaults hold
  std::uint64_t shared_limit = 0;  ///< 0: the vendor's own
  BuiltFrom built_from;
};

/// Process-wide. Reads ISOMER_EMULATOR_{LANES,SEED,WATCH,WORKERS,STEPS} at first use.
Settings& settings();

}  // namespace isomer::emulator
