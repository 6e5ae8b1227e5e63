#pragma once
#include "isomer_emulator/sparse.h"
