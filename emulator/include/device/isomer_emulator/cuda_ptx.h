// cuda::ptx, libcu++'s names for single instructions: barriers in shared memory, bulk copies and fences. The
// same calls as inline PTX.
#pragma once

#include "cuda_barrier.h"
#include "ptx.h"

namespace cuda {
namespace ptx {

struct space_global_t {};
struct space_shared_t {};
struct space_cluster_t {};
struct sem_release_t {};
struct sem_acquire_t {};
struct sem_relaxed_t {};
struct scope_cta_t {};
struct scope_cluster_t {};
struct scope_gpu_t {};
struct scope_sys_t {};
inline constexpr space_global_t space_global{};
inline constexpr space_shared_t space_shared{};
inline constexpr space_cluster_t space_cluster{};
inline constexpr sem_release_t sem_release{};
inline constexpr sem_acquire_t sem_acquire{};
inline constexpr sem_relaxed_t sem_relaxed{};
inline constexpr scope_cta_t scope_cta{};
inline constexpr scope_cluster_t scope_cluster{};
inline constexpr scope_gpu_t scope_gpu{};
inline constexpr scope_sys_t scope_sys{};
template <int N>
using n32_t = ::std::integral_constant<int, N>;

namespace emulated {
ISOMER_EMULATOR_INLINE unsigned in_shared(const void* at) { return isomer_emulator_shared_address(at); }
template <class Space>
constexpr bool kOfBlock = ::std::is_same_v<Space, space_shared_t> || ::std::is_same_v<Space, space_cluster_t>;
}  // namespace emulated

ISOMER_EMULATOR_INLINE void mbarrier_init(::std::uint64_t* barrier, ::std::uint32_t count) {
  isomer_emulator_barrier_init(emulated::in_shared(barrier), count);
}
ISOMER_EMULATOR_INLINE void mbarrier_inval(::std::uint64_t* barrier) {
  isomer_emulator_barrier_invalidate(emulated::in_shared(barrier));
}
ISOMER_EMULATOR_INLINE ::std::uint64_t mbarrier_arrive(::std::uint64_t* barrier, ::std::uint32_t count = 1) {
  return ::isomer::emulator::ptx::arrived(emulated::in_shared(barrier), count, 0);
}
template <class Scope>
ISOMER_EMULATOR_INLINE ::std::uint64_t mbarrier_arrive(sem_release_t, Scope, space_shared_t,
                                                       ::std::uint64_t* barrier, ::std::uint32_t count = 1) {
  return mbarrier_arrive(barrier, count);
}
template <class Scope>
ISOMER_EMULATOR_INLINE ::std::uint64_t mbarrier_arrive_expect_tx(sem_release_t, Scope, space_shared_t,
                                                                 ::std::uint64_t* barrier,
                                                                 ::std::uint32_t bytes) {
  return ::isomer::emulator::ptx::arrived(emulated::in_shared(barrier), 1, bytes);
}
template <class Scope>
ISOMER_EMULATOR_INLINE void mbarrier_expect_tx(sem_relaxed_t, Scope, space_shared_t, ::std::uint64_t* barrier,
                                               ::std::uint32_t bytes) {
  isomer_emulator_barrier_arrive(emulated::in_shared(barrier), 0, bytes);
}

#define ISOMER_EMULATOR_LOOK(name, Phase)                                                              \
  ISOMER_EMULATOR_INLINE bool name(::std::uint64_t* barrier, const Phase& phase) {                     \
    return ::isomer::emulator::ptx::waited(emulated::in_shared(barrier), static_cast<unsigned>(phase), \
                                           true);                                                      \
  }                                                                                                    \
  template <class Order, class Scope>                                                                  \
  ISOMER_EMULATOR_INLINE bool name(Order, Scope, ::std::uint64_t* barrier, const Phase& phase) {       \
    return name(barrier, phase);                                                                       \
  }
ISOMER_EMULATOR_LOOK(mbarrier_test_wait, ::std::uint64_t)
ISOMER_EMULATOR_LOOK(mbarrier_try_wait, ::std::uint64_t)
ISOMER_EMULATOR_LOOK(mbarrier_test_wait_parity, ::std::uint32_t)
ISOMER_EMULATOR_LOOK(mbarrier_try_wait_parity, ::std::uint32_t)
#undef ISOMER_EMULATOR_LOOK

template <class Space, class = ::std::enable_if_t<emulated::kOfBlock<Space>>>
ISOMER_EMULATOR_INLINE void cp_async_bulk(Space, space_global_t, void* to, const void* from,
                                          ::std::uint32_t bytes, ::std::uint64_t* barrier) {
  isomer_emulator_stretch_load(from, bytes, emulated::in_shared(to), emulated::in_shared(barrier));
}
ISOMER_EMULATOR_INLINE void cp_async_bulk(space_global_t, space_shared_t, void* to, const void* from,
                                          ::std::uint32_t bytes) {
  isomer_emulator_stretch_store(to, bytes, emulated::in_shared(from));
}
template <class Space, int Rank, class = ::std::enable_if_t<emulated::kOfBlock<Space>>>
ISOMER_EMULATOR_INLINE void cp_async_bulk_tensor(Space, space_global_t, void* to, const void* map,
                                                 const ::std::int32_t (&place)[Rank],
                                                 ::std::uint64_t* barrier) {
  isomer_emulator_box_load(map, Rank, place, emulated::in_shared(to), emulated::in_shared(barrier));
}
template <int Rank>
ISOMER_EMULATOR_INLINE void cp_async_bulk_tensor(space_global_t, space_shared_t, const void* map,
                                                 const ::std::int32_t (&place)[Rank], const void* from) {
  isomer_emulator_box_store(map, Rank, place, emulated::in_shared(from));
}
ISOMER_EMULATOR_INLINE void cp_async_bulk_commit_group() { isomer_emulator_stores_commit(); }
template <int N>
ISOMER_EMULATOR_INLINE void cp_async_bulk_wait_group(::std::integral_constant<int, N>) {
  isomer_emulator_stores_wait(N);
}
template <int N>
ISOMER_EMULATOR_INLINE void cp_async_bulk_wait_group_read(::std::integral_constant<int, N>) {
  isomer_emulator_stores_wait(N);
}

ISOMER_EMULATOR_INLINE void fence_proxy_async() { isomer_emulator_proxy_fence(); }
template <class Space>
ISOMER_EMULATOR_INLINE void fence_proxy_async(Space) {
  isomer_emulator_proxy_fence();
}
ISOMER_EMULATOR_INLINE void fence_mbarrier_init(sem_release_t, scope_cluster_t) {
  isomer_emulator_proxy_fence();
}

}  // namespace ptx
}  // namespace cuda
