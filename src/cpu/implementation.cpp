#include "cpu/implementation.hpp"

#include "core/sentence.hpp"

namespace isomer::cpu {

Implementation::Implementation(Target target, unsigned targets)
    : target_(target), targets_(targets), name_("cpu/" + std::string(name_of(target))) {}

std::string Implementation::unavailable() const {
  // The CPU may well have what is forced: then it is the op that lacks it.
  if (const auto forced = forced_target();
      forced && why_not(*forced).empty() && (targets_ >> static_cast<int>(*forced) & 1) == 0)
    return core::say("ISOMER_CPU=", name_of(*forced), " is set, and the op has no code for it");
  return why_not(target_);
}

}  // namespace isomer::cpu
