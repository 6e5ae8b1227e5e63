#pragma once
#include "../isomer_emulator/hip_runtime.h"
#define API(NAME) hip##NAME
#include "../isomer_emulator/gl_interop.inc"
#undef API
