// The variables that a function's body declares, as far as its text shows them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "source/rewrite.hpp"

namespace isomer::emulator::source {

struct Local {
  std::size_t name = 0;            ///< its token
  std::size_t end = 0;             ///< the semicolon of its declaration
  std::size_t block = 0;           ///< the brace that closes what it lives in
  std::vector<std::size_t> sizes;  ///< the opening brackets behind the name
  bool indirect = false;           ///< a pointer or a reference
  bool initialised = false;
  bool of_loop = false;     ///< declared in the head of a loop
  bool arithmetic = false;  ///< of a type that is spelled in words of the language, and not volatile
};

std::vector<Local> locals_of(const Source& source, const Function& function);

}  // namespace isomer::emulator::source
