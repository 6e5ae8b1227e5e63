// In front of a source that is compiled for a real device: its functions become callable by name from
// outside, and the process that calls them learns how that device's memory is had.
#pragma once

#include "../../device/isomer_emulator/entries.h"
#include "table.h"
