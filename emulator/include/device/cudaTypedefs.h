#pragma once
#include "isomer_emulator/driver.h"
