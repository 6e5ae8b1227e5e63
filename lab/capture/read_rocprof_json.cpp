#include "core/sentence.hpp"
#include "lab/capture/gzip_stream.hpp"
#include "lab/capture/json_window.hpp"
#include "lab/capture/readers.hpp"
#include "lab/capture/rocprof_launch.hpp"
#include "lab/capture/start_order.hpp"

#ifdef ISOMER_HAS_SIMDJSON
#include "lab/capture/json_members.hpp"

#include <algorithm>
#include <unordered_map>
#endif

namespace isomer::lab {
#ifdef ISOMER_HAS_SIMDJSON
namespace {

using json::number;
using json::text;
using json::whole;
using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

std::optional<std::uint64_t> handle(const object& from, std::string_view key) {
  object inside;
  std::optional<std::uint64_t> value;
  if (from[key].get(inside) == simdjson::SUCCESS) whole(inside, "handle", value);
  return value;
}

void extents(const object& from, std::string_view key, std::optional<std::array<std::uint32_t, 3>>& into) {
  object inside;
  if (from[key].get(inside) != simdjson::SUCCESS) return;
  std::array<std::optional<std::uint32_t>, 3> values;
  whole(inside, "x", values[0]);
  whole(inside, "y", values[1]);
  whole(inside, "z", values[2]);
  if (values[0] && values[1] && values[2]) into = {*values[0], *values[1], *values[2]};
}

/// The file is one object, {"rocprofiler-sdk-tool": [process, …]}; a process says its agents, counters and
/// kernels before its dispatches.
class RocprofReader {
 public:
  RocprofReader(std::istream& in, Capture& capture, const LaunchSink& sink)
      : window_(in), capture_(capture), order_(sink) {}

  /// Whether the text is rocprofv3's at all; the capture is incomplete where it breaks off.
  bool read() {
    const bool whole_text = window_.eat('{') && members([this](const std::string& key) {
                              return key == "\"rocprofiler-sdk-tool\"" ? processes() : window_.skip();
                            }) &&
                            window_.peek() == 0;
    order_.end();
    if (!whole_text) {
      capture_.complete = false;
      capture_.incomplete = core::say("it is not a complete JSON text: it ends early or is damaged after ",
                                      dispatches_, " kernels");
    }
    if (unnamed_ > 0)
      capture_.facts["note unnamed"] =
          core::say(unnamed_, " launches name a kernel that the file does not describe");
    if (is_rocprof_ && dispatches_ == 0)
      capture_.facts["note kernels"] =
          "it has no kernel: the program launched none, or rocprofv3 ran without --kernel-trace";
    return is_rocprof_;
  }

 private:
  struct Kernel {
    std::string name, demangled;
    std::optional<std::uint32_t> registers, scalar_registers;
    std::optional<std::uint64_t> shared;
  };

  /// The members of an object whose brace was taken; each value is taken by `member`.
  template <class Member>
  bool members(const Member& member) {
    for (bool first = true;; first = false) {
      if (window_.eat('}')) return true;
      if (!first && !window_.eat(',')) return false;
      if (window_.peek() != '"') return false;
      const std::string key(window_.take());
      if (!window_.eat(':') || !member(key)) return false;
    }
  }

  /// The objects of a list, one by one.
  template <class Take>
  bool each(const Take& take) {
    if (!window_.eat('[')) return window_.skip();
    for (bool first = true;; first = false) {
      if (window_.eat(']')) return true;
      if (!first && !window_.eat(',')) return false;
      const std::string_view value = window_.take();
      if (value.empty()) return false;
      element parsed;
      object inside;
      if (parser_.parse(value.data(), value.size(), false).get(parsed) != simdjson::SUCCESS) return false;
      if (parsed.get(inside) == simdjson::SUCCESS) take(inside);
    }
  }

  bool processes() {
    is_rocprof_ = true;
    // Releases before 1.0 write one process without a list.
    if (window_.peek() == '{') return window_.eat('{') && process();
    if (!window_.eat('[')) return false;
    for (bool first = true;; first = false) {
      if (window_.eat(']')) return true;
      if (!first && !window_.eat(',')) return false;
      if (!window_.eat('{') || !process()) return false;
    }
  }

