// What CUB's collectives are given to combine with.
#pragma once

#include "cuda_functional.h"
#include "device.h"

#define ISOMER_CUB __attribute__((always_inline)) inline

namespace cub {

struct NullType {};

#define ISOMER_CUB_OPERATOR(NAME, EXPRESSION)               \
  struct NAME {                                             \
    template <class T>                                      \
    ISOMER_CUB T operator()(const T& a, const T& b) const { \
      return EXPRESSION;                                    \
    }                                                       \
  };
ISOMER_CUB_OPERATOR(Sum, a + b)
ISOMER_CUB_OPERATOR(Difference, a - b)
ISOMER_CUB_OPERATOR(Max, a < b ? b : a)
ISOMER_CUB_OPERATOR(Min, b < a ? b : a)
#undef ISOMER_CUB_OPERATOR

struct Equality {
  template <class T>
  ISOMER_CUB bool operator()(const T& a, const T& b) const {
    return a == b;
  }
};
struct Inequality {
  template <class T>
  ISOMER_CUB bool operator()(const T& a, const T& b) const {
    return a != b;
  }
};

template <class Key, class Value>
struct KeyValuePair {
  using K = Key;
  using V = Value;
  Key key;
  Value value;
  KeyValuePair() = default;
  ISOMER_CUB KeyValuePair(const Key& k, const Value& v) : key(k), value(v) {}
  ISOMER_CUB bool operator!=(const KeyValuePair& b) const { return value != b.value || key != b.key; }
};

/// The larger value, of equal ones that of the smaller key.
struct ArgMax {
  template <class K, class V>
  ISOMER_CUB KeyValuePair<K, V> operator()(const KeyValuePair<K, V>& a, const KeyValuePair<K, V>& b) const {
    return b.value > a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};
struct ArgMin {
  template <class K, class V>
  ISOMER_CUB KeyValuePair<K, V> operator()(const KeyValuePair<K, V>& a, const KeyValuePair<K, V>& b) const {
    return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};

}  // namespace cub
