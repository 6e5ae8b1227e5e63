#include "lab/binary/sass_opcodes.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace isomer::lab {
namespace {

struct Opcode {
  std::uint16_t code;
  const char* name;
};

// NOTES: found by disassembling FlashAttention-3's kernels for sm_80 and sm_90a and small ones for sm_75 to
// sm_120a with nvdisasm 12.9 beside their bytes. Bits 9 to 11 only say where the operands are: each of these
// had one name for all of their values. What was not seen there stays a number.
constexpr std::array<Opcode, 112> kOpcodes{{{0x002, "MOV"},
                                            {0x003, "P2R"},
                                            {0x004, "R2P"},
                                            {0x005, "CS2R"},
                                            {0x006, "VOTE"},
                                            {0x007, "SEL"},
                                            {0x008, "FSEL"},
                                            {0x009, "FMNMX"},
                                            {0x00b, "FSETP"},
                                            {0x00c, "ISETP"},
                                            {0x010, "IADD3"},
                                            {0x011, "LEA"},
                                            {0x012, "LOP3"},
                                            {0x013, "IABS"},
                                            {0x016, "PRMT"},
                                            {0x017, "IMNMX"},
                                            {0x019, "SHF"},
                                            {0x01c, "PLOP3"},
                                            {0x020, "FMUL"},
                                            {0x021, "FADD"},
                                            {0x023, "FFMA"},
                                            {0x024, "IMAD"},
                                            {0x025, "IMAD"},
                                            {0x027, "IMAD"},
                                            {0x02d, "PREEXIT"},
                                            {0x02e, "ACQBULK"},
                                            {0x02f, "ELECT"},
                                            {0x030, "HADD2"},
                                            {0x031, "HFMA2"},
                                            {0x035, "HFMA2"},
                                            {0x036, "VIADD"},
                                            {0x03b, "LDSM"},
                                            {0x03c, "HMMA"},
                                            {0x03e, "F2FP"},
                                            {0x044, "STSM"},
                                            {0x045, "I2FP"},
                                            {0x046, "VIADDMNMX"},
                                            {0x048, "VIMNMX"},
                                            {0x082, "UMOV"},
                                            {0x086, "VOTEU"},
                                            {0x087, "USEL"},
                                            {0x08c, "UISETP"},
                                            {0x090, "UIADD3"},
                                            {0x091, "ULEA"},
                                            {0x092, "ULOP3"},
                                            {0x096, "UPRMT"},
                                            {0x099, "USHF"},
                                            {0x09a, "USGXT"},
                                            {0x0a4, "UIMAD"},
                                            {0x0a5, "UIMAD"},
                                            {0x0b9, "ULDC"},
                                            {0x0bb, "ULDC"},
                                            {0x0bd, "UFLO"},
                                            {0x0bf, "UPOPC"},
                                            {0x0ca, "R2UR"},
                                            {0x100, "FLO"},
                                            {0x102, "FCHK"},
                                            {0x105, "F2I"},
                                            {0x106, "I2F"},
                                            {0x108, "MUFU"},
                                            {0x109, "POPC"},
                                            {0x111, "F2I"},
                                            {0x112, "I2F"},
                                            {0x118, "NOP"},
                                            {0x119, "S2R"},
                                            {0x11a, "DEPBAR"},
                                            {0x11b, "ENDCOLLECTIVE"},
                                            {0x11d, "BAR"},
                                            {0x141, "BSYNC"},
                                            {0x143, "CALL"},
                                            {0x144, "CALL"},
                                            {0x145, "BSSY"},
                                            {0x146, "YIELD"},
                                            {0x147, "BRA"},
                                            {0x148, "WARPSYNC"},
                                            {0x14d, "EXIT"},
                                            {0x150, "RET"},
                                            {0x15d, "NANOSLEEP"},
                                            {0x180, "LD"},
                                            {0x181, "LDG"},
                                            {0x182, "LDC"},
                                            {0x183, "LDL"},
                                            {0x184, "LDS"},
                                            {0x185, "ST"},
                                            {0x186, "STG"},
                                            {0x187, "STL"},
                                            {0x188, "STS"},
                                            {0x189, "SHFL"},
                                            {0x18c, "ATOMS"},
                                            {0x18f, "CCTL"},
                                            {0x192, "MEMBAR"},
                                            {0x1a7, "SYNCS"},
                                            {0x1a8, "ATOMG"},
                                            {0x1ac, "LDCU"},
                                            {0x1ae, "LDGSTS"},
                                            {0x1af, "LDGDEPBAR"},
                                            {0x1b0, "ARRIVES"},
                                            {0x1b2, "SYNCS"},
                                            {0x1b4, "UTMALDG"},
                                            {0x1b5, "UTMASTG"},
                                            {0x1b7, "UTMACMDFLUSH"},
                                            {0x1b8, "UTMAPF"},
                                            {0x1b9, "UTMACCTL"},
                                            {0x1c2, "R2UR"},
                                            {0x1c3, "S2UR"},
                                            {0x1c4, "REDUX"},
                                            {0x1c5, "WARPGROUP"},
                                            {0x1c6, "FENCE"},
                                            {0x1c7, "UCGABAR"},
                                            {0x1c8, "USETMAXREG"},
                                            {0x1f0, "HGMMA"},
                                            {0x1f3, "QGMMA"}}};

}  // namespace

std::string opcode_name(std::uint16_t field) {
  const std::uint16_t code = field & 0x1ff;
  const auto found =
      std::lower_bound(kOpcodes.begin(), kOpcodes.end(), code,
                       [](const Opcode& opcode, std::uint16_t wanted) { return opcode.code < wanted; });
  if (found != kOpcodes.end() && found->code == code) return found->name;
  char number[8];
  std::snprintf(number, sizeof number, "0x%03x", code);
  return number;
}

std::vector<BinaryKernel::OpcodeCount> count_opcodes(const Bytes& code) {
  std::array<std::uint32_t, 512> counts{};
  const std::uint8_t* const data = code.data();
  for (std::uint64_t at = 0; code.size() - at >= 16; at += 16)
    ++counts[(data[at] | data[at + 1] << 8) & 0x1ff];
  std::vector<BinaryKernel::OpcodeCount> met;
  for (std::uint16_t opcode = 0; opcode < counts.size(); ++opcode)
    if (counts[opcode] > 0) met.push_back({opcode, counts[opcode]});
  return {met.begin(), met.end()};
}

std::map<std::string, std::uint32_t> instructions_of(const BinaryKernel& kernel) {
  std::map<std::string, std::uint32_t> histogram;
  for (const auto& [opcode, count] : kernel.opcodes) histogram[opcode_name(opcode)] += count;
  return histogram;
}

}  // namespace isomer::lab
