// Where the loaded modules lie, and which of their variables the device may name.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "isomer_emulator/abi.h"
#include "memory/memory.hpp"

namespace isomer::emulator {

/// Whether an address belongs to the image of a module or of a library loaded beside it.
bool in_image(const void* address);

void add_symbol(const SymbolEntry& entry);
/// The variable that begins at `address`, or null.
const SymbolEntry* find_symbol(const void* address);
/// The one of that name of the module whose image begins there, or null; without its scope where no other has it.
const SymbolEntry* find_symbol(std::string_view name, const void* image);
/// The device variable that holds the address, or in whose guard bytes it lies; null for all else. Constant
/// memory is marked as an input.
Buffer* variable_at(const void* address);
void for_each_variable(const std::function<void(const Buffer&)>& visit);
constexpr std::size_t kVariableGuard = 256;
void forget_module(const void* any_address);

}  // namespace isomer::emulator
