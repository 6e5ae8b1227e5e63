#include "lab/report/findings_document.hpp"

#include "lab/findings/finding.hpp"

#include <fmt/format.h>

namespace isomer::lab {
namespace {

const char* basis_of(Strength strength) {
  switch (strength) {
    case Strength::proved:
      return "the answer is bit-equal to the reference with these variations on all calls, and the inputs "
             "tell "
             "this set of variations from every other set that is not larger; only for ops whose arithmetic "
             "is "
             "exact";
    case Strength::consistent:
      return "the answer is within the op's tolerance of the reference with these variations, at least eight "
             "times the tolerance away from the plain reference, and no other set is as close";
    case Strength::observed:
      return "a probe or an experiment observed the fault";
    case Strength::nearest:
      return "the closest set that was found, with the remaining difference; a cause only where a second "
             "call "
             "confirms it";
    case Strength::unobservable:
      break;
  }
  return "the source has the fault, but no finite input can show it next to the other faults";
}

/// The first that is said of a folder's test or instruction.
constexpr Code kOfTests = Code::nothing_compared;

}  // namespace

std::string findings_document() {
  std::string text =
      "# What `isomer check PATH` finds\n\n"
      "Every finding has a code, the argument that it concerns (if any), a strength, its evidence, a place "
      "in the "
      "source and a fix. Findings are\n"
      "listed in the order in which they are best fixed: a fault that hides all others comes first. "
      "`isomer check --codes` prints this page.\n\n"
      "| strength | what it rests on |\n|---|---|\n";
  for (const Strength each : {Strength::proved, Strength::consistent, Strength::observed, Strength::nearest,
                              Strength::unobservable})
    text += fmt::format("| `{}` | {} |\n", name_of(each), basis_of(each));
  constexpr const char* kHead = "\n## Of {}\n\n| code | meaning |\n|---|---|\n";
  text += fmt::format(kHead, "a candidate");
  for (const Code code : finding_codes()) {
    if (code == kOfTests) text += fmt::format(kHead, "a folder's test and instruction");
    text += fmt::format("| `{}` | {} |\n", name_of(code), meaning_of(code));
  }
  return text;
}

}  // namespace isomer::lab
