#include "core/sentence.hpp"
#include "lab/capture/gzip_stream.hpp"
#include "lab/capture/readers.hpp"
#include "lab/capture/start_order.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdlib>
#include <limits>

namespace isomer::lab {
namespace {

using nlohmann::json;

std::optional<double> number(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return std::nullopt;
  if (found->is_number()) return found->get<double>();
  return std::nullopt;
}

template <class Unsigned>
void whole(const json& object, const char* key, std::optional<Unsigned>& into) {
  const auto value = number(object, key);
  if (value && *value >= 0 && *value <= 9e15 &&
      *value <= static_cast<double>(std::numeric_limits<Unsigned>::max()))
    into = static_cast<Unsigned>(*value);
}

void number_triple(const json& object, const char* key, std::optional<std::array<std::uint32_t, 3>>& into) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array() || found->size() != 3) return;
  std::array<std::uint32_t, 3> values{};
  for (std::size_t i = 0; i < 3; ++i) {
    if (!(*found)[i].is_number()) return;
    const auto value = (*found)[i].get<double>();
    if (!(value >= 0 && value <= UINT32_MAX)) return;
    values[i] = static_cast<std::uint32_t>(value);
  }
  into = values;
}

bool is_kernel(const json& event) {
  const auto category = event.find("cat"), phase = event.find("ph");
  if (category == event.end() || !category->is_string() || phase == event.end() || *phase != "X")
    return false;
  const auto& name = category->get_ref<const std::string&>();
  return name == "kernel" || name == "Kernel";
}

Launch launch_of(const json& event) {
  Launch launch;
  if (const auto name = event.find("name"); name != event.end() && name->is_string())
    launch.demangled = name->get<std::string>();
  constexpr double kMicrosecond = 1e3;
  if (const auto start = number(event, "ts")) launch.start_ns = *start * kMicrosecond;
  if (const auto duration = number(event, "dur"); duration && *duration >= 0)
    launch.duration_ns = *duration * kMicrosecond;
  const auto found = event.find("args");
  if (found == event.end() || !found->is_object()) return launch;
  const json& arguments = *found;
  whole(arguments, "device", launch.device);
  whole(arguments, "stream", launch.stream);
  whole(arguments, "correlation", launch.correlation);
  whole(arguments, "registers per thread", launch.registers);
  whole(arguments, "graph node id", launch.graph_node);
  if (launch.graph_node == 0) launch.graph_node.reset();
  number_triple(arguments, "grid", launch.grid);
  number_triple(arguments, "block", launch.block);
  number_triple(arguments, "cluster", launch.cluster);
  // Static and dynamic together: neither is known.
  if (const auto shared = number(arguments, "shared memory")) launch.metrics["shared memory"] = *shared;
  // Isomer's own export keeps these.
  if (const auto mangled = arguments.find("mangled"); mangled != arguments.end() && mangled->is_string())
    launch.name = mangled->get<std::string>();
  if (const auto hash = arguments.find("code hash"); hash != arguments.end() && hash->is_string())
    launch.code_hash = hash->get<std::string>();
  return launch;
}

class KinetoReader {
 public:
  explicit KinetoReader(const LaunchSink& sink) : order_(sink) {}

  /// Every event goes as soon as it is whole, so that the text never becomes one value.
  bool operator()(int depth, json::parse_event_t what, json& value) {
    if (depth == 0 && what == json::parse_event_t::array_start) events_depth_ = 1;
    if (depth == 1 && what == json::parse_event_t::key) {
      const bool wanted = value == "traceEvents" || value == "deviceProperties";
      events_depth_ = value == "traceEvents" ? 2 : -1;
      is_trace_ |= value == "traceEvents";
      return wanted;
    }
    if (depth == events_depth_ && what == json::parse_event_t::object_end) {
      if (value.is_object()) take(value);
      return false;
    }
    // Numbers and texts between events are nothing.
    return !(depth == events_depth_ &&
             (what == json::parse_event_t::value || what == json::parse_event_t::array_end));
  }

  bool is_trace(bool whole) const { return (is_trace_ && whole) || events_ > 0; }
  std::uint64_t events() const { return events_; }
  std::uint64_t host_launches() const { return host_launches_; }
  std::uint64_t kernels() const { return kernels_; }
  StartOrder& order() { return order_; }

 private:
  void take(const json& event) {
    ++events_;
    if (is_kernel(event)) {
      ++kernels_;
      return order_.add(launch_of(event));
    }
    const auto name = event.find("name");
    if (name == event.end() || !name->is_string()) return;
    const auto& text = name->get_ref<const std::string&>();
    if (text.starts_with("cudaLaunchKernel") || text.starts_with("cuLaunchKernel")) ++host_launches_;
  }

  StartOrder order_;
  int events_depth_ = -1;
  bool is_trace_ = false;
  std::uint64_t events_ = 0, host_launches_ = 0, kernels_ = 0;
};

}  // namespace

Capture read_kineto(std::istream& in, const std::string& source, const LaunchSink& sink) {
  Capture capture;
  capture.source = source;
  capture.kind = "kineto";
  KinetoReader reader(sink);
  GzipStream text(in);
  try {
    const json rest = json::parse(
        text, [&](int depth, json::parse_event_t what, json& value) { return reader(depth, what, value); });
    if (rest.is_object() && rest.contains("deviceProperties") && rest["deviceProperties"].is_array() &&
        !rest["deviceProperties"].empty() && rest["deviceProperties"][0].is_object()) {
      const json& device = rest["deviceProperties"][0];
      if (device.contains("name") && device["name"].is_string()) capture.facts["device"] = device["name"];
    }
  } catch (const json::exception& error) {
    capture.complete = false;
    capture.incomplete = core::say("it is not a complete JSON text: it ends early or is damaged after ",
                                   reader.events(), " events");
  }
  if (!text.damage().empty()) {
    capture.complete = false;
    capture.incomplete = text.damage();
  }
  if (!reader.is_trace(capture.complete))
    core::fail(ErrorCode::io, "trace: '", source,
               "' is not a Chrome or PyTorch trace: it has no traceEvents");
  reader.order().end();
  if (reader.kernels() == 0 && reader.host_launches() > 0)
    capture.facts["note kernels"] =
        "it has launches on the host and no kernel on the device: the profiler was not recording CUDA "
        "activities";
  return capture;
}

}  // namespace isomer::lab
