#pragma once
#include "../isomer_emulator/python_binding.h"
