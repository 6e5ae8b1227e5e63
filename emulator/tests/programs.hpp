// Programs as others write them: each holds, and ends with status 0.
#pragma once

#include <vector>

namespace isomer::emulator::tests {

struct Written {
  const char* name;
  const char* file;
  const char* text;
};

std::vector<Written> programs_of_the_runtime();

}  // namespace isomer::emulator::tests
