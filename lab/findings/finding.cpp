#include "lab/findings/finding.hpp"

#include <algorithm>
#include <tuple>

namespace isomer::lab {

bool is_remark(const Finding& finding) {
  return finding.code == Code::convention || finding.code == Code::benign_race ||
         finding.code == Code::suspicious;
}

std::string said_against(const Finding& finding) {
  const std::string code = name_of(finding.code);
  return finding.argument.empty() ? code : code + " " + finding.argument;
}

const char* name_of(Subject subject) {
  constexpr const char* names[] = {"candidate", "test", "instruction"};
  return names[static_cast<int>(subject)];
}

const char* name_of(Strength strength) {
  constexpr const char* names[] = {"proved", "consistent", "observed", "nearest", "unobservable"};
  return names[static_cast<int>(strength)];
}

const char* name_of(Stage stage) {
  constexpr const char* names[] = {"not reached", "passed", "failed"};
  return names[static_cast<int>(stage)];
}

void order(std::vector<Finding>& findings) {
  // What cannot be observed needs no fix before what can.
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    const auto key = [](const Finding& f) {
      return std::tuple(f.subject, f.strength == Strength::unobservable, f.code);
    };
    return key(a) < key(b);
  });
}

void add_once(std::vector<Finding>& list, Finding finding) {
  const bool known = std::any_of(list.begin(), list.end(), [&](const Finding& each) {
    return each.code == finding.code &&
           (finding.code == Code::suspicious ||
            (each.argument == finding.argument && each.location.line == finding.location.line));
  });
  if (!known) list.push_back(std::move(finding));
}

std::string Diagnosis::verdict() const {
  if (!error.empty()) return "error";
  const bool wrong = std::any_of(findings.begin(), findings.end(), [](const Finding& f) {
    return f.subject == Subject::candidate && !is_remark(f);
  });
  if (wrong || compile == Stage::failed || call == Stage::failed || exec == Stage::failed) return "fail";
  return calls > 0 ? "pass" : "error";
}

}  // namespace isomer::lab
