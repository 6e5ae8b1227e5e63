// How a `__shared__` declaration is compiled: the rewriter turns `__shared__ float tile[32][33];` into a
// type, a site and a reference into the running block's memory.
#pragma once

#include "abi.h"

namespace isomer::emulator {

template <class T>
__attribute__((always_inline)) inline T& shared_variable(SharedSite& site) {
  return *static_cast<T*>(isomer_emulator_shared(&site));
}

template <class T>
__attribute__((always_inline)) inline T& dynamic_shared() {
  return *reinterpret_cast<T*>(isomer_emulator_dynamic_shared());
}

}  // namespace isomer::emulator
