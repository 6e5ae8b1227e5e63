#pragma once
#include "isomer_emulator/management.h"
