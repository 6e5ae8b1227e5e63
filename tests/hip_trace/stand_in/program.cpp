// A HIP program without a device: it tells the profiler what HIP would tell of its calls, and launches
// nothing.
//   program CODE_OBJECT KERNEL memory|file WORD…   with the words plain, module, graph, config, crash
#include "tests/hip_trace/stand_in/sdk.hpp"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

decltype(&stand_in_tell) tell_function = nullptr;
decltype(&rocprofiler_get_timestamp) timestamp = nullptr;

constexpr std::uint64_t kShift = 41, kFill = 42, kDevice = 300;

void tell(rocprofiler_callback_tracing_kind_t kind, int operation, rocprofiler_callback_phase_t phase,
          void* payload) {
  tell_function(kind, operation, phase, static_cast<std::uint64_t>(syscall(SYS_gettid)), payload);
}

struct Pending {
  rocprofiler_callback_tracing_kernel_dispatch_data_t data;
};
std::vector<Pending> pending;

void dispatch(std::uint64_t kernel, rocprofiler_dim3_t work_items, rocprofiler_dim3_t block) {
  static std::uint64_t last = 0;
  rocprofiler_callback_tracing_kernel_dispatch_data_t data{};
  // 128 bytes are the kernel's own, 64 the launch's.
  data.dispatch_info = {{kDevice}, kernel, ++last, 16, kernel == kShift ? 192u : 0u, block, work_items};
  const auto kind = ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH;
  tell(kind, ROCPROFILER_KERNEL_DISPATCH_ENQUEUE, ROCPROFILER_CALLBACK_PHASE_ENTER, &data);
  tell(kind, ROCPROFILER_KERNEL_DISPATCH_ENQUEUE, ROCPROFILER_CALLBACK_PHASE_EXIT, &data);
  timestamp(&data.start_timestamp);
  data.end_timestamp = data.start_timestamp + 5000;
  pending.push_back({data});
}

void complete() {
  // Not in their order, as the real one's are not.
  for (; !pending.empty(); pending.pop_back())
    tell(ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH, ROCPROFILER_KERNEL_DISPATCH_COMPLETE,
         ROCPROFILER_CALLBACK_PHASE_NONE, &pending.back().data);
}

template <class Inside>
void call(int operation, rocprofiler_callback_tracing_hip_api_data_t data, Inside inside) {
  tell(ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, operation, ROCPROFILER_CALLBACK_PHASE_ENTER, &data);
  inside();
  data.retval.hipError_t_retval = hipSuccess;
  tell(ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, operation, ROCPROFILER_CALLBACK_PHASE_EXIT, &data);
}

void load(const std::string& path, const std::string& name, bool in_memory) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  rocprofiler_callback_tracing_code_object_load_data_t object{};
  object.code_object_id = 5;
  const std::string uri = "file://" + path + "#offset=0&size=" + std::to_string(bytes.size());
  object.uri = uri.c_str();
  object.storage_type =
      in_memory ? ROCPROFILER_CODE_OBJECT_STORAGE_TYPE_MEMORY : ROCPROFILER_CODE_OBJECT_STORAGE_TYPE_FILE;
  object.memory_base = in_memory ? reinterpret_cast<std::uintptr_t>(bytes.data()) : 0;
  object.memory_size = in_memory ? bytes.size() : 0;
  const auto kind = ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT;
  tell(kind, ROCPROFILER_CODE_OBJECT_LOAD, ROCPROFILER_CALLBACK_PHASE_LOAD, &object);
  const std::string descriptor = name + ".kd";
  rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t kernel{
      kShift, 5, descriptor.c_str(), 128, 0, 16, 8, 0};
  tell(kind, ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER, ROCPROFILER_CALLBACK_PHASE_LOAD, &kernel);
  kernel.kernel_id = kFill;
  kernel.kernel_name = "__amd_rocclr_fillBufferAligned.kd";
  kernel.group_segment_size = 0;
  tell(kind, ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER, ROCPROFILER_CALLBACK_PHASE_LOAD, &kernel);
}

/// A launch of shift<128>(float*, int, char) on 3 x 2 blocks, by each call that there is.
struct Shift {
  float* x;
  int n;
  char flag = 7;
  void* parameters[3]{&x, &n, &flag};
  rocprofiler_dim3_t grid{3, 2, 1}, block{128, 1, 1}, work_items{384, 2, 1};
  hipStream_t stream = reinterpret_cast<hipStream_t>(0x7000);

