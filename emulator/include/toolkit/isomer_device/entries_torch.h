// The same for a PyTorch extension: its tensors lie on the device.
#pragma once

#include "../../device/isomer_emulator/entries_torch.h"