  bool process() {
    kernels_.clear();
    counters_.clear();
    counted_.clear();
    process_.reset();
    const bool whole_process = members([this](const std::string& key) {
      if (key == "\"metadata\"") return metadata();
      if (key == "\"agents\"") return each([this](const object& agent) { add_agent(agent); });
      if (key == "\"counters\"")
        return each([this](const object& counter) {
          if (const auto id = handle(counter, "id")) counters_[*id] = std::string(text(counter, "name"));
        });
      if (key == "\"kernel_symbols\"") return each([this](const object& kernel) { add_kernel(kernel); });
      if (key == "\"callback_records\"" || key == "\"buffer_records\"")
        return window_.eat('{') && members([this](const std::string& kind) {
                 if (kind == "\"counter_collection\"")
                   return each([this](const object& record) { count(record); });
                 if (kind == "\"kernel_dispatch\"")
                   return each([this](const object& record) { dispatch(record); });
                 return window_.skip();
               });
      return window_.skip();
    });
    // Launches that were counted and not traced have the times of the counting run.
    for (auto& [id, launch] : counted_) give(std::move(launch));
    return whole_process;
  }

  bool metadata() {
    const std::string_view value = window_.take();
    element parsed;
    object inside;
    if (value.empty() || parser_.parse(value.data(), value.size(), false).get(parsed) != simdjson::SUCCESS ||
        parsed.get(inside) != simdjson::SUCCESS)
      return false;
    whole(inside, "pid", process_);
    array words;
    if (capture_.command.empty() && inside["command"].get(words) == simdjson::SUCCESS)
      for (const element word : words) {
        std::string_view each;
        if (word.get(each) == simdjson::SUCCESS)
          capture_.command += (capture_.command.empty() ? "" : " ") + std::string(each);
      }
    return true;
  }

  void add_agent(const object& agent) {
    constexpr std::uint32_t kGpu = 2;
    std::optional<std::uint32_t> type;
    whole(agent, "type", type);
    const auto id = handle(agent, "id");
    if (type != kGpu || !id) return;
    std::optional<std::uint64_t> number;
    whole(agent, "logical_node_type_id", number);
    devices_[*id] = number.value_or(devices_.size());
    if (capture_.facts.contains("arch")) return;
    std::optional<std::uint32_t> units;
    whole(agent, "cu_count", units);
    capture_.facts["arch"] = std::string(text(agent, "name"));
    if (const std::string_view name = text(agent, "product_name"); !name.empty())
      capture_.facts["device"] = std::string(name);
    if (units) capture_.facts["multiprocessors"] = std::to_string(*units);
  }

  void add_kernel(const object& symbol) {
    std::optional<std::uint64_t> id;
    whole(symbol, "kernel_id", id);
    if (!id) return;
    Kernel& kernel = kernels_[*id];
    kernel.name = std::string(text(symbol, "kernel_name"));
    kernel.demangled = std::string(text(symbol, "formatted_kernel_name"));
    whole(symbol, "arch_vgpr_count", kernel.registers);
    whole(symbol, "sgpr_count", kernel.scalar_registers);
    whole(symbol, "group_segment_size", kernel.shared);
  }

