// Cooperative groups: the thread block, tiles of a warp, the lanes that execute together, the grid.
#pragma once

#include "device.h"
#include "hopper.h"

namespace cooperative_groups {

namespace detail {
ISOMER_EMULATOR_INLINE unsigned linear_thread() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
ISOMER_EMULATOR_INLINE unsigned lane() { return linear_thread() % ISOMER_EMULATOR_LANES; }
}  // namespace detail

class thread_block {
 public:
  static constexpr unsigned _isomer_size = 0;
  void sync() const { isomer_emulator_barrier(0, 0); }
  unsigned thread_rank() const { return detail::linear_thread(); }
  unsigned size() const { return blockDim.x * blockDim.y * blockDim.z; }
  unsigned num_threads() const { return size(); }
  dim3 group_dim() const { return blockDim; }
  dim3 dim_threads() const { return blockDim; }
  dim3 group_index() const { return blockIdx; }
  dim3 thread_index() const { return threadIdx; }
  static bool is_valid() { return true; }
  unsigned char* _isomer_room = nullptr;  ///< where tiles of several warps exchange values
};
ISOMER_EMULATOR_INLINE thread_block this_thread_block() { return {}; }
/// Room for tiles of several warps, in shared memory.
template <unsigned MaxBlockSize = 1024>
struct block_tile_memory {
  static constexpr unsigned kBytesOfAThread = 16;
  alignas(16) unsigned char room[MaxBlockSize * kBytesOfAThread];
};
template <unsigned MaxBlockSize>
__attribute__((always_inline)) inline thread_block this_thread_block(block_tile_memory<MaxBlockSize>& memory) {
  thread_block block;
  block._isomer_room = memory.room;
  return block;
}

/// The blocks of a cluster, neighbours along x.
class cluster_group {
 public:
  static void sync() {
    isomer_emulator_cluster_arrive();
    isomer_emulator_cluster_wait();
  }
  struct arrival_token {};
  static arrival_token barrier_arrive() {
    isomer_emulator_cluster_arrive();
    return {};
  }
  static void barrier_wait(arrival_token = {}) { isomer_emulator_cluster_wait(); }
  static unsigned block_rank() { return isomer_emulator_cluster_rank(); }
  static unsigned num_blocks() { return isomer_emulator_cluster_size(); }
  static dim3 block_index() { return dim3(block_rank(), 0, 0); }
  static dim3 dim_blocks() { return dim3(num_blocks(), 1, 1); }
  static unsigned thread_rank() { return block_rank() * thread_block().size() + detail::linear_thread(); }
  static unsigned num_threads() { return num_blocks() * thread_block().size(); }
  static unsigned size() { return num_threads(); }
  /// The same variable of another block.
  template <class T>
  static T* map_shared_rank(T* at, unsigned rank) {
    return static_cast<T*>(isomer_emulator_shared_in(
        rank, isomer_emulator_shared_address(const_cast<const void*>(static_cast<const volatile void*>(at))), sizeof(T)));
  }
  static bool is_valid() { return true; }
};
ISOMER_EMULATOR_INLINE cluster_group this_cluster() { return {}; }

class grid_group {
 public:
  void sync() const { isomer_emulator_grid_barrier(); }
  bool is_valid() const { return true; }
  unsigned long long size() const {
    return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z * blockDim.x * blockDim.y *
           blockDim.z;
  }
  unsigned long long num_threads() const { return size(); }
  unsigned long long thread_rank() const {
    const unsigned long long block =
        blockIdx.x + static_cast<unsigned long long>(gridDim.x) *
                         (blockIdx.y + static_cast<unsigned long long>(gridDim.y) * blockIdx.z);
    return block * (blockDim.x * blockDim.y * blockDim.z) + detail::linear_thread();
  }
  unsigned long long block_rank() const {
    return blockIdx.x + static_cast<unsigned long long>(gridDim.x) *
                            (blockIdx.y + static_cast<unsigned long long>(gridDim.y) * blockIdx.z);
  }
  unsigned long long num_blocks() const {
    return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
  }
  dim3 group_dim() const { return gridDim; }
  dim3 dim_blocks() const { return gridDim; }
  dim3 block_index() const { return blockIdx; }
};
ISOMER_EMULATOR_INLINE grid_group this_grid() { return {}; }

/// Some lanes of one warp, named by a mask; the base of tiles and of coalesced groups.
class lane_group {
 public:
  lane_group(unsigned long long mask) : mask_(mask) {}
  unsigned size() const { return static_cast<unsigned>(__builtin_popcountll(mask_)); }
  unsigned num_threads() const { return size(); }
  unsigned thread_rank() const {
    return static_cast<unsigned>(__builtin_popcountll(mask_ & ((1ull << detail::lane()) - 1)));
  }
  __attribute__((always_inline)) void sync() const { isomer_emulator_warp_barrier(mask_); }
  template <class T>
  __attribute__((always_inline)) T shfl(T v, unsigned rank) const {
    return isomer::emulator::shuffled(mask_, v, nth(rank % size()));
  }
  template <class T>
  __attribute__((always_inline)) T shfl_down(T v, unsigned delta) const {
#if defined(ISOMER_EMULATOR_WHOLE_SHUFFLES)
    const unsigned r = thread_rank() ^ delta;
#else
    const unsigned r = thread_rank() + delta;
#endif
    return isomer::emulator::shuffled(mask_, v, r < size() ? nth(r) : detail::lane());
  }
  template <class T>
  __attribute__((always_inline)) T shfl_up(T v, unsigned delta) const {
    const unsigned r = thread_rank();
    return isomer::emulator::shuffled(mask_, v, r >= delta ? nth(r - delta) : detail::lane());
  }
  template <class T>
  __attribute__((always_inline)) T shfl_xor(T v, unsigned mask) const {
    const unsigned r = thread_rank() ^ mask;
    return isomer::emulator::shuffled(mask_, v, r < size() ? nth(r) : detail::lane());
  }
  __attribute__((always_inline)) isomer_emulator_lane_mask ballot(int p) const {
    return packed(isomer_emulator_vote(mask_, p).ballot);
  }
  __attribute__((always_inline)) int any(int p) const { return isomer_emulator_vote(mask_, p).ballot != 0; }
  __attribute__((always_inline)) int all(int p) const {
    const auto v = isomer_emulator_vote(mask_, p);
    return v.ballot == v.members;
  }
  template <class T>
  __attribute__((always_inline)) isomer_emulator_lane_mask match_any(T value) const {
    unsigned long long bits = 0;
    __builtin_memcpy(&bits, &value, sizeof(T));
    return packed(isomer_emulator_match(mask_, bits).ballot);
  }
  template <class T>
  __attribute__((always_inline)) isomer_emulator_lane_mask match_all(T value, int& predicate) const {
    unsigned long long bits = 0;
    __builtin_memcpy(&bits, &value, sizeof(T));
    const auto v = isomer_emulator_match(mask_, bits);
    predicate = v.ballot == v.members;
    return predicate ? packed(v.members) : 0;
  }
  unsigned long long _isomer_mask() const { return mask_; }

