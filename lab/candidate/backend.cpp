#include "lab/candidate/candidate.hpp"

namespace isomer::lab {

const char* name_of(Backend backend) {
  constexpr const char* names[] = {"emulated", "cuda", "hip"};
  return names[static_cast<int>(backend)];
}

}  // namespace isomer::lab
