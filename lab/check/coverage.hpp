#pragma once

#include "lab/check/suite.hpp"

#include <map>
#include <string>
#include <vector>

namespace isomer::lab {

/// How many checked cases fall into each cell.
struct Coverage {
  struct Axis {
    std::string name;                                ///< "dtype", "layout", "regime", "features"
    std::vector<std::pair<std::string, int>> cells;  ///< every value that the op's cases can have
  };
  struct Pair {
    std::string a, b;
    int cases = 0;
    std::string cannot_meet;  ///< why not, where the op says so
  };
  struct Op {
    std::string op;
    std::vector<Axis> axes;
    std::vector<Pair> pairs;  ///< of features
  };
  std::vector<Op> ops;
  /// Cells and pairs with no checked case, as "op: axis value".
  std::vector<std::string> holes() const;
};

/// Of the outcomes that passed or failed; a case counts once whatever the number of implementations.
Coverage coverage(const Suite& suite);

}  // namespace isomer::lab
