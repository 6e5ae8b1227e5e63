#include "lab/findings/finding.hpp"

#include "core/sentence.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace isomer::lab {
namespace {

struct Code {
  std::string_view name, meaning;
};

/// In the order in which faults are best fixed: what stops everything else from being seen comes first, then
/// what a fix of later ones would have to be done again for. What is said of tests and instructions is last.
constexpr Code kCodes[] = {
    {"does-not-compile", "the source does not compile"},
    {"symbol-name", "the entry is exported under another name than the caller uses"},
    {"argument-count", "the entry takes another number of arguments than the original"},
    {"argument-order", "the entry takes the arguments in another order than the original"},
    {"result-order", "the results come back in another order than the original's"},
    {"keyword-name", "an argument has another name than the keyword that its callers use"},
    {"argument-default", "an argument that callers leave out has another default than the original's"},
    {"argument-kind",
     "an argument is of another kind: a tensor instead of a number, or a number instead of a tensor"},
    {"dtype-refused", "a dtype that the original takes is refused"},
    {"dtype-reinterpreted", "the bytes of one dtype are read as another"},
    {"rank-refused", "a tensor of the original's rank is refused, or a dimension is invented"},
    {"shape-refused", "sizes that the original takes are refused"},
    {"layout-convention", "the axes are in another order than in the original"},
    {"timeout", "the call does not end"},
    {"crash", "the call ends its process"},
    {"resource-limit", "the call takes more memory, files or processes than it may"},
    {"launch-failed", "a device would refuse the launch"},
    {"host-touches-device-memory", "host code reads or writes device memory by its address"},
    {"ignores-index", "an index tensor is ignored"},
    {"out-of-bounds-write", "memory outside a buffer is written"},
    {"out-of-bounds-read", "memory outside a tensor is read"},
    {"missing-barrier",
     "threads of a block access the same shared memory without a barrier between the accesses"},
    {"race", "two threads access one address in no defined order, and at least one of them writes"},
    {"warp-size", "the answer depends on the number of lanes of a warp"},
    {"uninitialised-read", "memory that nothing has written is read"},
    {"writes-input", "an input is changed"},
    {"assumes-contiguous", "strides are ignored"},
    {"ignores-offset", "the offset of a view into its storage is ignored"},
    {"ignores-argument", "the answer is wrong, and an argument has no influence on it"},
    {"tail-mask", "the end of a size that is not a multiple of a block is left out or overrun"},
    {"unwritten-output", "elements of an output are not written"},
    {"empty-input", "an empty tensor is not handled"},
    {"stale-state", "a call depends on the calls before it"},
    {"wrong-stream", "work is done on another stream than the caller's"},
    {"mask-alignment", "the causal mask or a window is aligned at the wrong end, or is off by one"},
    {"head-mapping", "query heads are mapped to the wrong kv heads"},
    {"inverted-condition", "true and false are exchanged"},
    {"tie-rule", "another one of several equal values is chosen"},
    {"off-by-one",
     "an index, a bound or an answer is one too large or too small, or a first element is left out"},
    {"missing-scale", "a scale factor is missing, or is not the original's"},
    {"missing-term", "something that is added or subtracted is missing, or is not the original's"},
    {"other-reduction",
     "rows are reduced to another number than in the original, such as a mean instead of a sum"},
    {"log-base", "a logarithm or exponential has the wrong base"},
    {"missing-max-subtraction", "exponentials are taken without subtracting the maximum"},
    {"missing-rescale", "sums that were made under a smaller maximum are not rescaled to the larger one"},
    {"missing-absolute", "a maximum is taken of the values, not of their magnitudes"},
    {"rounding-mode", "values are rounded in another way"},
    {"scale-precision", "a scale is used with another precision than the original's"},
    {"approximation", "a function is computed by another formula, or approximated otherwise"},
    {"intermediate-precision", "an intermediate result has another precision"},
    {"reciprocal-multiply", "a division is replaced by a multiplication with a rounded reciprocal"},
    {"clamp", "values are clamped to another range"},
    {"saturation", "values outside the range of a type wrap, or saturate at another value"},
    {"zero-guard", "a guard against zero changes the answer"},
    {"epsilon", "a small constant differs"},
    {"nan-inf", "NaN or infinity is not propagated, or comes where the original has a number"},
    {"index-overflow", "an index is computed in 32 bits and wraps"},
    {"no-kernel", "no kernel of its own computes the answer: the host does"},
    {"library-call", "no kernel of its own computes the answer: a library's operator does"},
    {"nondeterministic", "two runs of one call differ"},
    {"slow", "it is slower than the original"},
    {"unexplained", "the answer is wrong for a reason that no experiment found"},
    {"convention", "another convention than the op's, as well-known kernels have it: a remark, no fault"},
    {"benign-race",
     "threads store to one address in no order, and the answer is right in every order tried: a remark, no "
     "fault"},
    {"suspicious", "formally undefined, and right as hardware runs it: a remark, no fault"},
    {"nothing-compared", "the test compares nothing, or a check in it cannot fail"},
    {"output-not-compared", "an output is computed and never compared"},
    {"weak-input", "the inputs cannot show a fault that they should"},
    {"duplicate-index", "two writes have the same destination, so the answer is not defined"},
    {"index-out-of-range", "an index points outside the tensor that it indexes"},
    {"undefined-result", "the original's own answer is NaN or not defined"},
    {"unseeded", "inputs are drawn from a generator without a seed"},
    {"contradicts-label", "a statement about the call contradicts what the label does"},
};

constexpr std::size_t kCount = std::size(kCodes);

std::size_t rank_of(std::string_view code) {
  const auto* at =
      std::find_if(std::begin(kCodes), std::end(kCodes), [&](const Code& each) { return each.name == code; });
  return static_cast<std::size_t>(at - std::begin(kCodes));
}

}  // namespace

bool is_remark(const Finding& finding) {
  return finding.code == "convention" || finding.code == "benign-race" || finding.code == "suspicious";
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

const std::vector<std::string_view>& finding_codes() {
  static const std::vector<std::string_view> list = [] {
    std::vector<std::string_view> names;
    for (const Code& code : kCodes) names.push_back(code.name);
    return names;
  }();
  return list;
}

std::string_view meaning_of(std::string_view code) {
  const std::size_t rank = rank_of(code);
  if (rank == kCount) core::fail(ErrorCode::internal, "finding: there is no code '", code, "'");
  return kCodes[rank].meaning;
}

void order(std::vector<Finding>& findings) {
  // What cannot be observed needs no fix before what can.
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    const auto key = [](const Finding& f) {
      return std::tuple(f.subject, f.strength == Strength::unobservable, rank_of(f.code));
    };
    return key(a) < key(b);
  });
}

void add_once(std::vector<Finding>& list, Finding finding) {
  const bool known = std::any_of(list.begin(), list.end(), [&](const Finding& each) {
    return each.code == finding.code &&
           (finding.code == "suspicious" ||
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
