// The process that runs the user's code: reads a request, does it, answers. Signals become sentences.
#pragma once

extern "C" {
__attribute__((visibility("default"))) int isomer_emulator_runner(int request_fd, int response_fd);
/// Becomes another program in a room of its own: contain/room.hpp.
__attribute__((visibility("default"))) int isomer_emulator_contain(int count, char** words);
/// Becomes another program in a cgroup: `group` is the file that its processes are written to.
__attribute__((visibility("default"))) int isomer_emulator_join(const char* group, char** words);
/// Whether this is the process of a runner whose user's code is running, and no copy that it made of itself.
__attribute__((visibility("default"))) int isomer_emulator_in_program();
/// The user's code ends the process: what was found until now is the answer.
[[noreturn]] __attribute__((visibility("default"))) void isomer_emulator_program_exits(int status);
}
