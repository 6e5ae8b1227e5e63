// Texture references (`texture<float, 2> t;`): whether a source has one. Only then has the word that meaning,
// since many a program has a variable of that name.
#include "source/rewrite.hpp"

namespace isomer::emulator::source {

bool names_texture_reference(const Text& text) {
  const auto& t = text.tokens;
  for (std::size_t i = 0; i + 1 < t.size(); ++i) {
    if (t[i].is("textureReference")) return true;
    if (!t[i].is("texture") || !t[i + 1].is("<")) continue;
    if (i == 0 || (!t[i - 1].is("::") && !t[i - 1].is(".") && !t[i - 1].is("->"))) return true;
  }
  return false;
}

}  // namespace isomer::emulator::source
