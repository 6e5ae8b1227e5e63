#include "cpu/compiled.hpp"

#include "core/sentence.hpp"

namespace isomer::cpu {

std::string not_compiled([[maybe_unused]] Target target) {
#ifdef ISOMER_CPU_NATIVE
  const std::string_view native = ISOMER_CPU_NATIVE, name = name_of(target);
  if ((name == "avx2" || name == "avx512") && name != native)
    return core::say("this build has vector kernels for ", native == "scalar" ? "" : "scalar and ", native,
                     " alone; ISOMER_CPU_TARGETS=all compiles the others");
#endif
  return {};
}

}  // namespace isomer::cpu
