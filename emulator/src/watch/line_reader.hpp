// A process that reads debug information for others, which may start none themselves.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace isomer::emulator::watch {

/// Starts addr2line for one library. It ends with the last process that holds this one's ends of its pipes.
/// Does nothing where it cannot be started: then no lines are told.
void start_line_reader(const std::string& library);
/// Its process; 0 where none runs.
pid_t line_reader();

/// What addr2line -a -i writes for these addresses of that library, line by line; empty where no reader was
/// started for it, or where it does not answer.
std::vector<std::string> read_lines(const std::string& library, const std::vector<std::uintptr_t>& addresses);

}  // namespace isomer::emulator::watch
