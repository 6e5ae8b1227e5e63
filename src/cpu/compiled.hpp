#pragma once

#include "cpu/target.hpp"

namespace isomer::cpu {

/// Why this build has no code for the target, which ISOMER_CPU_TARGETS=native left out; empty where it has.
std::string not_compiled(Target target);

}  // namespace isomer::cpu
