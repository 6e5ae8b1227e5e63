// In place of Thrust's own: what device_vector holds is device memory.
#pragma once
#include <thrust/detail/config.h>
#include <thrust/mr/memory_resource.h>

#include <new>

#include "../../isomer_emulator/thrust_memory.h"

THRUST_NAMESPACE_BEGIN
namespace mr {
class new_delete_resource final : public memory_resource<> {
 public:
  void* do_allocate(std::size_t bytes, std::size_t = THRUST_MR_DEFAULT_ALIGNMENT) override {
    void* const begin = ::isomer::emulator::thrust_malloc(bytes > 0 ? bytes : 1);
    if (begin == nullptr) throw std::bad_alloc();
    return begin;
  }
  void do_deallocate(void* begin, std::size_t, std::size_t = THRUST_MR_DEFAULT_ALIGNMENT) override {
    ::isomer::emulator::thrust_free(begin);
  }
};
}  // namespace mr
THRUST_NAMESPACE_END
