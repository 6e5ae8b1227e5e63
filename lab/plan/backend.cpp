#include "lab/plan/backend.hpp"

#include "core/sentence.hpp"
#include "gpu/vendors.hpp"

#include <charconv>

namespace isomer::lab {

using core::fail;

PlanDevice parse_architecture(std::string_view verb, const std::string& architecture) {
  const gpu::Facts* facts = gpu::known_architecture(architecture);
  gpu::Vendor* vendor = gpu::vendor_of_architecture(architecture);
  if (facts == nullptr || vendor == nullptr)
    fail(ErrorCode::bad_argument, verb, ": expected an architecture (",
         core::either(gpu::known_architectures()), "), got '", architecture, "'");
  return {vendor, facts};
}

PlanDevice parse_backend(std::string_view verb, const std::string& text) {
  if (text == "cpu") return {};
  const std::size_t colon = text.find(':');
  gpu::Vendor* vendor = gpu::find_vendor(std::string_view(text).substr(0, colon));
  if (vendor == nullptr) {
    std::vector<std::string> names = {"cpu"};
    for (const gpu::Vendor* each : gpu::vendors()) names.emplace_back(each->name());
    fail(ErrorCode::bad_argument, verb, ": expected a backend (", core::either(names), "), got '", text, "'");
  }
  const std::string place = colon == std::string::npos ? "0" : text.substr(colon + 1);
  int index = 0;
  const auto [end, failed] = std::from_chars(place.data(), place.data() + place.size(), index);
  if (failed != std::errc() || end != place.data() + place.size()) {
    const PlanDevice found = parse_architecture(verb, place);
    if (found.vendor != vendor)
      fail(ErrorCode::bad_argument, verb, ": ", place, " is an architecture of ", found.vendor->name(),
           ", got '", text, "'");
    return found;
  }
  if (const std::string reason = vendor->unavailable(); !reason.empty())
    fail(ErrorCode::device, verb, ": ", vendor->name(), ": ", reason,
         "; a plan for an architecture needs no device, as in ",
         vendor->device_type() == DeviceType::hip ? "hip:gfx90a" : "cuda:sm_90a");
  if (index < 0 || index >= vendor->devices())
    fail(ErrorCode::bad_argument, verb, ": expected a device from ", vendor->name(), ":0 to ", vendor->name(),
         ":", vendor->devices() - 1, ", got '", text, "'");
  return {vendor, &vendor->facts(index)};
}

}  // namespace isomer::lab
