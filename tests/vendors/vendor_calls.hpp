#pragma once

#include <isomer/isomer.hpp>

#include "core/registry.hpp"
#include "gpu/vendors.hpp"

#include <dlfcn.h>

#include <ostream>
#include <string>
#include <vector>

namespace isomer {

/// What a test needs to know of a vendor and its stand-ins.
struct StandIn {
  DeviceType device;
  const char *vendor, *architecture, *compiler_variable, *driver;
  gpu::Vendor& operator*() const { return *gpu::find_vendor(device); }
};

inline void PrintTo(const StandIn& on, std::ostream* to) { *to << on.vendor; }

inline constexpr StandIn kStandIns[] = {
    {DeviceType::cuda, "cuda", "sm_80", "ISOMER_NVRTC", "libcuda.so.1"},
    {DeviceType::hip, "hip", "gfx90a", "ISOMER_HIPRTC", "libamdhip64.so"},
};

/// Two buffers on a device, and the call sin(x) → y on them.
class SinOnDevice {
 public:
  explicit SinOnDevice(const StandIn& on, int index = 0, int elements = 100);
  ~SinOnDevice();
  SinOnDevice(const SinOnDevice&) = delete;
  SinOnDevice& operator=(const SinOnDevice&) = delete;

  const Queue& queue() const { return queue_; }
  /// "done", or "done from cache"; or that the numbers are wrong, where the stand-in executes. Throws what
  /// sin throws.
  std::string run();
  void prepare() { sin(queue_.preparing(), args_); }
  void enqueue() { sin(queue_, args_); }
  /// The same, and why the cache has not taken the kernel: "done from compiled: cannot …".
  std::string run_and_tell() {
    const std::string said = run();
    return said + ": " + binary().not_kept;
  }
  Binary binary() { return explain(queue_, args_).description.launches.at(0).binary; }

  void begin_capture() { capture("isomer_stand_in_begin_capture"); }
  int end_capture() { return capture("isomer_stand_in_end_capture"); }

 private:
  int capture(const char* function);

  const StandIn& on_;
  int index_;
  Queue queue_;
  std::vector<float> x_;
  SinArgs args_;
};

}  // namespace isomer
