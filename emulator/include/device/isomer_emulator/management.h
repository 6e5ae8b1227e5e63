// NVML's names for the one device there is: what it is called and how large it is. Clocks are those of its properties;
// what only a running device has (power, temperature, load) is not supported, as on a device that does not measure it.
#pragma once

#include <cstdio>
#include <cstring>

#include "cuda_runtime.h"

#define NVML_API_VERSION 12
#define NVML_DEVICE_NAME_BUFFER_SIZE 64
#define NVML_DEVICE_NAME_V2_BUFFER_SIZE 96
#define NVML_DEVICE_UUID_BUFFER_SIZE 80
#define NVML_DEVICE_PCI_BUS_ID_BUFFER_SIZE 32
#define NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE 80

enum nvmlReturn_t {
  NVML_SUCCESS = 0,
  NVML_ERROR_UNINITIALIZED = 1,
  NVML_ERROR_INVALID_ARGUMENT = 2,
  NVML_ERROR_NOT_SUPPORTED = 3,
  NVML_ERROR_NO_PERMISSION = 4,
  NVML_ERROR_NOT_FOUND = 6,
  NVML_ERROR_INSUFFICIENT_SIZE = 7,
  NVML_ERROR_UNKNOWN = 999
};
enum nvmlClockType_t { NVML_CLOCK_GRAPHICS = 0, NVML_CLOCK_SM = 1, NVML_CLOCK_MEM = 2, NVML_CLOCK_VIDEO = 3 };
enum nvmlTemperatureSensors_t { NVML_TEMPERATURE_GPU = 0 };
enum nvmlEnableState_t { NVML_FEATURE_DISABLED = 0, NVML_FEATURE_ENABLED = 1 };
struct nvmlUtilization_t {
  unsigned int gpu, memory;
};
struct nvmlMemory_t {
  unsigned long long total, free, used;
};
typedef struct isomer_emulator_managed_device* nvmlDevice_t;

namespace isomer::emulator::management {

inline nvmlDevice_t the_device() {
  static char device;
  return reinterpret_cast<nvmlDevice_t>(&device);
}
inline bool is_known(nvmlDevice_t device) { return device == the_device(); }
inline cudaDeviceProp properties() {
  cudaDeviceProp p;
  cudaGetDeviceProperties(&p, 0);
  return p;
}
inline nvmlReturn_t say(const char* text, char* to, unsigned room) {
  if (to == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  if (std::strlen(text) + 1 > room) return NVML_ERROR_INSUFFICIENT_SIZE;
  std::strcpy(to, text);
  return NVML_SUCCESS;
}

}  // namespace isomer::emulator::management

static inline nvmlReturn_t nvmlInit() { return NVML_SUCCESS; }
static inline nvmlReturn_t nvmlInitWithFlags(unsigned int) { return NVML_SUCCESS; }
static inline nvmlReturn_t nvmlShutdown() { return NVML_SUCCESS; }
static inline const char* nvmlErrorString(nvmlReturn_t result) {
  switch (result) {
    case NVML_SUCCESS: return "Success";
    case NVML_ERROR_UNINITIALIZED: return "Uninitialized";
    case NVML_ERROR_INVALID_ARGUMENT: return "Invalid Argument";
    case NVML_ERROR_NOT_SUPPORTED: return "Not Supported";
    case NVML_ERROR_NO_PERMISSION: return "Insufficient Permissions";
    case NVML_ERROR_NOT_FOUND: return "Not Found";
    case NVML_ERROR_INSUFFICIENT_SIZE: return "Insufficient Size";
    default: return "Unknown Error";
  }
}
static inline nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned int room) {
  return isomer::emulator::management::say("525.60.13", version, room);
}
static inline nvmlReturn_t nvmlDeviceGetCount(unsigned int* count) {
  *count = 1;
  return NVML_SUCCESS;
}
static inline nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned int index, nvmlDevice_t* device) {
  if (index != 0) return NVML_ERROR_INVALID_ARGUMENT;
  *device = isomer::emulator::management::the_device();
  return NVML_SUCCESS;
}
static inline nvmlReturn_t nvmlDeviceGetHandleByPciBusId(const char* written, nvmlDevice_t* device) {
  int at = -1;
  if (cudaDeviceGetByPCIBusId(&at, written) != cudaSuccess) return NVML_ERROR_NOT_FOUND;
  return nvmlDeviceGetHandleByIndex(static_cast<unsigned>(at), device);
}
static inline nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned int* index) {
  if (!isomer::emulator::management::is_known(device)) return NVML_ERROR_INVALID_ARGUMENT;
  *index = 0;
  return NVML_SUCCESS;
}
static inline nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char* name, unsigned int room) {
  if (!isomer::emulator::management::is_known(device)) return NVML_ERROR_INVALID_ARGUMENT;
  return isomer::emulator::management::say(isomer::emulator::management::properties().name, name, room);
}
static inline nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t* memory) {
  if (!isomer::emulator::management::is_known(device)) return NVML_ERROR_INVALID_ARGUMENT;
  std::size_t free = 0, total = 0;
  cudaMemGetInfo(&free, &total);
  *memory = {total, free, total - free};
  return NVML_SUCCESS;
}
static inline nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int* major, int* minor) {
  if (!isomer::emulator::management::is_known(device)) return NVML_ERROR_INVALID_ARGUMENT;
  const cudaDeviceProp p = isomer::emulator::management::properties();
  *major = p.major, *minor = p.minor;
  return NVML_SUCCESS;
}
/// In MHz.
static inline nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t which, unsigned int* clock) {
  if (!isomer::emulator::management::is_known(device)) return NVML_ERROR_INVALID_ARGUMENT;
  const cudaDeviceProp p = isomer::emulator::management::properties();
  *clock = static_cast<unsigned>((which == NVML_CLOCK_MEM ? p.memoryClockRate : p.clockRate) / 1000);
  return NVML_SUCCESS;
}
static inline nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, nvmlClockType_t which, unsigned int* clock) {
  return nvmlDeviceGetClockInfo(device, which, clock);
}
static inline nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t, unsigned int*) { return NVML_ERROR_NOT_SUPPORTED; }
static inline nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t, unsigned long long*) {
  return NVML_ERROR_NOT_SUPPORTED;
}
static inline nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t, nvmlTemperatureSensors_t, unsigned int*) {
  return NVML_ERROR_NOT_SUPPORTED;
}
static inline nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t, nvmlUtilization_t*) {
  return NVML_ERROR_NOT_SUPPORTED;
}
#define nvmlInit_v2 nvmlInit
#define nvmlDeviceGetCount_v2 nvmlDeviceGetCount
#define nvmlDeviceGetHandleByIndex_v2 nvmlDeviceGetHandleByIndex
#define nvmlDeviceGetHandleByPciBusId_v2 nvmlDeviceGetHandleByPciBusId
