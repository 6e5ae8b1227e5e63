// CUB's loads and stores of a block's items. Whatever way they take on a device, a thread ends up with
// consecutive items, or, striped, with every item one block apart.
#pragma once

#include "cub_operators.h"
#include "cub_warp.h"

namespace cub {

enum BlockLoadAlgorithm {
  BLOCK_LOAD_DIRECT,
  BLOCK_LOAD_STRIPED,
  BLOCK_LOAD_VECTORIZE,
  BLOCK_LOAD_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED
};
enum BlockStoreAlgorithm {
  BLOCK_STORE_DIRECT,
  BLOCK_STORE_STRIPED,
  BLOCK_STORE_VECTORIZE,
  BLOCK_STORE_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
};

namespace detail {
ISOMER_EMULATOR_INLINE int item_of_thread(int item, int items, int threads, bool striped) {
  const int linear = static_cast<int>(linear_thread());
  return striped ? linear + item * threads : linear * items + item;
}
}  // namespace detail

template <class T, int X, int Items, BlockLoadAlgorithm Algorithm = BLOCK_LOAD_DIRECT, int Y = 1, int Z = 1,
          int Arch = 0>
class BlockLoad {
 public:
  struct TempStorage {
    char unused;
  };
  BlockLoad() = default;
  ISOMER_CUB explicit BlockLoad(TempStorage&) {}
  template <class From>
  ISOMER_CUB void Load(From from, T (&items)[Items]) {
    for (int i = 0; i < Items; ++i) items[i] = from[at(i)];
  }
  template <class From>
  ISOMER_CUB void Load(From from, T (&items)[Items], int valid) {
    for (int i = 0; i < Items; ++i)
      if (at(i) < valid) items[i] = from[at(i)];
  }
  template <class From, class Other>
  ISOMER_CUB void Load(From from, T (&items)[Items], int valid, Other otherwise) {
    for (int i = 0; i < Items; ++i)
      items[i] = at(i) < valid ? static_cast<T>(from[at(i)]) : static_cast<T>(otherwise);
  }

 private:
  ISOMER_CUB static int at(int i) {
    return detail::item_of_thread(i, Items, X * Y * Z, Algorithm == BLOCK_LOAD_STRIPED);
  }
};

template <class T, int X, int Items, BlockStoreAlgorithm Algorithm = BLOCK_STORE_DIRECT, int Y = 1, int Z = 1,
          int Arch = 0>
class BlockStore {
 public:
  struct TempStorage {
    char unused;
  };
  BlockStore() = default;
  ISOMER_CUB explicit BlockStore(TempStorage&) {}
  template <class To>
  ISOMER_CUB void Store(To to, T (&items)[Items]) {
    for (int i = 0; i < Items; ++i) to[at(i)] = items[i];
  }
  template <class To>
  ISOMER_CUB void Store(To to, T (&items)[Items], int valid) {
    for (int i = 0; i < Items; ++i)
      if (at(i) < valid) to[at(i)] = items[i];
  }

 private:
  ISOMER_CUB static int at(int i) {
    return detail::item_of_thread(i, Items, X * Y * Z, Algorithm == BLOCK_STORE_STRIPED);
  }
};

}  // namespace cub
