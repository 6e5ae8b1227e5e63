// Inline assembly of AMD's devices: instructions of one lane on words become those of PTX that do the same.
#include <array>
#include <map>
#include <sstream>

#include "source/ptx.hpp"

namespace isomer::emulator::source {
namespace {

struct Instruction {
  const char* ptx;
  bool turned = false;  ///< the second operand is the last one of PTX
};

const std::map<std::string, Instruction>& instructions() {
  static const std::map<std::string, Instruction> all = {
      {"v_mov_b32", {"mov.b32"}},
      {"v_not_b32", {"not.b32"}},
      {"v_add_f32", {"add.f32"}},
      {"v_sub_f32", {"sub.f32"}},
      {"v_mul_f32", {"mul.f32"}},
      {"v_fma_f32", {"fma.rn.f32"}},
      {"v_min_f32", {"min.f32"}},
      {"v_max_f32", {"max.f32"}},
      {"v_add_u32", {"add.u32"}},
      {"v_sub_u32", {"sub.u32"}},
      {"v_add_nc_u32", {"add.u32"}},
      {"v_sub_nc_u32", {"sub.u32"}},
      {"v_mul_lo_u32", {"mul.lo.u32"}},
      {"v_mul_hi_u32", {"mul.hi.u32"}},
      {"v_mul_hi_i32", {"mul.hi.s32"}},
      {"v_min_u32", {"min.u32"}},
      {"v_max_u32", {"max.u32"}},
      {"v_min_i32", {"min.s32"}},
      {"v_max_i32", {"max.s32"}},
      {"v_and_b32", {"and.b32"}},
      {"v_or_b32", {"or.b32"}},
      {"v_xor_b32", {"xor.b32"}},
      {"v_lshlrev_b32", {"shl.b32", true}},
      {"v_lshrrev_b32", {"shr.u32", true}},
      {"v_ashrrev_i32", {"shr.s32", true}},
  };
  return all;
}

/// Without the encoding that a name may end with.
std::string plain(std::string name) {
  for (const char* ending : {"_e32", "_e64"})
    if (name.size() > 4 && name.compare(name.size() - 4, 4, ending) == 0) name.resize(name.size() - 4);
  return name;
}

std::string without_blanks(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t\r"), end = text.find_last_not_of(" \t\r");
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

}  // namespace

PtxOfGcn ptx_of_gcn(const std::string& text) {
  PtxOfGcn result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    line = without_blanks(line.substr(0, line.find(';')));  // a comment begins there
    if (line.empty()) continue;
    const std::string name = line.substr(0, line.find_first_of(" \t"));
    const auto found = instructions().find(plain(name));
    if (found == instructions().end()) return {"", name};
    std::string operands = without_blanks(line.substr(name.size()));
    // A register by its own name is none of the statement's operands.
    for (std::size_t at = 0; at < operands.size();
         at = operands.find_first_not_of(" \t,", operands.find(',', at))) {
      if (operands.find_first_of("%-0123456789", at) != at) return {"", name};
    }
    if (found->second.turned) {
      // A shift names its distance first.
      const auto first = operands.find(','), second = operands.find(',', first + 1);
      if (second == std::string::npos) return {"", name};
      operands = operands.substr(0, first) + "," + operands.substr(second + 1) + "," +
                 operands.substr(first + 1, second - first - 1);
    }
    result.text += std::string(found->second.ptx) + " " + operands + ";\n";
  }
  return result;
}

}  // namespace isomer::emulator::source