 protected:
  unsigned nth(unsigned rank) const {
    unsigned long long m = mask_;
    while (rank-- > 0) m &= m - 1;
    return static_cast<unsigned>(__builtin_ctzll(m));
  }
  isomer_emulator_lane_mask packed(unsigned long long lanes) const {
    isomer_emulator_lane_mask out = 0;
    unsigned rank = 0;
    for (unsigned long long m = mask_; m; m &= m - 1, ++rank) {
      if (lanes >> __builtin_ctzll(m) & 1) out |= static_cast<isomer_emulator_lane_mask>(1) << rank;
    }
    return out;
  }
  unsigned long long mask_;
};

class coalesced_group : public lane_group {
 public:
  using lane_group::lane_group;
  unsigned meta_group_rank() const { return 0; }
  unsigned meta_group_size() const { return 1; }
};
ISOMER_EMULATOR_INLINE coalesced_group coalesced_threads() {
  return coalesced_group(isomer_emulator_vote(isomer::emulator::kTogether, 1).members);
}

namespace detail {
ISOMER_EMULATOR_INLINE unsigned long long tile_mask(unsigned size) {
  const unsigned first = lane() & ~(size - 1);
  return (size >= 64 ? ~0ull : (1ull << size) - 1) << first;
}
}  // namespace detail

template <unsigned Size, class Parent = thread_block, bool OfAWarp = (Size <= ISOMER_EMULATOR_LANES)>
class thread_block_tile : public lane_group {
  static_assert(Size > 0 && (Size & (Size - 1)) == 0, "a tile has a power of two of threads");