  std::optional<Launch> launch_of(const object& record, const object& inside_of, std::uint64_t& id) {
    object info;
    if (inside_of["dispatch_info"].get(info) != simdjson::SUCCESS) return std::nullopt;
    std::optional<std::uint64_t> kernel, number, thread;
    whole(info, "kernel_id", kernel);
    whole(info, "dispatch_id", number);
    if (!kernel) return std::nullopt;
    id = number.value_or(0);
    Launch launch;
    if (const auto found = kernels_.find(*kernel); found != kernels_.end()) {
      launch.demangled = found->second.demangled;
      set_name(launch, found->second.name);
      launch.registers = found->second.registers;
      launch.scalar_registers = found->second.scalar_registers;
      launch.shared_static = found->second.shared;
    } else {
      ++unnamed_;
      launch.demangled = core::say("kernel ", *kernel);
    }
    launch.process = process_;
    whole(record, "thread_id", launch.thread);
    launch.stream = handle(record, "stream_id");
    if (!launch.stream) launch.stream = handle(info, "queue_id");
    if (const auto agent = handle(info, "agent_id"); agent && devices_.contains(*agent))
      launch.device = devices_.at(*agent);
    extents(info, "workgroup_size", launch.block);
    extents(info, "grid_size", launch.grid);
    count_in_blocks(launch);
    // A dispatch tells both together.
    whole(info, "group_segment_size", launch.shared_dynamic);
    if (launch.shared_dynamic && launch.shared_static)
      *launch.shared_dynamic -= std::min(*launch.shared_dynamic, *launch.shared_static);
    whole(info, "private_segment_size", launch.local_bytes);
    set_times(launch, nanoseconds(inside_of, "start_timestamp"), nanoseconds(inside_of, "end_timestamp"));
    return launch;
  }

  static std::optional<std::int64_t> nanoseconds(const object& from, std::string_view key) {
    element value;
    std::int64_t got = 0;
    if (from[key].get(value) != simdjson::SUCCESS || value.get(got) != simdjson::SUCCESS) return std::nullopt;
    return got;
  }

  /// A launch with its counters. A launch that is counted in several passes is told several times.
  void count(const object& record) {
    object data;
    array values;
    if (record["dispatch_data"].get(data) != simdjson::SUCCESS || counted_.size() >= kCounted) return;
    std::uint64_t id = 0;
    auto launch = launch_of(record, data, id);
    if (!launch) return;
    Launch& kept = counted_.try_emplace(id, std::move(*launch)).first->second;
    if (record["records"].get(values) != simdjson::SUCCESS) return;
    for (const element value : values) {
      object each;
      if (value.get(each) != simdjson::SUCCESS) continue;
      const auto counter = handle(each, "counter_id");
      const auto got = number(each, "value");
      if (!counter || !got) continue;
      const auto name = counters_.find(*counter);
      // One counter has a value for each instance of its block: what people read is the sum.
      if (name != counters_.end()) kept.metrics[name->second] += *got;
    }
  }

  void dispatch(const object& record) {
    std::uint64_t id = 0;
    auto launch = launch_of(record, record, id);
    if (!launch) return;
    if (const auto counted = counted_.find(id); counted != counted_.end()) {
      launch->metrics = std::move(counted->second.metrics);
      counted_.erase(counted);
    }
    give(std::move(*launch));
  }

  void give(Launch&& launch) {
    ++dispatches_;
    order_.add(std::move(launch));
  }

  static constexpr std::size_t kCounted = std::size_t{1} << 20;
  JsonWindow window_;
  Capture& capture_;
  StartOrder order_;
  simdjson::dom::parser parser_;
  bool is_rocprof_ = false;
  std::uint64_t dispatches_ = 0, unnamed_ = 0;
  std::optional<std::uint64_t> process_;
  std::unordered_map<std::uint64_t, Kernel> kernels_;
  std::unordered_map<std::uint64_t, std::uint64_t> devices_;  ///< agent → its number among the GPUs
  std::unordered_map<std::uint64_t, std::string> counters_;
  std::map<std::uint64_t, Launch> counted_;  ///< by dispatch
};

}  // namespace
#endif

Capture read_rocprof_json(std::istream& in, const std::string& source, const LaunchSink& sink) {
#ifdef ISOMER_HAS_SIMDJSON
  Capture capture;
  capture.source = source;
  capture.kind = "rocprofv3";
  GzipStream text(in);
  const bool is_rocprof = RocprofReader(text, capture, sink).read();
  if (!text.damage().empty()) {
    capture.complete = false;
    capture.incomplete = text.damage();
  }
  if (!is_rocprof)
    core::fail(ErrorCode::io, "trace: '", source,
               "' is not a JSON of rocprofv3: it has no rocprofiler-sdk-tool");
  return capture;
#else
  core::fail(ErrorCode::unsupported, "trace: '", source, "' cannot be read: this build has no simdjson");
#endif
}

}  // namespace isomer::lab
