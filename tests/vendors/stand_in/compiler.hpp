#pragma once

#include <string>
#include <vector>

#include "image.hpp"

namespace isomer::stand_in {

/// What a program handle of NVRTC or hipRTC points to.
struct Program {
  Image image;
  std::string log, code;
};

enum class Compiled { ok = 0, invalid_option = 5, error = 6 };  // as NVRTC and hipRTC number them

Program* create(const char* kind, int lanes, const char* text, const char* name, int headers,
                const char* const* texts, const char* const* names);
/// `architecture` is the option that names it: "--gpu-architecture=".
Compiled compile(Program& program, const std::string& architecture, int count, const char* const* options);

}  // namespace isomer::stand_in
