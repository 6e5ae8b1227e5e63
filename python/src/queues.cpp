#include "queues.hpp"

#include "core/sentence.hpp"

#include <charconv>
#include <map>
#include <tuple>

namespace isomer::python {
namespace {

/// The stream that the library's users have made current on that device.
void* current_stream(Device device, Family family) {
  Ref stream, pointer;
  if (family == Family::torch) {
    const Ref torch = import_module("torch"), cuda = owned(PyObject_GetAttrString(torch.get(), "cuda"));
    stream = owned(PyObject_CallMethod(cuda.get(), "current_stream", "i", device.index));
    pointer = owned(PyObject_GetAttrString(stream.get(), "cuda_stream"));
  } else {
    const Ref cuda = import_module("cupy.cuda");
    stream = owned(PyObject_CallMethod(cuda.get(), "get_current_stream", nullptr));
    pointer = owned(PyObject_GetAttrString(stream.get(), "ptr"));
  }
  void* const raw = PyLong_AsVoidPtr(pointer.get());
  if (PyErr_Occurred()) throw Raised{};
  // Streams of these libraries that are null are the legacy default stream.
  return raw == nullptr ? reinterpret_cast<void*>(std::uintptr_t{1}) : raw;
}

}  // namespace

const Queue& PyQueue::open(std::string_view op) const {
  if (!queue) core::fail(ErrorCode::bad_argument, op, ": the queue is closed");
  return *queue;
}

const Queue& default_queue(Device device, Family family) {
  if (device.type == DeviceType::cpu) {
    static const Queue* const cpu = new Queue(Queue::cpu());
    return *cpu;
  }
  using Key = std::tuple<DeviceType, int, void*>;
  // Queues outlive the calls that use them, and graphs that captured their memory.
  static auto* const queues = new std::map<Key, Queue>;
  void* const stream =
      family == Family::torch || family == Family::cupy ? current_stream(device, family) : nullptr;
  const Key key{device.type, device.index, stream};
  const auto found = queues->find(key);
  if (found != queues->end()) return found->second;
  return queues->emplace(key, Queue::on(device, {}, stream)).first->second;
}

Device device_named(const std::string& name) {
  const std::size_t colon = name.find(':');
  const std::string kind = name.substr(0, colon);
  Device device;
  if (kind == "cuda")
    device.type = DeviceType::cuda;
  else if (kind == "hip")
    device.type = DeviceType::hip;
  else if (kind != "cpu")
    core::fail(ErrorCode::bad_argument, "queue: device is '", name, "', expected cpu, cuda:0 or hip:0");
  if (colon != std::string::npos) {
    const char *begin = name.data() + colon + 1, *end = name.data() + name.size();
    const auto [last, error] = std::from_chars(begin, end, device.index);
    if (error != std::errc() || last != end || device.index < 0)
      core::fail(ErrorCode::bad_argument, "queue: device is '", name, "', expected a number after the colon");
  }
  return device;
}

}  // namespace isomer::python
