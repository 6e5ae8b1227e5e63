// What libcu++ has for copies that a barrier counts: cuda::device and cuda::device::experimental, over the
// same calls as inline PTX. Part of cuda_barrier.h.
#pragma once

namespace cuda {
namespace device {

ISOMER_EMULATOR_INLINE ::std::uint64_t* barrier_native_handle(barrier<thread_scope_block>& b) {
  return reinterpret_cast<::std::uint64_t*>(b.word());
}
namespace emulated {
ISOMER_EMULATOR_INLINE unsigned address(barrier<thread_scope_block>& b) {
  return isomer_emulator_shared_address(b.word());
}
}  // namespace emulated
ISOMER_EMULATOR_INLINE barrier<thread_scope_block>::arrival_token barrier_arrive_tx(
    barrier<thread_scope_block>& b, ::std::ptrdiff_t count, ::std::ptrdiff_t bytes) {
  const auto token = isomer_emulator_barrier_parity(emulated::address(b));
  isomer_emulator_barrier_arrive(emulated::address(b), static_cast<unsigned>(count),
                                 static_cast<unsigned>(bytes));
  return token;
}
ISOMER_EMULATOR_INLINE void barrier_expect_tx(barrier<thread_scope_block>& b, ::std::ptrdiff_t bytes) {
  isomer_emulator_barrier_arrive(emulated::address(b), 0, static_cast<unsigned>(bytes));
}

namespace experimental {

using emulated::address;

ISOMER_EMULATOR_INLINE void cp_async_bulk_tensor_1d_global_to_shared(void* to, const void* map, int c0,
                                                                     barrier<thread_scope_block>& b) {
  const int box[] = {c0};
  isomer_emulator_box_load(map, 1, box, isomer_emulator_shared_address(to), address(b));
}
ISOMER_EMULATOR_INLINE void cp_async_bulk_tensor_2d_global_to_shared(void* to, const void* map, int c0,
                                                                     int c1, barrier<thread_scope_block>& b) {
  const int box[] = {c0, c1};
  isomer_emulator_box_load(map, 2, box, isomer_emulator_shared_address(to), address(b));
}
ISOMER_EMULATOR_INLINE void cp_async_bulk_tensor_3d_global_to_shared(void* to, const void* map, int c0,
                                                                     int c1, int c2,
                                                                     barrier<thread_scope_block>& b) {
  const int box[] = {c0, c1, c2};
  isomer_emulator_box_load(map, 3, box, isomer_emulator_shared_address(to), address(b));
}
ISOMER_EMULATOR_INLINE void cp_async_bulk_tensor_4d_global_to_shared(void* to, const void* map, int c0,
                                                                     int c1, int c2, int c3,
                                                                     barrier<thread_scope_block>& b) {
  const int box[] = {c0, c1, c2, c3};
  isomer_emulator_box_load(map, 4, box, isomer_emulator_shared_address(to), address(b));
}
ISOMER_EMULATOR_INLINE void cp_async_bulk_tensor_5d_global_to_shared(void* to, const void* map, int c0,
                                                                     int c1, int c2, int c3, int c4,
                                                                     barrier<thread_scope_block>& b) {
  const int box[] = {c0, c1, c2, c3, c4};
  isomer_emulator_box_load(map, 5, box, isomer_emulator_shared_address(to), address(b));
}
ISOMER_EMULATOR_INLINE void cp_async_bulk_tensor_1d_shared_to_global(const void* map, int c0,
                                                                     const void* from) {
  const int box[] = {c0};
  isomer_emulator_box_store(map, 1, box, isomer_emulator_shared_address(from));
}
ISOMER_EMULATOR_INLINE void cp_async_bulk_tensor_2d_shared_to_global(const void* map, int c0, int c1,
                                                                     const void* from) {
  const int box[] = {c0, c1};
  isomer_emulator_box_store(map, 2, box, isomer_emulator_shared_address(from));
}
ISOMER_EMULATOR_INLINE void cp_async_bulk_tensor_3d_shared_to_global(const void* map, int c0, int c1, int c2,
                                                                     const void* from) {
  const int box[] = {c0, c1, c2};
  isomer_emulator_box_store(map, 3, box, isomer_emulator_shared_address(from));
}
ISOMER_EMULATOR_INLINE void cp_async_bulk_tensor_4d_shared_to_global(const void* map, int c0, int c1, int c2,
                                                                     int c3, const void* from) {
  const int box[] = {c0, c1, c2, c3};
  isomer_emulator_box_store(map, 4, box, isomer_emulator_shared_address(from));
}
ISOMER_EMULATOR_INLINE void cp_async_bulk_tensor_5d_shared_to_global(const void* map, int c0, int c1, int c2,
                                                                     int c3, int c4, const void* from) {
  const int box[] = {c0, c1, c2, c3, c4};
  isomer_emulator_box_store(map, 5, box, isomer_emulator_shared_address(from));
}
ISOMER_EMULATOR_INLINE void cp_async_bulk_global_to_shared(void* to, const void* from, ::std::uint32_t bytes,
                                                           barrier<thread_scope_block>& b) {
  isomer_emulator_stretch_load(from, bytes, isomer_emulator_shared_address(to), address(b));
}
ISOMER_EMULATOR_INLINE void cp_async_bulk_shared_to_global(void* to, const void* from,
                                                           ::std::uint32_t bytes) {
  isomer_emulator_stretch_store(to, bytes, isomer_emulator_shared_address(from));
}
ISOMER_EMULATOR_INLINE void fence_proxy_async_shared_cta() { isomer_emulator_proxy_fence(); }
ISOMER_EMULATOR_INLINE void cp_async_bulk_commit_group() { isomer_emulator_stores_commit(); }
template <int Groups>
ISOMER_EMULATOR_INLINE void cp_async_bulk_wait_group_read() {
  isomer_emulator_stores_wait(Groups);
}
template <int Groups>
ISOMER_EMULATOR_INLINE void cp_async_bulk_wait_group() {
  isomer_emulator_stores_wait(Groups);
}

}  // namespace experimental
}  // namespace device
}  // namespace cuda
