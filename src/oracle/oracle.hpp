#pragma once

#include "oracle/case.hpp"
#include "oracle/expected.hpp"
#include "oracle/original.hpp"
#include "oracle/problem.hpp"
#include "oracle/variation.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

/// The lab's half of an op: its cases, how a case becomes a problem, and the reference. Never in the shipped
/// library.
namespace isomer::oracle {

struct Oracle {
  const core::Contract* contract = nullptr;
  const CaseSchema* schema = nullptr;  ///< a static object: cases keep a pointer to it
  /// The ordinary case list, without seeds.
  std::function<std::vector<Case>()> cases;
  /// Fills problem.args(), problem.options(), and binds the call.
  std::function<void(const Case&, Problem&)> make;
  /// Slow, obvious, exact or in double: fills `expected` for the call's CPU tensors. Source of truth.
  std::function<void(const core::Call&, const Variations&, Expected&)> reference;
  std::vector<Variation> variations;
  /// A few cases that stand for real work, for `bench`.
  std::function<std::vector<Case>()> bench_cases;
  /// The same for a GPU, as case lines.
  std::vector<const char*> device_bench_lines = {};
  /// Coverage cells of a case beyond dtype, layout and regime, as "feature" names; pairs of them are counted
  /// for attention.
  std::function<std::vector<std::string>(const Case&)> features = {};
  /// Why two features never meet in one valid case; "" where they may. Null: any two may.
  std::function<std::string(const std::string&, const std::string&)> cannot_meet = {};
  /// The kernels that the op comes from, as their callers know them: the usual one first.
  std::vector<Original> originals = {};
};

/// Every op of the library, in the order of `isomer ops` (src/ops/oracles.cpp).
const std::vector<Oracle>& oracles();
const Oracle* find_oracle(std::string_view op);

/// Parses a whole line, op first. Throws Error bad_argument that names the ops there are.
Case parse_case(std::string_view line);

/// An implementation made of a reference: what tests plant. Writes the reference's values, rounded to each
/// output's dtype.
void run_reference(const Oracle& oracle, const core::Call& call, const Variations& variations);
/// Writes what a reference gave into the outputs of the call.
void write_values(const core::Call& call, const Expected& expected);

}  // namespace isomer::oracle
