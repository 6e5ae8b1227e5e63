// How a session's process ended, where it did not answer as it should.
#pragma once

#include <sys/types.h>

#include <string>

#include "isomer/emulator/session.hpp"

namespace isomer::emulator {

/// How a process ended that has closed its end of the socket, as waitpid says it. It may go on for all that.
int end_of_process(pid_t process);
/// 0 where there is no such process.
pid_t parent_of(pid_t process);
/// Where the process ended with this status and left no answer.
CallResult silent_end(int status, const std::string& name);
/// Adds what a call that ended badly printed last: whoever gives up often says why before. An assertion of
/// host code that failed is how C refuses what it does not take.
void tell_last_words(CallResult& result, const std::string& printed);
/// The sentence, and the last line that was printed.
std::string with_last_line(std::string sentence, const std::string& printed);
/// Where what it left does not begin with the call's seal.
CallResult forged_end(const std::string& name);

}  // namespace isomer::emulator
