#include "gpu/vendors.hpp"

#include <algorithm>
#include <mutex>

namespace isomer::gpu {
namespace {

struct Table {
  std::mutex mutex;
  // Registered ones replace others, which may still be in use: nothing is ever destroyed.
  std::vector<std::unique_ptr<Vendor>> owned;
  std::vector<Vendor*> active;

  void add(std::unique_ptr<Vendor> vendor) {
    const auto same = std::find_if(active.begin(), active.end(), [&](const Vendor* other) {
      return other->device_type() == vendor->device_type();
    });
    if (same != active.end())
      *same = vendor.get();
    else
      active.push_back(vendor.get());
    owned.push_back(std::move(vendor));
  }
};

/// Lives until the process ends, past every queue in static storage.
Table& vendor_table() {
  static Table* const made = [] {
    auto* t = new Table;
    t->add(make_cuda());
    t->add(make_hip());
    return t;
  }();
  return *made;
}

}  // namespace

std::vector<Vendor*> vendors() {
  Table& t = vendor_table();
  const std::lock_guard lock(t.mutex);
  return t.active;
}

Vendor* find_vendor(DeviceType type) {
  Table& t = vendor_table();
  const std::lock_guard lock(t.mutex);
  for (Vendor* vendor : t.active)
    if (vendor->device_type() == type) return vendor;
  return nullptr;
}

Vendor* find_vendor(std::string_view name) {
  for (Vendor* vendor : vendors())
    if (vendor->name() == name) return vendor;
  return nullptr;
}

Vendor* vendor_of_architecture(std::string_view architecture) {
  if (architecture.starts_with("sm_")) return find_vendor(DeviceType::cuda);
  if (architecture.starts_with("gfx")) return find_vendor(DeviceType::hip);
  return nullptr;
}

void register_vendor(std::unique_ptr<Vendor> vendor) {
  Table& t = vendor_table();
  const std::lock_guard lock(t.mutex);
  t.add(std::move(vendor));
}

}  // namespace isomer::gpu
