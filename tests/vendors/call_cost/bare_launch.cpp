// On a real device: what a call takes on the host, by the op's function and by its plan, beside as many bare
// launches of an empty kernel with 512 bytes of parameters. The least and the median of batches that are too
// short to fill the stream's queue.
#include "calls.hpp"

#include "gpu/vendors/cuda/driver.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <vector>

namespace {

using namespace isomer;
namespace cuda = gpu::cuda;

constexpr int kCalls = 100, kBatches = 300, kParameters = 512;
constexpr const char* kEmpty =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry empty(.param .align 64 .b8 parameters[512]) { ret; }\n";

struct Time {
  double least = 0, median = 0;
};

Time nanoseconds(const std::function<void()>& call, const std::function<void()>& wait) {
  std::vector<double> batches;
  for (int batch = 0; batch < kBatches; ++batch) {
    wait();
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kCalls; ++i) call();
    batches.push_back(
        std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() / kCalls);
  }
  wait();
  std::sort(batches.begin(), batches.end());
  return {batches.front(), batches[kBatches / 2]};
}

/// Launches of an empty kernel on a stream of its own.
class Bare {
 public:
  explicit Bare(const cuda::Driver& driver) : driver_(driver) {
    cuda::ModuleHandle module = nullptr;
    cuda::Context context = nullptr;
    cuda::DeviceHandle device = 0;
    driver.device_get(&device, 0);
    driver.primary_context_retain(&context, device);
    driver.context_set_current(context);
    if (driver.module_load_data(&module, kEmpty) != cuda::kSuccess ||
        driver.module_get_function(&function_, module, "empty") != cuda::kSuccess ||
        driver.stream_create(&stream_, cuda::kStreamNonBlocking) != cuda::kSuccess)
      throw std::runtime_error("bare_launch: the empty kernel cannot be loaded");
  }
  void launch(int times) const {
    alignas(64) std::array<char, kParameters> bytes;
    std::array<void*, 1> parameters = {bytes.data()};
    const cuda::LaunchConfig config = {1, 1, 1, 128, 1, 1, 0, stream_, nullptr, 0};
    for (int i = 0; i < times; ++i)
      if (driver_.launch_kernel_ex(&config, function_, parameters.data(), nullptr) != cuda::kSuccess)
        throw std::runtime_error("bare_launch: the empty kernel cannot be launched");
  }
  void wait() const { driver_.stream_synchronize(stream_); }

 private:
  const cuda::Driver& driver_;
  cuda::FunctionHandle function_ = nullptr;
  cuda::StreamHandle stream_ = nullptr;
};

}  // namespace

int main() {
  const Queue queue = Queue::on({DeviceType::cuda, 0});
  const Bare bare(cuda::Driver::get());
  const auto wait = [&] { queue.synchronize(); };
  std::printf("%-16s %8s  %18s %18s %18s   ns a call: least, median\n", "call", "launches", "bare",
              "Plan::run", "the op's function");
  for (const char* name : {"sin", "attention", "flash_decode", "attention_split"}) {
    const call_cost::Call call = call_cost::call_named(name);
    const std::function<void()> planned = call.plan(queue);
    for (int i = 0; i < 10; ++i) call.run(queue);
    const Time none = nanoseconds([&] { bare.launch(call.launches); }, [&] { bare.wait(); });
    const Time by_plan = nanoseconds(planned, wait);
    const Time by_function = nanoseconds([&] { call.run(queue); }, wait);
    std::printf("%-16s %8d  %9.0f %8.0f %9.0f %8.0f %9.0f %8.0f\n", name, call.launches, none.least,
                none.median, by_plan.least, by_plan.median, by_function.least, by_function.median);
  }
}
