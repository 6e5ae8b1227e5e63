// Launches of kernels by address, with an array of pointers to the arguments (cudaLaunchKernel).
#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "isomer_emulator/abi.h"
#include "runtime/errors.hpp"
#include "runtime/kernels.hpp"

namespace isomer::emulator {
namespace {

using Invoke = void (*)(const void* function, void* arguments);
/// A kernel that is known by its address alone: an instance of a template.
struct Address {
  Invoke invoke;
  std::vector<std::size_t> parameter_bytes;
  const void* image;  ///< where its module begins
};

/// As in runtime/kernels.cpp: never in hand where the loader is asked.
std::mutex addresses_mutex;
std::map<const void*, Address> addresses;

/// Values keep the alignment of tensor maps.
constexpr std::size_t kAlignment = 128;
struct alignas(kAlignment) Line {
  std::byte bytes[kAlignment];
};
constexpr std::size_t lines_of(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment; }

/// Stands in front of the pointers of a package whose kernel is called by its address.
struct Head {
  Invoke invoke;
  const void* function;
};
void invoke_by_address(void* package) {
  auto* head = static_cast<Head*>(package);
  head->invoke(head->function, head + 1);
}

/// A launch with its own copy of the arguments: what is called, pointers to the values, the values.
class BoundLaunch {
 public:
  static std::unique_ptr<BoundLaunch> of(const LaunchRequest& request, const void* function,
                                         void** arguments) {
    if (const KernelEntry* entry = find_kernel(function); entry && entry->invoke) {
      auto bound = std::make_unique<BoundLaunch>(
          request, std::vector(entry->parameter_bytes, entry->parameter_bytes + entry->parameter_count),
          std::nullopt, arguments);
      bound->request_.kernel = entry->name;
      bound->request_.file = entry->file;
      bound->request_.line = entry->line;
      bound->request_.function = function;
      bound->request_.invoke = entry->invoke;
      return bound;
    }
    std::lock_guard lock(addresses_mutex);
    const auto known = addresses.find(function);
    if (known == addresses.end()) return nullptr;
    auto bound = std::make_unique<BoundLaunch>(request, known->second.parameter_bytes,
                                               Head{known->second.invoke, function}, arguments);
    bound->request_.function = function;
    bound->request_.invoke = &invoke_by_address;
    return bound;
  }

  BoundLaunch(const LaunchRequest& request, std::vector<std::size_t> bytes, std::optional<Head> head,
              void** arguments)
      : request_(request), bytes_(std::move(bytes)) {
    const std::size_t front = head ? sizeof(Head) : 0;
    std::size_t lines = lines_of(front + bytes_.size() * sizeof(void*)), at = lines;
    for (const std::size_t b : bytes_) lines += lines_of(b);
    package_.resize(std::max<std::size_t>(lines, 1));
    auto* begin = package_.data()->bytes;
    if (head) std::memcpy(begin, &*head, sizeof *head);
    auto** pointers = reinterpret_cast<void**>(begin + front);
    for (std::size_t i = 0; i < bytes_.size(); ++i) {
      pointers[i] = package_.data() + at;
      std::memcpy(pointers[i], arguments[i], bytes_[i]);
      at += lines_of(bytes_[i]);
    }
    request_.package = begin;
    request_.package_bytes = package_.size() * kAlignment;
    request_.arguments = pointers;
    request_.argument_bytes = bytes_.data();
    request_.argument_count = static_cast<unsigned>(bytes_.size());
  }
  BoundLaunch(const BoundLaunch&) = delete;
  BoundLaunch& operator=(const BoundLaunch&) = delete;

  void run(void* stream) const {
    LaunchRequest request = request_;
    request.stream = stream;
    launch(request);
  }

 private:
  LaunchRequest request_;
  std::vector<std::size_t> bytes_;
  std::vector<Line> package_;
};

bool comes_of_threads(int code) {
  return code == error::illegal_address || code == error::launch_timeout || code == error::assertion ||
         code == error::launch_failure;
}

GraphWork as_work(std::unique_ptr<BoundLaunch> bound) {
  return {[](void* state, void* stream) { static_cast<BoundLaunch*>(state)->run(stream); },
          [](void* state) { delete static_cast<BoundLaunch*>(state); }, bound.release(), NodeKind::kernel};
}

}  // namespace

void forget_addresses_of(const void* image) {
  std::lock_guard lock(addresses_mutex);
  std::erase_if(addresses, [&](const auto& a) { return a.second.image == image; });
}

#define EXPORT __attribute__((visibility("default")))
extern "C" {

EXPORT void isomer_emulator_register_address(const void* function, Invoke invoke, unsigned parameter_count,
                                             const std::size_t* parameter_bytes) {
  Dl_info info{};
  dladdr(function, &info);
  std::lock_guard lock(addresses_mutex);
  addresses[function] = {invoke, {parameter_bytes, parameter_bytes + parameter_count}, info.dli_fbase};
}
EXPORT int isomer_emulator_launch_array(const LaunchRequest* request, const void* function,
                                        void** arguments) {
  auto bound = BoundLaunch::of(*request, function, arguments);
  if (!bound) return refuse(error::invalid_device_function, "");
  const int before = last_error(false);
  if (Graph* const graph = isomer_emulator_captured(request->stream))
    isomer_emulator_graph_add(graph, as_work(std::move(bound)));
  else
    bound->run(request->stream);
  // What threads have done wrong is told at the next synchronisation: on a device the launch has not run yet.
  const int now = last_error(false);
  return before == error::success && comes_of_threads(now) ? error::success : now;
}
EXPORT int isomer_emulator_launch_packed(const LaunchRequest* request, const void* function,
                                         const void* bytes, std::size_t size) {
  const KernelEntry* entry = find_kernel(function);
  if (!entry || !entry->invoke) return refuse(error::invalid_device_function, "");
  std::vector<void*> arguments;
  auto* const begin = static_cast<std::byte*>(const_cast<void*>(bytes));
  std::size_t at = 0;
  for (unsigned i = 0; i < entry->parameter_count; ++i) {
    const std::size_t alignment = entry->parameter_alignments[i];
    at = (at + alignment - 1) / alignment * alignment;
    arguments.push_back(begin + at);
    at += entry->parameter_bytes[i];
  }
  if (at > size)
    return refuse(error::invalid_value,
                  Refusal{.kernel = entry->name,
                          .text = fmt::format("the arguments of {} take {} bytes, the launch hands it {}",
                                              entry->name, at, size)});
  return isomer_emulator_launch_array(request, function, arguments.data());
}
EXPORT GraphNode* isomer_emulator_graph_add_launch(Graph* graph, const LaunchRequest* request,
                                                   const void* function, void** arguments) {
  auto bound = BoundLaunch::of(*request, function, arguments);
  return bound ? isomer_emulator_graph_add(graph, as_work(std::move(bound))) : nullptr;
}
}
#undef EXPORT

}  // namespace isomer::emulator
