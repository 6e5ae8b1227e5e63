#include <isomer/devices.hpp>

#include "c_api/entry.hpp"
#include "core/sentence.hpp"

#include <cstring>

namespace {

template <std::size_t N>
void copy(char (&to)[N], const std::string& text) {
  std::size_t length = text.size() < N ? text.size() : N - 1;
  // Not within a character of UTF-8.
  while (length < text.size() && length > 0 && (text[length] & 0xC0) == 0x80) --length;
  std::memset(to, 0, N);
  std::memcpy(to, text.data(), length);
}

}  // namespace

isomer_status isomer_device_count(isomer_int64* count) {
  return isomer::c::guarded([&] {
    isomer::c::check_given("device_count", "count", count);
    *count = static_cast<isomer_int64>(isomer::devices().size());
  });
}

isomer_status isomer_device_info_of(isomer_int64 index, isomer_device_info* info) {
  return isomer::c::guarded([&] {
    isomer::c::check_given("device_info_of", "info", info);
    isomer::c::check_size("device_info_of", "info", info->size, sizeof *info, sizeof *info);
    const std::vector<isomer::DeviceInfo> all = isomer::devices();
    if (index < 0 || index >= static_cast<isomer_int64>(all.size()))
      isomer::core::fail(isomer::ErrorCode::bad_argument, "device_info_of: index is ", index,
                         ", expected 0 to ", all.size() - 1);
    const isomer::DeviceInfo& found = all[static_cast<std::size_t>(index)];
    info->device = isomer::Tensor(nullptr, isomer::DType::f32, {0}, found.device).dlpack().device;
    info->memory_bytes = found.memory_bytes;
    copy(info->name, found.name);
    copy(info->architecture, found.architecture);
  });
}