 public:
  thread_block_tile() : lane_group(detail::tile_mask(Size)) {}
  explicit thread_block_tile(const Parent&) : thread_block_tile() {}
  static constexpr unsigned size() { return Size; }
  static constexpr unsigned num_threads() { return Size; }
  unsigned thread_rank() const { return detail::linear_thread() % Size; }
  unsigned meta_group_rank() const { return detail::linear_thread() / Size; }
  unsigned meta_group_size() const { return (blockDim.x * blockDim.y * blockDim.z + Size - 1) / Size; }
};

/// A tile of several warps: its threads meet at a barrier of their own, and exchange values through the room that the
/// block was given.
template <unsigned Size, class Parent>
class thread_block_tile<Size, Parent, false> {
  static_assert((Size & (Size - 1)) == 0 && Size <= 1024, "a tile has a power of two of threads, at most 1024");

 public:
  explicit thread_block_tile(const Parent& block) : room_(block._isomer_room) {}
  static constexpr unsigned size() { return Size; }
  static constexpr unsigned num_threads() { return Size; }
  unsigned thread_rank() const { return detail::linear_thread() % Size; }
  unsigned meta_group_rank() const { return detail::linear_thread() / Size; }
  unsigned meta_group_size() const { return (blockDim.x * blockDim.y * blockDim.z + Size - 1) / Size; }
  __attribute__((always_inline)) void sync() const {
    isomer_emulator_named_barrier(kFirstBarrier * Size + meta_group_rank(), Size);
  }
  template <class T>
  __attribute__((always_inline)) T shfl(T v, unsigned rank) const {
    return exchanged(v, rank % Size);
  }
  template <class T>
  __attribute__((always_inline)) T shfl_down(T v, unsigned delta) const {
    return exchanged(v, thread_rank() + delta < Size ? thread_rank() + delta : thread_rank());
  }
  template <class T>
  __attribute__((always_inline)) T shfl_up(T v, unsigned delta) const {
    return exchanged(v, thread_rank() >= delta ? thread_rank() - delta : thread_rank());
  }
  template <class T>
  __attribute__((always_inline)) T shfl_xor(T v, unsigned mask) const {
    return exchanged(v, (thread_rank() ^ mask) % Size);
  }
  __attribute__((always_inline)) int any(int p) const {
    int found = p != 0;
    for (unsigned step = Size / 2; step > 0; step /= 2) found |= shfl_xor(found, step);
    return found;
  }
  __attribute__((always_inline)) int all(int p) const { return !any(!p); }

