// The words that start a program in a room of its own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace isomer::emulator {

/// What a program may do there. A limit of 0 is none.
struct Room {
  bool sees_everything =
      false;  ///< reads every file (a compiler); otherwise the system's and `readable` alone
  std::vector<std::filesystem::path> readable, writable, hidden;
  std::uint64_t processor_seconds = 0;
  std::uint64_t memory_bytes = 0;  ///< of addresses, for each process
  std::uint64_t file_bytes = 0;    ///< of each file
  std::uint64_t processes = 0;     ///< at once, where the user is not root or a cgroup can be made
  bool real_device = false;        ///< has the machine's devices, and no namespaces
};

/// `command` as it is run in that room by isolation(); unchanged where that is none.
std::vector<std::string> in_room(const Room& room, std::vector<std::string> command);
/// The exit status of a program in a room as that of the program: bubblewrap says 128 + n of signal n.
int status_in_room(int status);

/// The end of the words above, in the process that becomes the program: `words` are limits and paths, a "--",
/// and the program. Returns an exit status where that fails.
int enter_room(int count, char** words);

}  // namespace isomer::emulator
