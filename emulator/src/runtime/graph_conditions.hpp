// Values that kernels set and that nodes of graphs with bodies ask for.
#pragma once

#include <vector>

namespace isomer::emulator::graph_conditions {

unsigned long long make(unsigned initial);
/// A graph is launched: these get their first value again.
void begin(const std::vector<unsigned long long>& conditions);

}  // namespace isomer::emulator::graph_conditions
