// PTX as C++.
#pragma once

#include <map>
#include <string>

namespace isomer::emulator::source {

struct PtxAsCpp {
  std::string text;
  std::string refused;  ///< the instruction that the table lacks; empty where there is none
};
/// `operands`: what %0, %1, … are called.
PtxAsCpp translated_ptx(const std::string& text, std::map<std::string, std::string> operands);

/// Instructions of AMD's devices as PTX's, or the first one that has none.
struct PtxOfGcn {
  std::string text, refused;
};
PtxOfGcn ptx_of_gcn(const std::string& text);

}  // namespace isomer::emulator::source
