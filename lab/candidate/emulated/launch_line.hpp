#pragma once

#include "lab/candidate/candidate.hpp"
#include "lab/candidate/emulated/expression.hpp"

#include <isomer/emulator/module.hpp>

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace isomer::lab {

/// The geometry of the first line in `source` that launches this kernel (`name<<<…>>>(…)` or
/// hipLaunchKernelGGL), or where none does, that a comment says, evaluated over the arguments of the call:
/// what the line passes to the kernel, the sizes of its tensors, and the constants, macros and locals that
/// stand before it. Nothing where there is none or it cannot be evaluated.
std::optional<emulator::Geometry> geometry_of_launch_line(const Entry& kernel, const std::string& source,
                                                          const std::vector<Value>& arguments);

/// Of a name: an integer argument, or x.size(0), x.shape[0], x.numel() of a tensor.
Resolve arguments_by_name(const Entry& kernel, const std::vector<Value>& arguments);

/// Which host functions launch kernels, by themselves or through others, and which are called by others, by
/// their names in the source.
struct Launching {
  std::set<std::string> functions, called;
};
Launching launching_functions(const std::vector<Entry>& entries);

}  // namespace isomer::lab
