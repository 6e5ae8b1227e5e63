#include "runtime/errors.hpp"

#include <mutex>
#include <utility>

#include "execution/turns.hpp"

namespace isomer::emulator {
namespace {
std::mutex errors_mutex;
std::vector<Refusal> refused;
std::string shortage;
thread_local int pending = error::success;
}  // namespace

int refuse(int code, Refusal refusal) {
  run_alone();
  pending = code;
  if (!refusal.text.empty()) {
    std::lock_guard lock(errors_mutex);
    if (code == error::out_of_memory && shortage.empty()) shortage = refusal.text;
    if (refused.size() < 64) refused.push_back(std::move(refusal));
  }
  return code;
}

int refuse(int code, std::string sentence) {
  return refuse(code, Refusal{.kernel = {}, .text = std::move(sentence)});
}

std::vector<Refusal> take_refusals() {
  std::lock_guard lock(errors_mutex);
  return std::exchange(refused, {});
}

std::string take_shortage() {
  std::lock_guard lock(errors_mutex);
  return std::exchange(shortage, {});
}

int last_error(bool clear) {
  const int code = pending;
  if (clear) pending = error::success;
  return code;
}

const char* describe(int code) {
  switch (code) {
    case error::success:
      return "no error";
    case error::invalid_value:
      return "invalid argument";
    case error::out_of_memory:
      return "out of memory";
    case error::invalid_configuration:
      return "invalid configuration argument";
    case error::invalid_symbol:
      return "invalid device symbol";
    case error::invalid_device_pointer:
      return "invalid device pointer";
    case error::invalid_memcpy_direction:
      return "invalid copy direction for memcpy";
    case error::invalid_device_function:
      return "invalid device function";
    case error::no_device:
      return "no device";
    case error::launch_max_depth_exceeded:
      return "launch would exceed maximum depth of nested launches";
    case error::invalid_device:
      return "invalid device ordinal";
    case error::invalid_image:
      return "device kernel image is invalid";
    case error::invalid_ptx:
      return "a PTX JIT compilation failed";
    case error::file_not_found:
      return "file not found";
    case error::not_found:
      return "named symbol not found";
    case error::invalid_handle:
      return "invalid resource handle";
    case error::not_ready:
      return "device not ready";
    case error::illegal_address:
      return "an illegal memory access was encountered";
    case error::launch_out_of_resources:
      return "too many resources requested for launch";
    case error::launch_timeout:
      return "the launch timed out and was terminated";
    case error::assertion:
      return "device-side assert triggered";
    case error::launch_failure:
      return "unspecified launch failure";
    case error::cooperative_launch_too_large:
      return "too many blocks in cooperative launch";
    case error::not_permitted:
      return "operation not permitted";
    case error::not_supported:
      return "operation not supported";
    default:
      return "unknown error";
  }
}

}  // namespace isomer::emulator
