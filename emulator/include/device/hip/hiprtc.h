// hipRTC's names for what compiles sources while the program runs.
#pragma once
#include <cstddef>
#include <cstring>

#include "../isomer_emulator/code_objects.h"
#define RTC(name) hiprtc##name
#define RTC_NAME(name) HIPRTC_##name
#define RTC_MAJOR 9
#include "../isomer_emulator/rtc_api.inc"
ISOMER_RTC_TEXT(GetCodeSize, GetCode, isomer_emulator_program_code)
ISOMER_RTC_TEXT(GetBitcodeSize, GetBitcode, isomer_emulator_program_code)
#undef ISOMER_RTC_TEXT
#undef RTC_MAJOR
#undef RTC_NAME
#undef RTC
