#include "core/registry.hpp"
#include "ops/sin/sin.hpp"

namespace isomer::core {

const Registry& Registry::builtin() {
  static const Registry registry = [] {
    Registry r;
    r.add(ops::sin::contract(), ops::sin::cpu());
    return r;
  }();
  return registry;
}

}  // namespace isomer::core
