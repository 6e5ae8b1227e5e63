// On a real device: what a call takes on the host, by the op's function and by its plan, beside as many bare
// launches of an empty kernel with as many bytes of parameters. The least and the median of batches that are
// too short to fill the stream's queue.
#include "calls.hpp"

#include "gpu/vendors/cuda/driver.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace isomer;
namespace cuda = gpu::cuda;

constexpr int kCalls = 100, kBatches = 300;
struct Time {
  double least = 0, median = 0;
};

struct Way {
  std::function<void()> call, wait;
};

/// Of each way, batches in turn: a processor's clock that rises or falls meets all of them alike.
std::vector<Time> nanoseconds(const std::vector<Way>& ways) {
  std::vector<std::vector<double>> batches(ways.size());
  for (int batch = 0; batch < kBatches; ++batch)
    for (std::size_t i = 0; i < ways.size(); ++i) {
      ways[i].wait();
      const auto begin = std::chrono::steady_clock::now();
      for (int call = 0; call < kCalls; ++call) ways[i].call();
      batches[i].push_back(
          std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() /
          kCalls);
      ways[i].wait();
    }
  std::vector<Time> times;
  for (std::vector<double>& each : batches) {
    std::sort(each.begin(), each.end());
    times.push_back({each.front(), each[kBatches / 2]});
  }
  return times;
}

/// Launches of an empty kernel on a stream of its own.
class Bare {
 public:
  Bare(const cuda::Driver& driver, std::size_t bytes) : driver_(driver), parameters_(bytes) {
    cuda::ModuleHandle module = nullptr;
    cuda::Context context = nullptr;
    cuda::DeviceHandle device = 0;
    driver.device_get(&device, 0);
    driver.primary_context_retain(&context, device);
    driver.context_set_current(context);
    const std::string text =
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry empty(.param .align 64 .b8 p[" +
        std::to_string(bytes) + "]) { ret; }\n";
    if (driver.module_load_data(&module, text.c_str()) != cuda::kSuccess ||
        driver.module_get_function(&function_, module, "empty") != cuda::kSuccess ||
        driver.stream_create(&stream_, cuda::kStreamNonBlocking) != cuda::kSuccess)
      throw std::runtime_error("bare_launch: the empty kernel cannot be loaded");
  }
  void launch(int times) {
    void* parameters[] = {parameters_.data()};
    const cuda::LaunchConfig config = {1, 1, 1, 128, 1, 1, 0, stream_, nullptr, 0};
    for (int i = 0; i < times; ++i)
      if (driver_.launch_kernel_ex(&config, function_, parameters, nullptr) != cuda::kSuccess)
        throw std::runtime_error("bare_launch: the empty kernel cannot be launched");
  }
  void wait() const { driver_.stream_synchronize(stream_); }

 private:
  const cuda::Driver& driver_;
  cuda::FunctionHandle function_ = nullptr;
  cuda::StreamHandle stream_ = nullptr;
  std::vector<char> parameters_;
};

}  // namespace

int main() {
  const Queue queue = Queue::on({DeviceType::cuda, 0});
  const auto wait = [&] { queue.synchronize(); };
  std::printf("%-16s %8s  %18s %18s %18s   ns a call: least, median\n", "call", "launches", "bare",
              "Plan::run", "the op's function");
  for (const char* name : {"sin", "attention", "flash_decode", "attention_split"}) {
    const call_cost::Call call = call_cost::call_named(name);
    Bare bare(cuda::Driver::get(), call.bytes);
    const std::function<void()> planned = call.plan(queue);
    for (int i = 0; i < 10; ++i) call.run(queue);
    const std::vector<Time> times = nanoseconds({{[&] { bare.launch(call.launches); }, [&] { bare.wait(); }},
                                                 {planned, wait},
                                                 {[&] { call.run(queue); }, wait}});
    std::printf("%-16s %8d  %9.0f %8.0f %9.0f %8.0f %9.0f %8.0f\n", name, call.launches, times[0].least,
                times[0].median, times[1].least, times[1].median, times[2].least, times[2].median);
  }
}