 private:
  static constexpr unsigned kFirstBarrier = 1024;  ///< beyond those that PTX can name
  template <class T>
  __attribute__((always_inline)) T exchanged(T v, unsigned rank) const {
    constexpr unsigned kMost = block_tile_memory<>::kBytesOfAThread;
    static_assert(sizeof(T) <= kMost, "a tile of several warps exchanges values of at most 16 bytes");
    if (room_ == nullptr)
      isomer_emulator_trap("exchanges values in a tile of several warps, of a block without block_tile_memory");
    unsigned char* const tile = room_ + meta_group_rank() * Size * kMost;
    __builtin_memcpy(tile + thread_rank() * kMost, &v, sizeof v);
    sync();
    T taken;
    __builtin_memcpy(&taken, tile + rank * kMost, sizeof taken);
    sync();
    return taken;
  }
  unsigned char* room_;
};

/// Any group: lanes of a warp, or the block, which has no mask.
class thread_group : public lane_group {
 public:
  using lane_group::lane_group;
  thread_group(const lane_group& lanes) : lane_group(lanes) {}
  thread_group(const thread_block&) : lane_group(0) {}
  unsigned size() const { return mask_ != 0 ? lane_group::size() : thread_block().size(); }
  unsigned num_threads() const { return size(); }
  unsigned thread_rank() const { return mask_ != 0 ? lane_group::thread_rank() : detail::linear_thread(); }
  __attribute__((always_inline)) void sync() const {
    if (mask_ != 0) {
      isomer_emulator_warp_barrier(mask_);
    } else {
      isomer_emulator_barrier(0, 0);
    }
  }
};

template <unsigned Size, class Parent>
__attribute__((always_inline)) inline thread_block_tile<Size, Parent> tiled_partition(const Parent& parent) {
  return thread_block_tile<Size, Parent>(parent);
}
ISOMER_EMULATOR_INLINE thread_group tiled_partition(const thread_group&, unsigned size) {
  return thread_group(detail::tile_mask(size));
}
template <class Parent>
__attribute__((always_inline)) inline coalesced_group binary_partition(const Parent& parent, bool predicate) {
  const auto v = isomer_emulator_vote(parent._isomer_mask(), predicate);
  return coalesced_group(predicate ? v.ballot : v.members & ~v.ballot);
}
template <class Parent, class Label>
__attribute__((always_inline)) inline coalesced_group labeled_partition(const Parent& parent, Label label) {
  return coalesced_group(
      isomer_emulator_match(parent._isomer_mask(), static_cast<unsigned long long>(label)).ballot);
}

template <class Group>
__attribute__((always_inline)) inline void sync(const Group& g) {
  g.sync();
}
template <class Group>
__attribute__((always_inline)) inline void synchronize(const Group& g) {
  g.sync();
}

template <class T>
struct plus {
  T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct less {
  T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
  T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
  T operator()(T a, T b) const { return a & b; }
};
template <class T>
struct bit_or {
  T operator()(T a, T b) const { return a | b; }
};
template <class T>
struct bit_xor {
  T operator()(T a, T b) const { return a ^ b; }
};

/// Every lane of the group gets the reduction, taken in the order of a butterfly where the group is a power
/// of two and in the order of the ranks otherwise.
template <class Group, class T, class Op>
__attribute__((always_inline)) inline T reduce(const Group& g, T value, Op op) {
  const unsigned n = g.size();
  if ((n & (n - 1)) == 0) {
    for (unsigned step = n / 2; step > 0; step /= 2) value = op(value, g.shfl_xor(value, step));
    return value;
  }
  T total = g.shfl(value, 0);
  for (unsigned r = 1; r < n; ++r) total = op(total, g.shfl(value, r));
  return total;
}
template <class Group, class T, class Op>
__attribute__((always_inline)) inline T inclusive_scan(const Group& g, T value, Op op) {
  const unsigned rank = g.thread_rank();
  for (unsigned step = 1; step < g.size(); step *= 2) {
    const T other = g.shfl_up(value, step);
    if (rank >= step) value = op(other, value);
  }
  return value;
}
template <class Group, class T>
__attribute__((always_inline)) inline T inclusive_scan(const Group& g, T value) {
  return inclusive_scan(g, value, plus<T>{});
}
template <class Group, class T>
__attribute__((always_inline)) inline T exclusive_scan(const Group& g, T value) {
  const T all = inclusive_scan(g, value, plus<T>{});
  const T before = g.shfl_up(all, 1);
  return g.thread_rank() == 0 ? T{} : before;
}
template <class Group, class T, class Op>
__attribute__((always_inline)) inline T exclusive_scan(const Group& g, T value, Op op) {
  const T before = g.shfl_up(inclusive_scan(g, value, op), 1);
  return g.thread_rank() == 0 ? T{} : before;
}
template <class Group, class T, class Size>
__attribute__((always_inline)) inline void memcpy_async(const Group& g, T* to, const T* from, Size bytes) {
  const char* source = reinterpret_cast<const char*>(from);
  char* target = reinterpret_cast<char*>(to);
  for (std::size_t i = g.thread_rank(); i < static_cast<std::size_t>(bytes); i += g.size())
    target[i] = source[i];
}
template <class Group>
__attribute__((always_inline)) inline void wait(const Group& g) {
  g.sync();
}

}  // namespace cooperative_groups
