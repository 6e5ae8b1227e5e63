#pragma once
#include "isomer_emulator/wmma.h"
