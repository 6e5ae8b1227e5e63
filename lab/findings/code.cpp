#include "lab/findings/code.hpp"

#include <array>
#include <ostream>

namespace isomer::lab {
namespace {

struct Row {
  Code code;
  const char *name, *meaning;
};

constexpr std::array kRows = std::to_array<Row>({
    {Code::none, "", ""},
    {Code::does_not_compile, "does-not-compile", "the source does not compile"},
    {Code::symbol_name, "symbol-name", "the entry is exported under another name than the caller uses"},
    {Code::argument_count, "argument-count", "the entry takes another number of arguments than the original"},
    {Code::argument_order, "argument-order",
     "the entry takes the arguments in another order than the original, or two values of the source stand in "
     "each other's place"},
    {Code::result_order, "result-order", "the results come back in another order than the original's"},
    {Code::result_dtype, "result-dtype", "a result has another dtype than the original's"},
    {Code::keyword_name, "keyword-name",
     "an argument has another name than the keyword that its callers use"},
    {Code::argument_default, "argument-default",
     "an argument that callers leave out has another default than the original's"},
    {Code::argument_kind, "argument-kind",
     "an argument is of another kind: a tensor instead of a number, or a number instead of a tensor"},
    {Code::dtype_refused, "dtype-refused", "a dtype that the original takes is refused"},
    {Code::dtype_reinterpreted, "dtype-reinterpreted", "the bytes of one dtype are read as another"},
    {Code::rank_refused, "rank-refused",
     "a tensor of the original's rank is refused, or a dimension is invented"},
    {Code::shape_refused, "shape-refused",
     "sizes that the original takes are refused, or nothing is done for them"},
    {Code::layout_convention, "layout-convention", "the axes are in another order than in the original"},
    {Code::timeout, "timeout", "the call does not end"},
    {Code::assertion, "assertion", "an assertion in a kernel does not hold"},
    {Code::crash, "crash", "the call ends its process"},
    {Code::resource_limit, "resource-limit", "the call takes more memory, files or processes than it may"},
    {Code::launch_failed, "launch-failed", "a device would refuse the launch"},
    {Code::host_touches_device_memory, "host-touches-device-memory",
     "host code reads or writes device memory by its address"},
    {Code::ignores_index, "ignores-index", "an index tensor is ignored"},
    {Code::out_of_bounds_write, "out-of-bounds-write", "memory outside a buffer is written"},
    {Code::out_of_bounds_read, "out-of-bounds-read", "memory outside a tensor is read"},
    {Code::missing_barrier, "missing-barrier",
     "threads of a block access the same shared memory without a barrier between the accesses, or touch what "
     "a "
     "copy or product under way uses"},
    {Code::race, "race",
     "two threads access one address in no defined order, and at least one of them writes"},
    {Code::warp_size, "warp-size", "the answer depends on the number of lanes of a warp"},
    {Code::uninitialised_read, "uninitialised-read", "memory that nothing has written is read"},
    {Code::writes_input, "writes-input", "an input is changed"},
    {Code::assumes_contiguous, "assumes-contiguous", "strides are ignored"},
    {Code::ignores_offset, "ignores-offset", "the offset of a view into its storage is ignored"},
    {Code::ignores_argument, "ignores-argument",
     "the answer is wrong, and an argument has no influence on it"},
    {Code::tail_mask, "tail-mask",
     "the end of a size that is not a multiple of a block is left out or overrun"},
    {Code::unwritten_output, "unwritten-output", "elements of an output are not written"},
    {Code::empty_input, "empty-input", "an empty tensor is not handled"},
    {Code::stale_state, "stale-state", "a call, or a round of a loop, depends on what came before it"},
    {Code::wrong_stream, "wrong-stream", "work is done on another stream than the caller's"},
    {Code::mask_alignment, "mask-alignment",
     "the causal mask or a window is aligned at the wrong end, or is off by one"},
    {Code::head_mapping, "head-mapping", "query heads are mapped to the wrong kv heads"},
    {Code::inverted_condition, "inverted-condition", "true and false are exchanged"},
    {Code::tie_rule, "tie-rule", "another one of several equal values is chosen"},
    {Code::off_by_one, "off-by-one",
     "an index, a bound or an answer is one too large or too small, or a first element is left out"},
    {Code::missing_scale, "missing-scale", "a scale factor is missing, or is not the original's"},
    {Code::missing_term, "missing-term",
     "something that is added or subtracted is missing, or is not the original's"},
    {Code::other_reduction, "other-reduction",
     "rows are reduced to another number than in the original, such as a mean instead of a sum"},
    {Code::log_base, "log-base", "a logarithm or exponential has the wrong base"},
    {Code::missing_max_subtraction, "missing-max-subtraction",
     "exponentials are taken without subtracting the maximum"},
    {Code::missing_rescale, "missing-rescale",
     "sums that were made under a smaller maximum are not rescaled to the larger one"},
    {Code::missing_absolute, "missing-absolute", "a maximum is taken of the values, not of their magnitudes"},
    {Code::rounding_mode, "rounding-mode", "values are rounded in another way"},
    {Code::scale_precision, "scale-precision", "a scale is used with another precision than the original's"},
    {Code::approximation, "approximation",
     "a function is computed by another formula, or approximated otherwise"},
    {Code::intermediate_precision, "intermediate-precision", "an intermediate result has another precision"},
    {Code::reciprocal_multiply, "reciprocal-multiply",
     "a division is replaced by a multiplication with a rounded reciprocal"},
    {Code::clamp, "clamp", "values are clamped to another range"},
    {Code::saturation, "saturation", "values outside the range of a type wrap, or saturate at another value"},
    {Code::zero_guard, "zero-guard", "a guard against zero changes the answer"},
    {Code::epsilon, "epsilon", "a small constant differs"},
    {Code::nan_inf, "nan-inf", "NaN or infinity is not propagated, or comes where the original has a number"},
    {Code::index_overflow, "index-overflow", "an index is computed in 32 bits and wraps"},
    {Code::no_kernel, "no-kernel", "no kernel of its own computes the answer: the host does"},
    {Code::library_call, "library-call",
     "no kernel of its own computes the answer: a library's operator does"},
    {Code::nondeterministic, "nondeterministic", "two runs of one call differ"},
    {Code::slow, "slow", "it is slower than the original"},
    {Code::wrong_expression, "wrong-expression",
     "one edit of an expression of the source makes every call right"},
    {Code::unexplained, "unexplained", "the answer is wrong for a reason that no experiment found"},
    {Code::convention, "convention",
     "another convention than the op's, as well-known kernels have it: a remark, no fault"},
    {Code::benign_race, "benign-race",
     "threads store to one address in no order, and the answer is right in every order tried: a remark, no "
     "fault"},
    {Code::suspicious, "suspicious", "formally undefined, and right as hardware runs it: a remark, no fault"},
    {Code::nothing_compared, "nothing-compared", "the test compares nothing, or a check in it cannot fail"},
    {Code::output_not_compared, "output-not-compared", "an output is computed and never compared"},
    {Code::weak_input, "weak-input", "the inputs cannot show a fault that they should"},
    {Code::duplicate_index, "duplicate-index",
     "two writes have the same destination, so the answer is not defined"},
    {Code::index_out_of_range, "index-out-of-range", "an index points outside the tensor that it indexes"},
    {Code::undefined_result, "undefined-result", "the original's own answer is NaN or not defined"},
    {Code::unseeded, "unseeded", "inputs are drawn from a generator without a seed"},
    {Code::contradicts_label, "contradicts-label",
     "a statement about the call contradicts what the label does"},
});

/// A row lies where its code says.
constexpr bool in_order() {
  for (std::size_t i = 0; i < kRows.size(); ++i)
    if (static_cast<std::size_t>(kRows[i].code) != i) return false;
  return true;
}
static_assert(in_order() && kRows.back().code == Code::contradicts_label);

}  // namespace

const char* name_of(Code code) { return kRows.at(static_cast<std::size_t>(code)).name; }

const char* meaning_of(Code code) { return kRows.at(static_cast<std::size_t>(code)).meaning; }

std::optional<Code> code_named(std::string_view name) {
  for (const Code each : finding_codes())
    if (name == name_of(each)) return each;
  return std::nullopt;
}

const std::vector<Code>& finding_codes() {
  static const std::vector<Code> list = [] {
    std::vector<Code> codes;
    for (const Row& row : kRows)
      if (row.code != Code::none) codes.push_back(row.code);
    return codes;
  }();
  return list;
}

std::ostream& operator<<(std::ostream& out, Code code) { return out << name_of(code); }

}  // namespace isomer::lab
