#include "source/ptx_operands.hpp"

#include <cctype>

#include "source/ptx_table.hpp"

namespace isomer::emulator::source {

std::string PtxOperands::operand(const std::string& text) const {
  if (const auto known = known_.find(text); known != known_.end()) return known->second;
  if (const auto special = ptx_registers().find(text); special != ptx_registers().end())
    return special->second;
  if (text.rfind("0f", 0) == 0 || text.rfind("0F", 0) == 0) return "as<f32>(u32(0x" + text.substr(2) + "))";
  if (text.rfind("0d", 0) == 0 || text.rfind("0D", 0) == 0) return "as<f64>(u64(0x" + text.substr(2) + "))";
  if (!text.empty() && (std::isdigit(text[0]) || (text[0] == '-' && text.size() > 1)))
    return "(" + text + ")";
  throw Unknown{};
}

Words PtxOperands::vector(const std::string& text) const {
  Words parts;
  if (text.empty() || text[0] != '{') return {operand(text)};
  for (const std::string& part : split(text.substr(1, text.size() - 2), ',')) parts.push_back(operand(part));
  return parts;
}

std::string PtxOperands::address(const std::string& text) const {
  if (text.size() < 3 || text[0] != '[') throw Unknown{};
  const std::string inside = text.substr(1, text.size() - 2);
  const auto plus = inside.find('+');
  std::string at = "as<u64>(" + operand(trimmed(inside.substr(0, plus))) + ")";
  if (plus != std::string::npos) at += " + u64(" + operand(trimmed(inside.substr(plus + 1))) + ")";
  return at;
}

}  // namespace isomer::emulator::source
