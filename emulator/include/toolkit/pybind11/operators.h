#pragma once
#include "../../device/isomer_emulator/python_binding.h"
