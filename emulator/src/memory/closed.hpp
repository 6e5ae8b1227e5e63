// Device memory is closed while the user's host code runs: a device's could not be touched from there either.
// It is open in launches, and in the copies of the runtime. Managed memory is never closed.
#pragma once

#include "memory/memory.hpp"

namespace isomer::emulator::closed {

/// From now on: closes all buffers of the device.
void begin();
/// Opens them for good.
void end();
bool is_closed();

/// A buffer that was made while they are closed.
void close(Buffer& made);

/// While one lives the memory is open. Nests.
class Open {
 public:
  Open();
  ~Open();
  Open(const Open&) = delete;
  Open& operator=(const Open&) = delete;

 private:
  bool counted_;
};

/// In a handler: opens what is closed until the next Open ends; whether the address lay in it.
bool open_for(const void* address);

}  // namespace isomer::emulator::closed
