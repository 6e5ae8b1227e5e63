// Streams, as a device has them: what one call's host code puts on which stream and what waits for what is
// noted, although here everything runs at once; then it is told which work nothing orders with the caller's.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "isomer/emulator/report.hpp"
#include "isomer_emulator/abi.h"
#include "memory/memory.hpp"

namespace isomer::emulator::stream_order {

/// The caller's stream of this process: made at the first call, no default one, and waiting for none. What
/// `isomer_emulator_current_stream` gives until the code sets another.
void* callers_stream();
/// A stream is there; `blocking`: it and the default stream wait for each other.
void created(void* stream, bool blocking);
/// 0 for the default stream, 1 for the caller's, others as they come.
std::uint32_t number_of(const void* stream);

/// From here on is one call, whose arguments lie in these buffers (null ones are left out).
void begin_call(const std::vector<Buffer*>& arguments);
void launched(const LaunchRequest& request, std::string_view parameter_kinds);
void released(const void* pointer);
void returned(const void* storage);
/// Work of the call that touches memory which the caller's stream writes before or reads after it, and that
/// nothing orders with it: one report for each place. `given`: the stream was passed; otherwise it is
/// PyTorch's current one, and what is right with the default stream as the caller's is so reported
/// (Kind::default_stream), unless the code has asked for the current one.
std::vector<Report> end_call(bool given);

}  // namespace isomer::emulator::stream_order
