#include "lab/audit/parts.hpp"

#include "lab/text/read_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace isomer::lab {
namespace {

using nlohmann::json;

std::int64_t number_in(const json& entry, const char* key) {
  const auto at = entry.find(key);
  return at != entry.end() && at->is_number_integer() ? at->get<std::int64_t>() : -1;
}

std::string text_in(const json& entry, const char* key) {
  const auto at = entry.find(key);
  return at != entry.end() && at->is_string() ? at->get<std::string>() : "";
}

/// Elements where the argument is known, else bytes: what `bytes` from its memory's begin is.
std::string place_in(const RecordedCall& call, const std::string& argument, std::int64_t bytes,
                     std::int64_t holds) {
  const Value* value = argument_of(call.before, argument);
  if (value == nullptr || !value->is_tensor())
    return fmt::format("byte {} of an argument that has {} bytes", bytes, holds);
  const std::int64_t size = size_of(value->tensor.dtype);
  const std::string which = fmt::format("element {} of {}", bytes / size, argument);
  return bytes < 0 ? which + ", before its first element"
                   : fmt::format("{}, which has {} elements", which, holds / size);
}

}  // namespace

void audit_outside(const CaseFolder& folder, const Recording& recording, std::vector<Finding>& findings) {
  const auto found = recording.metadata.find("outside");
  if (found == recording.metadata.end()) return;
  const json list = read_json(found->second);
  if (!list.is_array()) return;
  std::set<std::string> told;  // one finding for each argument
  std::set<std::int64_t> calls;
  // What an index that is told already leads to is no second fault.
  std::set<int> lines;
  for (const Finding& each : findings)
    if (each.code == Code::index_out_of_range) lines.insert(each.location.line);
  for (const json& each : list) {
    const std::int64_t number = each.is_object() ? number_in(each, "call") : -1;
    // The first leads to the others.
    if (number < 0 || number >= static_cast<std::int64_t>(recording.calls.size()) ||
        !calls.insert(number).second)
      continue;
    const RecordedCall& call = recording.calls[static_cast<std::size_t>(number)];
    const std::string argument = text_in(each, "argument");
    if (lines.count(line_of(call)) > 0 || !told.insert(argument).second) continue;
    const auto matters = each.find("matters");
    Finding finding;
    finding.code = Code::index_out_of_range;
    finding.subject = Subject::test;
    finding.argument = argument;
    finding.location = {folder.test.string(), line_of(call)};
    finding.evidence = fmt::format(
        "{}: the label's kernel {} {} {}{}",
        call.group.empty() ? call.function : fmt::format("{} ({})", call.function, call.group),
        text_in(each, "kernel"), text_in(each, "access"),
        argument.empty() ? "memory that belongs to none of its arguments"
                         : place_in(call, argument, number_in(each, "bytes"), number_in(each, "holds")),
        matters != each.end() && *matters == false ? "; its answer does not depend on it" : "");
    finding.fix = argument.empty()
                      ? "keep the numbers from which the label computes addresses within its arguments"
                      : fmt::format("make {} as large as the label's accesses need, or mask them", argument);
    findings.push_back(std::move(finding));
  }
}

}  // namespace isomer::lab
