#pragma once

#include <string>
#include <vector>

namespace isomer::lab {

/// One named thing that is not the same on both sides. A side that lacks it is empty.
struct Difference {
  std::string name, a, b;
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
    time,       ///< slower or faster beyond the noise
  };
  Kind kind = Kind::same;
  std::string a, b;  ///< canonical names
  std::vector<Difference> differences;
};

/// What two captures or two binaries have to say to each other.
struct DiffResult {
  /// On top of every report, most important first: what probably happened and what to look at next.
  std::vector<std::string> verdict;
  std::vector<Pair> pairs;  ///< in the order of A; reports sort by kind
  std::vector<std::string> only_a, only_b;
  /// What the sources could not tell, so that "same" is never read into what is absent.
  std::vector<std::string> notes;

  bool same() const;
};

/// "variant", as in the JSON.
const char* word(Pair::Kind kind);

}  // namespace isomer::lab