  explicit Shift(float* x, int n) : x(x), n(n) {}

  void plain() {
    rocprofiler_callback_tracing_hip_api_data_t data{};
    data.args.hipLaunchKernel = {reinterpret_cast<const void*>(&load), grid, block, parameters, stream};
    call(ROCPROFILER_HIP_RUNTIME_API_ID_hipLaunchKernel, data, [&] {
      // The runtime's own kernel comes first, by chance of the same geometry.
      dispatch(kFill, work_items, block);
      dispatch(kShift, work_items, block);
    });
  }

  void module() {
    hipFunction_t function = reinterpret_cast<hipFunction_t>(0x9000);
    struct {
      float* x;
      int n;
      char flag;
    } buffer{x, n, flag};
    std::size_t size = sizeof buffer;
    void* extra[] = {reinterpret_cast<void*>(1), &buffer, reinterpret_cast<void*>(2), &size,
                     reinterpret_cast<void*>(3)};
    rocprofiler_callback_tracing_hip_api_data_t data{};
    data.args.hipModuleLaunchKernel = {function, 3, 2, 1, 128, 1, 1, nullptr, nullptr, extra};
    call(ROCPROFILER_HIP_RUNTIME_API_ID_hipModuleLaunchKernel, data,
         [&] { dispatch(kShift, work_items, block); });
    rocprofiler_callback_tracing_hip_api_data_t other{};
    other.args.hipExtModuleLaunchKernel = {function, 300, 1, 1, 128, 1, 1, nullptr, parameters, nullptr};
    call(ROCPROFILER_HIP_RUNTIME_API_ID_hipExtModuleLaunchKernel, other, [&] {
      dispatch(kShift, {300, 1, 1}, block);
    });
  }

  void config() {
    const hipLaunchConfig_t config{{3, 2, 1}, {128, 1, 1}, 64, stream};
    rocprofiler_callback_tracing_hip_api_data_t data{};
    data.args.hipLaunchKernelExC = {&config, nullptr, parameters};
    call(ROCPROFILER_HIP_RUNTIME_API_ID_hipLaunchKernelExC, data,
         [&] { dispatch(kShift, work_items, block); });
  }

  void graph() {
    rocprofiler_callback_tracing_hip_api_data_t data{};
    data.args.hipGraphLaunch = {stream};
    call(ROCPROFILER_HIP_RUNTIME_API_ID_hipGraphLaunch, data, [&] {
      dispatch(kShift, work_items, block);
      dispatch(kShift, work_items, block);
    });
  }
};

}  // namespace

int main(int count, char** words) {
  if (count < 4) return 9;
  // As rocprofiler-register: no profiler where nobody asks for a tool.
  const char* profiler = std::getenv("ROCPROFILER_REGISTER_LIBRARY");
  if (std::getenv("ROCP_TOOL_LIBRARIES") == nullptr || profiler == nullptr) return 8;
  void* library = dlopen(profiler, RTLD_GLOBAL | RTLD_LAZY);
  if (library == nullptr) return 7;
  const auto begin = reinterpret_cast<decltype(&stand_in_begin)>(dlsym(library, "stand_in_begin"));
  tell_function = reinterpret_cast<decltype(&stand_in_tell)>(dlsym(library, "stand_in_tell"));
  timestamp =
      reinterpret_cast<decltype(&rocprofiler_get_timestamp)>(dlsym(library, "rocprofiler_get_timestamp"));
  const char* version = std::getenv("STAND_IN_VERSION");
  begin(version == nullptr ? 10000 : static_cast<std::uint32_t>(std::atoi(version)));

  float* x = nullptr;
  void* allocated = reinterpret_cast<void*>(std::uintptr_t{0x7f1234560000});
  rocprofiler_callback_tracing_hip_api_data_t data{};
  data.args.hipMalloc = {&allocated, 4096};
  call(ROCPROFILER_HIP_RUNTIME_API_ID_hipMalloc, data, [] {});
  x = static_cast<float*>(allocated) + 16;
  load(words[1], words[2], std::string(words[3]) == "memory");
  int n = 0;
  for (int i = 4; i < count; ++i) {
    Shift shift(x, ++n);
    const std::string word = words[i];
    if (word == "plain") shift.plain();
    if (word == "module") shift.module();
    if (word == "config") shift.config();
    if (word == "graph") shift.graph();
    if (word == "crash") {
      complete();
      std::raise(SIGKILL);
    }
  }
  complete();
  return 0;
}
