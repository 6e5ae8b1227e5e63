#include "oracle/guards.hpp"

#include <cstdlib>
#include <string>

namespace isomer::oracle {

float number_in(std::string_view text) { return std::strtof(std::string(text).c_str(), nullptr); }

float added_to_maximum(const Variations& vary) { return number_in(vary.after("added=amax-")); }

bool adds(const Variations& vary) { return !vary.after("added=").empty(); }

float guarded(float most, float scale, const Variations& vary) {
  if (const std::string_view added = vary.after("added=scale-"); !added.empty()) scale += number_in(added);
  if (const std::string_view least = vary.after("zero_guard=scale-"); !least.empty())
    scale = scale < number_in(least) ? number_in(least) : scale;
  if (const std::string_view below = vary.after("zero_guard=below-"); !below.empty()) {
    // "1e-3-1": the minus behind the first number, not that of its exponent.
    const std::string text(below);
    char* rest = nullptr;
    const float limit = std::strtof(text.c_str(), &rest);
    if (most < limit && *rest == '-') return number_in(rest + 1);
  }
  if (const std::string_view zeros = vary.after("zero_guard=zeros-"); !zeros.empty() && most == 0)
    return number_in(zeros);
  return scale;
}

}  // namespace isomer::oracle
