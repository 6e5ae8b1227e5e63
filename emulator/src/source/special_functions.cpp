// The special functions of C++17's <cmath>, which are slow to compile: whether a source names one.
#include <set>
#include <string_view>

#include "source/rewrite.hpp"

namespace isomer::emulator::source {

bool names_special_function(const Text& text) {
  static const std::set<std::string_view> names = {
      "assoc_laguerre", "assoc_legendre", "beta",         "comp_ellint_1", "comp_ellint_2", "comp_ellint_3",
      "cyl_bessel_i",   "cyl_bessel_j",   "cyl_bessel_k", "cyl_neumann",   "ellint_1",      "ellint_2",
      "ellint_3",       "expint",         "hermite",      "laguerre",      "legendre",      "riemann_zeta",
      "sph_bessel",     "sph_legendre",   "sph_neumann"};
  const auto& t = text.tokens;
  for (std::size_t i = 1; i + 1 < t.size(); ++i) {
    if (t[i].kind != Token::name || t[i].text.size() < 4) continue;
    // Each has forms for float and long double with a letter behind.
    const char last = t[i].text.back();
    const bool ends_so = last == 'f' || last == 'l';
    if (!names.count(t[i].text) && !(ends_so && names.count(t[i].text.substr(0, t[i].text.size() - 1))))
      continue;
    // `beta` is many a variable's name.
    if (t[i].text.size() > 5 || t[i - 1].is("::") || t[i + 1].is("(")) return true;
  }
  return false;
}

}  // namespace isomer::emulator::source
