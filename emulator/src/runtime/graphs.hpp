// Graphs of both runtimes, and the captures that fill them.
#pragma once

namespace isomer::emulator {

/// A stream or event that is destroyed: what gets its address next is another.
void forget_captured(const void* handle);

}  // namespace isomer::emulator
