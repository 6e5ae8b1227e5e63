#include "lab/audit/audit.hpp"
#include "lab/audit/parts.hpp"

#include <cstdlib>

namespace isomer::lab {

const Value* argument_of(const std::vector<Value>& arguments, const std::string& name) {
  for (const Value& each : arguments)
    if (each.name == name) return &each;
  return nullptr;
}

int line_of(const RecordedCall& call) {
  const auto colon = call.group.rfind(':');
  return colon == std::string::npos ? 0 : std::atoi(call.group.c_str() + colon + 1);
}

std::string calls_in_words(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " call" : " calls");
}

std::vector<Finding> audit(const CaseFolder& folder, const Recording& recording) {
  std::vector<Finding> findings;
  const std::optional<Facts> facts = facts_of(recording);
  if (facts) audit_test_text(folder, recording, *facts, findings);
  audit_test_values(folder, recording, facts ? &*facts : nullptr, findings);
  audit_outside(folder, recording, findings);
  audit_instruction(folder, recording, facts ? &*facts : nullptr, findings);
  return findings;
}

}  // namespace isomer::lab
