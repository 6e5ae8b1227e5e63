// What the host may not touch yet: copies and kernels that streams were given and that nothing has waited
// for. Here they have ended; on a device they may still be under way. Only memory that both sides reach is
// judged: managed memory, pinned memory, and memory of the host that the program has registered.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "isomer/emulator/report.hpp"
#include "isomer_emulator/abi.h"
#include "watch/stream_clocks.hpp"

namespace isomer::emulator::watch::host_order {

using Moment = StreamClocks::Moment;

/// From here on is a program's own main.
void begin();
/// Whether there is something that host code may meet.
extern std::atomic<bool> any_under_way;

/// What the host asks for. `apart`: the streams that do not wait for the default one.
void asked(OrderStep what, const void* subject, const void* event, const std::set<const void*>& apart);
/// The work that this thread of the host has asked for last, for the call that does it; each only once.
std::optional<Moment> taken();
/// That work was to copy bytes, or to set them (`from` is null).
void copied(Moment work, const void* to, const void* from, std::size_t bytes);
/// That work was a kernel, whose accesses have the segments from `first` to the one before `end`.
void ran(Moment work, const std::string& kernel, std::uint32_t first, std::uint32_t end);

/// Host code touches memory; `how`: as in shadow.hpp.
void touched(const void* address, std::size_t bytes, unsigned how, const void* site);

}  // namespace isomer::emulator::watch::host_order
