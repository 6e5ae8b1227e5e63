// Where the loaded modules lie, and which of their variables the device may name.
#pragma once

#include <cstddef>
#include <string>

#include "isomer_emulator/abi.h"

namespace isomer::emulator {

enum class ImageAccess { outside, image, constant_symbol };

/// Whether an address belongs to the image of a module or of a library loaded beside it.
ImageAccess classify_image(const void* address, std::size_t bytes);

void add_symbol(const SymbolEntry& entry);
/// The variable that begins at `address`, or null.
const SymbolEntry* find_symbol(const void* address);
void forget_module(const void* any_address);

}  // namespace isomer::emulator
