// The device's memory, errors and time by the runtime's own functions, for the process that makes the calls.
#pragma once

#include "launch.h"

namespace isomer::emulator::device {

/// Holds what is launched after it until the host has launched all there is: the time between two marks is
/// the device's, not the host's. A million cycles are half a millisecond and more.
static __global__ void isomer_device_hold(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}
constexpr long long kHeldCycles = 1000000;

struct Marks {
  ISOMER_DEVICE_API(Event_t) begin = nullptr, end = nullptr;
  Marks() {
    static_cast<void>(ISOMER_DEVICE_API(EventCreate)(&begin));
    static_cast<void>(ISOMER_DEVICE_API(EventCreate)(&end));
  }
};
inline Marks& marks() {
  static Marks both;
  return both;
}

inline int name(char* text, std::uint64_t bytes) {
  ISOMER_DEVICE_PROPERTIES properties;
  const int error = ISOMER_DEVICE_API(GetDeviceProperties)(&properties, 0);
  std::uint64_t i = 0;
  for (; error == 0 && i + 1 < bytes && properties.name[i] != 0; ++i) text[i] = properties.name[i];
  text[i] = 0;
  return error;
}
inline int allocate(void** out, std::uint64_t bytes) { return ISOMER_DEVICE_API(Malloc)(out, bytes); }
inline int release(void* p) { return ISOMER_DEVICE_API(Free)(p); }
inline int copy(void* to, const void* from, std::uint64_t bytes) {
  return ISOMER_DEVICE_API(Memcpy)(to, from, bytes, ISOMER_DEVICE_API(MemcpyDefault));
}
inline int fill(void* to, int byte, std::uint64_t bytes) {
  return ISOMER_DEVICE_API(Memset)(to, byte, bytes);
}
inline int wait() { return ISOMER_DEVICE_API(DeviceSynchronize)(); }
inline int last_error() { return ISOMER_DEVICE_API(GetLastError)(); }
inline const char* error_text(int error) {
  return ISOMER_DEVICE_API(GetErrorString)(static_cast<ISOMER_DEVICE_API(Error_t)>(error));
}
inline int begin_timing() {
  const Marks& both = marks();
  isomer_device_hold<<<1, 1>>>(kHeldCycles);
  return ISOMER_DEVICE_API(EventRecord)(both.begin, nullptr);
}
inline int end_timing(double* seconds) {
  const Marks& both = marks();
  float milliseconds = 0;
  int error = ISOMER_DEVICE_API(EventRecord)(both.end, nullptr);
  if (error == 0) error = ISOMER_DEVICE_API(EventSynchronize)(both.end);
  if (error == 0) error = ISOMER_DEVICE_API(EventElapsedTime)(&milliseconds, both.begin, both.end);
  *seconds = static_cast<double>(milliseconds) * 1e-3;
  return error;
}

inline const bool registered = [] {
#if defined(__HIPCC__)
  constexpr const char* kRuntime = "HIP";
#else
  constexpr const char* kRuntime = "CUDA";
#endif
  static const DeviceTable table{kRuntime, &name,       &allocate,   &release,      &copy,      &fill,
                                 &wait,    &last_error, &error_text, &begin_timing, &end_timing};
  isomer_emulator_register_device(&table);
  return true;
}();

}  // namespace isomer::emulator::device
