#include "cli/verbs.hpp"
#include "core/sentence.hpp"

#include <charconv>

namespace isomer::cli {

Device device_of(const std::string& verb, const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  Device device;
  bool valid = false;
  for (const DeviceType type : {DeviceType::cpu, DeviceType::cuda, DeviceType::hip, DeviceType::emulated}) {
    const std::string known = to_string(Device{type, 0});
    if (name != known.substr(0, known.find(':'))) continue;
    device.type = type;
    valid = true;
  }
  if (valid && colon != std::string::npos) {
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, device.index);
    valid = device.type != DeviceType::cpu && error == std::errc() && stop == end && device.index >= 0;
  }
  if (!valid)
    core::fail(ErrorCode::bad_argument, verb,
               ": expected a device (cpu, cuda, hip or emulated, or cuda:1), got '", text, "'");
  return device;
}

}  // namespace isomer::cli
