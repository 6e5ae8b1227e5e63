#include "lab/capture/capture.hpp"

#include "core/sentence.hpp"

namespace isomer::lab {

std::string triple_text(const std::optional<std::array<std::uint32_t, 3>>& values) {
  if (!values) return {};
  return core::say((*values)[0], 'x', (*values)[1], 'x', (*values)[2]);
}

}  // namespace isomer::lab
