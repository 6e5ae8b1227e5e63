#pragma once
#include "isomer_emulator/sparse_hip.h"
