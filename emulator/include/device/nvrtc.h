// NVRTC's names for what compiles sources while the program runs.
#pragma once
#include <cstddef>
#include <cstring>

#include "isomer_emulator/code_objects.h"
#define RTC(name) nvrtc##name
#define RTC_NAME(name) NVRTC_##name
#define RTC_MAJOR 12
#include "isomer_emulator/rtc_api.inc"
ISOMER_RTC_TEXT(GetPTXSize, GetPTX, isomer_emulator_program_code)
ISOMER_RTC_TEXT(GetCUBINSize, GetCUBIN, isomer_emulator_program_code)
ISOMER_RTC_TEXT(GetLTOIRSize, GetLTOIR, isomer_emulator_program_code)
#undef ISOMER_RTC_TEXT
#undef RTC_MAJOR
#undef RTC_NAME
#undef RTC
static inline nvrtcResult nvrtcGetNumSupportedArchs(int* count) {
  *count = 1;
  return NVRTC_SUCCESS;
}
static inline nvrtcResult nvrtcGetSupportedArchs(int* architectures) {
  *architectures = 90;
  return NVRTC_SUCCESS;
}
