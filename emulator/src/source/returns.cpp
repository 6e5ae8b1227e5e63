// `return;` in device code tells that its thread leaves early. A thread that runs off a kernel's end while
// others wait at a barrier has left that barrier out; one that returned in front of it is done, as devices
// since Volta have it.
#include "source/rewrite.hpp"

namespace isomer::emulator::source {

void mark_early_returns(Source& s) {
  const auto& t = s.text.tokens;
  for (const Function& f : s.outline.functions) {
    if (!f.definition || !(f.global || f.device) || f.constant_expression) continue;
    for (std::size_t i = f.body; i + 1 < f.end; ++i)
      if (t[i].is("return") && t[i + 1].is(";")) s.edits.insert(t[i].end(), " ::isomer::emulator::returns()");
  }
}

}  // namespace isomer::emulator::source
