#pragma once
#include "../isomer_emulator/sparse_roc.h"
