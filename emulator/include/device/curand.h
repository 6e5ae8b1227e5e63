#pragma once
#include "isomer_emulator/random_host.h"
