// Error codes of the two runtimes (the numbers are the same in both) and the sentence behind the latest one.
#pragma once

#include <string>
#include <vector>

#include "isomer/emulator/report.hpp"

namespace isomer::emulator {

namespace error {
inline constexpr int success = 0, invalid_value = 1, out_of_memory = 2, invalid_configuration = 9,
                     invalid_symbol = 13, invalid_device_pointer = 17, invalid_memcpy_direction = 21,
                     launch_max_depth_exceeded = 65, invalid_device_function = 98, no_device = 100,
                     invalid_device = 101, invalid_image = 200, invalid_ptx = 218, file_not_found = 301,
                     invalid_handle = 400, not_found = 500, not_ready = 600, illegal_address = 700,
                     launch_out_of_resources = 701, launch_timeout = 702, assertion = 710,
                     launch_failure = 719, cooperative_launch_too_large = 720, not_permitted = 800,
                     not_supported = 801;
}

/// Notes an error for the next hipGetLastError / cudaGetLastError and keeps what was refused, where a sentence
/// says it. Returns the code.
int refuse(int code, Refusal refusal);
int refuse(int code, std::string sentence);
/// What was refused since the last call, oldest first.
std::vector<Refusal> take_refusals();
/// The first of those that refused memory; empty where none did.
std::string take_shortage();
int last_error(bool clear);
const char* describe(int code);

}  // namespace isomer::emulator
