// The kernels that the loaded modules define.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "isomer_emulator/abi.h"

namespace isomer::emulator {

/// By name as written (`ns::kernel`, `kernel`, `kernel<float, 4>`), or by address; null where there is none.
const KernelEntry* find_kernel(std::string_view name);
/// Of the module that dlopen gave this handle: several modules of one process may define kernels of one name.
const KernelEntry* find_kernel(std::string_view name, void* module);
const KernelEntry* find_kernel(const void* function);
std::vector<const KernelEntry*> all_kernels();

/// v, p, c for each parameter (value, pointer, pointer to const); empty where unknown.
/// Whether a kernel goes by that name: with or without its scope and its template arguments.
bool is_named(std::string_view kernel, std::string_view name);
std::string_view parameter_kinds(std::string_view kernel);

std::size_t max_dynamic_shared(const void* function, std::string_view kernel);
void set_max_dynamic_shared(const void* function, std::size_t bytes);

int launch(const LaunchRequest& request);
/// What is known of kernels by their addresses goes with the module whose image begins there.
void forget_addresses_of(const void* image);

}  // namespace isomer::emulator
