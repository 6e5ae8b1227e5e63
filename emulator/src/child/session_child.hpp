// The process of a session: holds the module, and makes a copy of itself for each call.
#pragma once

extern "C" {
/// Serves requests on the session's socket until it closes; the setup stands at the begin of the arena.
__attribute__((visibility("default"))) int isomer_emulator_session();

/// Whether the user's code is running: what it calls then is its own doing.
__attribute__((visibility("default"))) int isomer_emulator_in_user_code();
/// It was about to end the process (`status`) or to start another one (`what`): the call ends here.
[[noreturn]] __attribute__((visibility("default"))) void isomer_emulator_user_exits(int status);
[[noreturn]] __attribute__((visibility("default"))) void isomer_emulator_user_spawns(const char* what);
/// Remembers from where the latest exception was thrown.
__attribute__((visibility("default"))) void isomer_emulator_user_throws();
}
