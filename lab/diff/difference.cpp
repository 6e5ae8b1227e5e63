#include "lab/diff/difference.hpp"

#include <algorithm>

namespace isomer::lab {

bool DiffResult::same() const {
  return only_a.empty() && only_b.empty() && std::all_of(pairs.begin(), pairs.end(), [](const Pair& pair) {
           return pair.kind == Pair::Kind::same;
         });
}

const char* word(Pair::Kind kind) {
  switch (kind) {
    case Pair::Kind::same:
      return "same";
    case Pair::Kind::variant:
      return "variant";
    case Pair::Kind::geometry:
      return "geometry";
    case Pair::Kind::arguments:
      return "arguments";
    case Pair::Kind::code:
      return "code";
    case Pair::Kind::count:
      return "count";
    case Pair::Kind::metric:
      return "metric";
    case Pair::Kind::time:
      return "time";
  }
  return "";
}

}  // namespace isomer::lab
