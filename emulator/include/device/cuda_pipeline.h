#pragma once
#include "isomer_emulator/pipeline_primitives.h"
