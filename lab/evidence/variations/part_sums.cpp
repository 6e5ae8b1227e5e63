#include "lab/evidence/variations/part_sums.hpp"

#include "lab/evidence/variations/changed_answers.hpp"
#include "oracle/part_of_threads.hpp"

#include <fmt/format.h>

namespace isomer::lab {
namespace {

/// A sum of an op, by the beginning of the variations that leave threads out of it.
struct Summed {
  std::string_view op, prefix, said, what;
};
constexpr Summed kSums[] = {
    {"attention", "depth=", "q·k is summed over", "elements of the head dimension"},
    {"attention", "sum=", "the sum that divides has in it", "keys"},
    {"flash_decode", "depth=", "q·k is summed over", "elements of the head dimension"},
    {"flash_decode", "sum=", "the sum that divides has in it", "keys of a block"},
    {"flash_decode_stage1", "depth=", "q·k is summed over", "elements of the head dimension"},
    {"flash_decode_stage1", "sum=", "the sum that divides has in it", "keys of a block"},
    {"fp8_gemm", "k=", "a·b is summed over", "elements of K"},
    {"grouped_fp8_gemm", "k=", "a·b is summed over", "elements of K"},
};

/// Whether all answers are right with the variation, and how many elements it takes to make them so.
bool explains(const Port& port, const Numbers& numbers, const std::string& name, std::size_t& changed) {
  changed = 0;
  for (const Evidence& evidence : numbers.evidence) {
    const oracle::Expected expected = varied(*evidence.given, *port.oracle, oracle::Variations({name}));
    for (std::size_t t = 0; t < expected.tensors.size(); ++t)
      for (std::size_t i = 0; i < expected.tensors[t].value.size(); ++i) {
        const oracle::ExpectedTensor& want = expected.tensors[t];
        if (evidence.given->open[t][i] || !want.written[i]) continue;
        if (!holds(want, i, evidence.outputs[t][i])) return false;
        changed += !holds(evidence.given->plain.tensors[t], i, evidence.outputs[t][i]);
      }
  }
  return true;
}

}  // namespace

std::optional<Finding> sum_of_a_part(const Port& port, const Numbers& numbers) {
  constexpr std::size_t kEnough = 16;
  for (const Summed& sum : kSums) {
    if (sum.op != port.op) continue;
    for (const std::string& name : oracle::parts_of_threads(sum.prefix)) {
      std::size_t changed = 0;
      if (!explains(port, numbers, name, changed) || changed < kEnough) continue;
      const oracle::PartOfThreads part = oracle::part_of_threads(oracle::Variations({name}), sum.prefix);
      Finding finding;
      finding.code = Code::other_reduction;
      finding.argument = numbers.evidence.front().given->plain.tensors.front().name;
      finding.decides = true;
      finding.evidence = fmt::format(
          "{} the first {} of every {} {} alone, as where the rest of the threads do not reach it: so all of "
          "{} calls are right, {} elements of which are wrong otherwise",
          sum.said, part.part, part.of, sum.what, numbers.evidence.size(), changed);
      finding.fix =
          "reduce over all lanes and all warps: begin with half of the warp's width, and add what "
          "every warp has";
      return finding;
    }
  }
  if (port.op.ends_with("fp8_gemm"))
    for (const char* step : {"16", "32", "64"}) {
      std::size_t changed = 0;
      if (!explains(port, numbers, std::string("k=whole-") + step, changed) || changed < kEnough) continue;
      Finding finding;
      finding.code = Code::tail_mask;
      finding.argument = numbers.evidence.front().given->plain.tensors.front().name;
      finding.decides = true;
      finding.evidence = fmt::format(
          "a·b is summed over whole steps of {} elements of K alone: so all of {} calls are right, {} "
          "elements of "
          "which are wrong otherwise",
          step, numbers.evidence.size(), changed);
      finding.fix = "count ceil(K / step) steps, and mask the last";
      return finding;
    }
  std::size_t changed = 0;
  if (port.op != "attention" || !explains(port, numbers, "sum=of-own-half-warp", changed) ||
      changed < kEnough)
    return std::nullopt;
  Finding finding;
  finding.code = Code::other_reduction;
  finding.argument = numbers.evidence.front().given->plain.tensors.front().name;
  finding.decides = true;
  finding.evidence = fmt::format(
      "each half of a warp divides by the sum over its own 16 of every 32 keys: so all of {} calls are "
      "right, {} "
      "elements of which are wrong otherwise",
      numbers.evidence.size(), changed);
  finding.fix =
      "begin the exchange between lanes with half of the warp's width: __shfl_xor_sync by 16, 8, 4, 2, 1";
  return finding;
}

}  // namespace isomer::lab
