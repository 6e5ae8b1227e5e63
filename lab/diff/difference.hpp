#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace isomer::lab {

/// One named thing that is not the same on both sides. A side that lacks it is empty.
struct Difference {
  std::string name, a, b;
};

/// Some of the layers of a model: of a sequence of launches that is repeated.
struct LayerShare {
  std::size_t layers = 0, of = 0;  ///< so many of so many; 0 of 0: none are known
  std::size_t first = 0;           ///< the first of them, from 1
  std::size_t launches = 0;        ///< of a layer
};

/// What differs at one place of the layers: kernels that one side alone launches there.
struct LayerChange {
  LayerShare where;
  std::string after, before;  ///< canonical names of the launches around it, which both sides have
  std::vector<std::string> only_a, only_b;  ///< canonical names, in order
  /// One step of the layer is done by other kernels on each side: they stand between the same launches in
  /// several layers, and appear on their side alone.
  bool replaces = false;
};

/// Two kernels or two launches that belong together, and the first level at which they differ.
struct Pair {
  enum class Kind {
    same,
    variant,    ///< other template parameters or build-time choices of one family
    geometry,   ///< grid, block, cluster, dynamic shared memory, launch attributes
    arguments,  ///< run-time parameters
    code,       ///< one name, other machine code: options, compiler, resources
    count,      ///< launched another number of times
    metric,     ///< a profiler's counters differ: instructions, bytes, stalls
    time,       ///< slower or faster beyond the noise
  };
  Kind kind = Kind::same;
  std::string a, b;  ///< canonical names
  std::vector<Difference> differences;
  LayerShare where;                 ///< the layers in which the two are launched in one another's place
  std::vector<Difference> unknown;  ///< bytes without a name that are not the same: never a verdict
};

/// One side as a whole.
struct SideTotals {
  std::string device, arch;           ///< "NVIDIA H200", "sm_90"; empty: unknown
  std::uint32_t multiprocessors = 0;  ///< 0: unknown
  std::uint64_t launches = 0, timed = 0;
  double total_ns = 0;
  std::string incomplete;  ///< why; empty: it is complete
};

/// The time of what belongs together on both sides: a kernel with what it is paired with, or an operator.
struct TimeRow {
  std::string name, name_b;  ///< shortened; name_b only where B's is another
  std::uint64_t launches_a = 0, launches_b = 0;
  double a_ns = 0, b_ns = 0;
  double share = 0,
         cumulative = 0;  ///< of what all rows differ by, without sign; of this row and those above

  std::vector<std::string> kernels_a,
      kernels_b;  ///< of an operator: their canonical names, most launched first

  double delta_ns() const { return b_ns - a_ns; }
};

/// What two captures or two binaries have to say to each other.
struct DiffResult {
  SideTotals totals_a, totals_b;            ///< of captures
  std::vector<TimeRow> kernels, operators;  ///< those that differ most first; empty: times are not known
  /// On top of every report, most important first: what probably happened and what to look at next.
  std::vector<std::string> verdict;
  std::vector<Pair> pairs;  ///< in the order of A; reports sort by kind
  std::vector<std::string> only_a, only_b;
  std::vector<LayerChange> layers;  ///< those in most layers first
  /// The two sides repeat one sequence of launches another number of times; 0: not so.
  std::size_t repeated_a = 0, repeated_b = 0, repeated_launches = 0;
  /// What the sources could not tell, so that "same" is never read into what is absent.
  std::vector<std::string> notes;

  bool same() const;
};

/// "variant", as in the JSON.
const char* word(Pair::Kind kind);

}  // namespace isomer::lab
