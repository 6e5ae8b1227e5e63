#pragma once
#include "../isomer_emulator/cooperative_groups.h"
