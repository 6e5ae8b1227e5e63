// No program of the library is for NVIDIA's devices alone: what is planned for an H100 is planned, and so
// checked, on an emulated device. That a sample of the cases still runs every kernel is held by
// test_sample.cpp.
#include "core/registry.hpp"
#include "gpu/vendors.hpp"
#include "lab/plan/programs.hpp"
#include "oracle/oracle.hpp"

#include <gtest/gtest.h>

#include "vendor/vendor.hpp"

#include <set>
#include <string>
#include <vector>

namespace isomer {
namespace {

class EveryProgram : public testing::TestWithParam<std::string> {
 protected:
  EveryProgram() {
    emulator::register_vendor();
    vendor = gpu::find_vendor(DeviceType::emulated);
  }
  /// Those of one vendor's implementations that an emulated device can run, or whose emulated twin can be.
  std::vector<std::string> implementations(DeviceType device) const {
    std::vector<std::string> names;
    const auto& op = *core::Registry::builtin().find(GetParam());
    for (const auto& implementation : op.implementations) {
      if (implementation->device() != device) continue;
      const std::string& name = implementation->name();
      const core::Implementation* twin = op.find("emulated" + name.substr(name.find('/')));
      EXPECT_NE(twin, nullptr) << name << " has no emulated twin";
      if (twin != nullptr && twin->unavailable().empty()) names.push_back(name);
    }
    return names;
  }

  gpu::Vendor* vendor = nullptr;
};

TEST_P(EveryProgram, OfAnH100IsOneOfAnEmulatedDeviceToo) {
  lab::ProgramSelection selection;
  selection.ops = {GetParam()};
  selection.backends = {lab::parse_architecture("test", "sm_90a")};
  for (int device = 0; device < vendor->devices(); ++device)
    selection.backends.push_back({vendor, &vendor->facts(device)});
  for (const DeviceType device : {DeviceType::cuda, DeviceType::emulated})
    for (const std::string& name : implementations(device)) selection.implementations.push_back(name);
  const lab::Programs programs = lab::programs_of(selection);

  std::set<std::string> emulated;
  for (const lab::Wanted& wanted : programs.wanted)
    if (wanted.backend.vendor == vendor) emulated.insert(wanted.program.source + " " + wanted.program.text());
  int planned = 0;
  for (const lab::Wanted& wanted : programs.wanted) {
    if (wanted.backend.vendor == vendor) continue;
    ++planned;
    EXPECT_TRUE(emulated.contains(wanted.program.source + " " + wanted.program.text()))
        << wanted.program.text() << " never runs on an emulated device; " << wanted.implementation
        << " plans it for " << wanted.line;
  }
  EXPECT_GT(planned, 0);
}

std::vector<std::string> ops() {
  std::vector<std::string> names;
  for (const core::Registry::Op& op : core::Registry::builtin().ops()) names.push_back(op.contract->op);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Of, EveryProgram, testing::ValuesIn(ops()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace isomer
