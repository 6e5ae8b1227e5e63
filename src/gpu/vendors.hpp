#pragma once

#include "gpu/vendor.hpp"

#include <memory>
#include <vector>

namespace isomer::gpu {

/// The vendors of this process, in the order in which Queue::best asks them. They live until the process
/// ends.
std::vector<Vendor*> vendors();
/// Null where this program has no such vendor.
Vendor* find_vendor(DeviceType type);
Vendor* find_vendor(std::string_view name);
/// Whose compiler makes code for that architecture: "sm_90a" is cuda's, "gfx90a" hip's. Null for neither.
Vendor* vendor_of_architecture(std::string_view architecture);

/// Adds one: the emulator's, or a stand-in of a test, which takes the place of the one with its device type.
void register_vendor(std::unique_ptr<Vendor> vendor);

/// src/gpu/vendors/<name>
std::unique_ptr<Vendor> make_cuda();
std::unique_ptr<Vendor> make_hip();

}  // namespace isomer::gpu
