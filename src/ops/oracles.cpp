#include "core/oracle/oracle.hpp"
#include "ops/sin/oracle.hpp"

namespace isomer::core {

const std::vector<Oracle>& oracles() {
  static const std::vector<Oracle> list = {
      ops::sin::oracle(),
  };
  return list;
}

}  // namespace isomer::core
