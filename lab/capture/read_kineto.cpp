#include "core/sentence.hpp"
#include "lab/capture/gzip_stream.hpp"
#include "lab/capture/json_window.hpp"
#include "lab/capture/nested_ranges.hpp"
#include "lab/capture/readers.hpp"
#include "lab/capture/start_order.hpp"

#ifdef ISOMER_HAS_SIMDJSON
#include "lab/capture/json_members.hpp"

#include <functional>
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

void number_triple(const object& from, std::string_view key,
                   std::optional<std::array<std::uint32_t, 3>>& into) {
  array list;
  if (from[key].get(list) != simdjson::SUCCESS || list.size() != 3) return;
  std::array<std::uint32_t, 3> values{};
  for (std::size_t i = 0; const element each : list) {
    double value = 0;
    if (each.get(value) != simdjson::SUCCESS || !(value >= 0 && value <= UINT32_MAX)) return;
    values[i++] = static_cast<std::uint32_t>(value);
  }
  into = values;
}

Launch launch_of(const object& event) {
  Launch launch;
  launch.demangled = text(event, "name");
  constexpr double kMicrosecond = 1e3;
  if (const auto start = number(event, "ts")) launch.start_ns = *start * kMicrosecond;
  if (const auto duration = number(event, "dur"); duration && *duration >= 0)
    launch.duration_ns = *duration * kMicrosecond;
  object arguments;
  if (event["args"].get(arguments) != simdjson::SUCCESS) return launch;
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
  launch.name = text(arguments, "mangled");
  launch.code_hash = text(arguments, "code hash");
  return launch;
}

/// PyTorch's operators by the number that an event of theirs has, and which of them made a launch.
class Operators {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 23;  ///< beyond it operators are not told

  void add(const object& event) {
    object arguments;
    if (event["args"].get(arguments) != simdjson::SUCCESS || added_ >= kMost) return;
    ++added_;
    std::string name(text(event, "name"));
    for (const char* key : {"Input Dims", "Input dims"}) {
      element shapes;
      if (arguments[key].get(shapes) != simdjson::SUCCESS) continue;
      std::string dims = simdjson::minify(shapes);
      constexpr std::size_t kLongest = 100;
      if (dims.size() > kLongest) dims = dims.substr(0, kLongest) + "…";
      name += " " + dims;
    }
    const auto [at, is_new] = numbers_.emplace(std::move(name), static_cast<std::uint32_t>(names_.size()));
    if (is_new) names_.push_back(&at->first);
    if (const auto id = external(arguments)) by_number_[*id] = at->second;
    const auto begin = number(event, "ts"), duration = number(event, "dur");
    if (begin && duration) ranges_.add(thread_of(event), *begin, *begin + *duration, at->second);
  }

  /// A call of the runtime: its launch is its operator's.
  void add_call(const object& event) {
    object arguments;
    std::optional<std::uint64_t> correlation;
    if (event["args"].get(arguments) != simdjson::SUCCESS || calls_.size() >= kMost) return;
    whole(arguments, "correlation", correlation);
    if (!correlation) return;
    Call call{0, external(arguments), thread_of(event)};
    if (const auto begin = number(event, "ts")) call.begin = *begin;
    calls_[*correlation] = call;
  }

  static std::optional<std::uint64_t> number_of(const object& event) {
    object arguments;
    return event["args"].get(arguments) == simdjson::SUCCESS ? external(arguments) : std::nullopt;
  }

  /// `id` is what the kernel's own event says.
  void name(std::optional<std::uint64_t> id, Launch& launch) {
    const auto call = launch.correlation ? calls_.find(*launch.correlation) : calls_.end();
    if (!id && call != calls_.end()) id = call->second.id;
    // In traces of older PyTorch the number is the call's own: the operator is the one that ran when it was
    // made.
    if (call != calls_.end() && (!id || id == launch.correlation))
      if (const auto name = ranges_.innermost(call->second.thread, call->second.begin)) {
        launch.operation = *names_[*name];
        return;
      }
    if (!id) return;
    if (const auto found = by_number_.find(*id); found != by_number_.end())
      launch.operation = *names_[found->second];
  }

 private:
  struct Call {
    double begin = 0;
    std::optional<std::uint64_t> id;
    std::uint64_t thread = 0;
  };

  static std::optional<std::uint64_t> external(const object& arguments) {
    std::optional<std::uint64_t> id;
    for (const char* key : {"External id", "external id"}) whole(arguments, key, id);
    return id;
  }

  static std::uint64_t thread_of(const object& event) {
    std::uint64_t thread = 0;
    for (const char* key : {"pid", "tid"}) {
      element value;
      std::int64_t number = 0;
      if (event[key].get(value) != simdjson::SUCCESS) continue;
      const std::uint64_t part = value.get(number) == simdjson::SUCCESS
                                     ? static_cast<std::uint64_t>(number)
                                     : std::hash<std::string_view>()(text(event, key));
      thread = thread * 0x9E3779B97F4A7C15u + part;
    }
    return thread;
  }

  std::map<std::string, std::uint32_t> numbers_;
  std::vector<const std::string*> names_;
  std::unordered_map<std::uint64_t, std::uint32_t> by_number_;
  std::unordered_map<std::uint64_t, Call> calls_;
  NestedRanges ranges_;
  std::size_t added_ = 0;
};

class KinetoReader {
 public:
  KinetoReader(std::istream& in, Capture& capture, const LaunchSink& sink)
      : window_(in), capture_(capture), order_(sink) {}

  /// Whether the text is a trace at all; the capture is incomplete where it breaks off.
  bool read() {
    bool whole = false;
    if (window_.peek() == '[') {
      whole = list();
    } else if (window_.eat('{')) {
      whole = members();
    }
    for (Launch& launch : held_) {
      operators_.name(launch.correlation, launch);
      order_.add(std::move(launch));
    }
    order_.end();
    if (!whole) {
      capture_.complete = false;
      capture_.incomplete =
          core::say("it is not a complete JSON text: it ends early or is damaged after ", events_, " events");
    }
    if (kernels_ == 0 && host_launches_ > 0)
      capture_.facts["note kernels"] =
          "it has launches on the host and no kernel on the device: the profiler was not recording CUDA "
          "activities";
    return (is_trace_ && whole) || events_ > 0;
  }

 private:
  bool members() {
    for (bool first = true;; first = false) {
      if (window_.eat('}')) return window_.peek() == 0;
      if (!first && !window_.eat(',')) return false;
      if (window_.peek() != '"') return false;
      const std::string key(window_.take());
      if (!window_.eat(':')) return false;
      if (key == "\"traceEvents\"") {
        if (window_.peek() != '[') return false;
        is_trace_ = true;
        if (!list()) return false;
      } else if (key == "\"deviceProperties\"") {
        const std::string_view value = window_.take();
        if (value.empty()) return false;
        devices(value);
      } else if (!window_.skip()) {
        return false;
      }
    }
  }

  /// The events, each as soon as it is whole. Numbers and texts between them are nothing.
  bool list() {
    window_.eat('[');
    for (bool first = true;; first = false) {
      if (window_.eat(']')) return true;
      if (!first && !window_.eat(',')) return false;
      if (window_.peek() != '{') {
        if (window_.eat(']')) return true;  // a comma before the end, as some write it
        if (!window_.skip()) return false;
        continue;
      }
      const std::string_view event = window_.take();
      element value;
      object members;
      if (event.empty() || !parse(event, value) || value.get(members) != simdjson::SUCCESS) return false;
      take(members);
    }
  }

  /// Names may hold bytes of any encoding: where a text is not UTF-8, each of its bytes beyond ASCII is a
  /// '?'.
  bool parse(std::string_view text, element& value) {
    const auto failed = parser_.parse(text.data(), text.size(), false).get(value);
    if (failed != simdjson::UTF8_ERROR) return failed == simdjson::SUCCESS;
    mended_.assign(text);
    mended_.reserve(text.size() + simdjson::SIMDJSON_PADDING);
    for (char& c : mended_)
      if (static_cast<unsigned char>(c) >= 0x80) c = '?';
    return parser_.parse(mended_.data(), mended_.size(), false).get(value) == simdjson::SUCCESS;
  }

  void take(const object& event) {
    ++events_;
    const std::string_view category = text(event, "cat");
    if ((category == "kernel" || category == "Kernel") && text(event, "ph") == "X") {
      ++kernels_;
      Launch launch = launch_of(event);
      const std::optional<std::uint64_t> id = Operators::number_of(event);
      if (id && id == launch.correlation && held_.size() < kHeld) {
        held_.push_back(std::move(launch));
        return;
      }
      operators_.name(id, launch);
      return order_.add(std::move(launch));
    }
    if (category == "cpu_op") return operators_.add(event);
    const std::string_view name = text(event, "name");
    if (name.starts_with("cudaLaunchKernel") || name.starts_with("cuLaunchKernel") ||
        name.starts_with("hipLaunchKernel") || name.starts_with("hipModuleLaunchKernel"))
      ++host_launches_;
    if (category.starts_with("cuda_") || category.starts_with("hip_")) operators_.add_call(event);
  }

  void devices(std::string_view list) {
    element all;
    array each;
    object device;
    if (parser_.parse(list.data(), list.size(), false).get(all) != simdjson::SUCCESS ||
        all.get(each) != simdjson::SUCCESS || each.size() == 0 || each.at(0).get(device) != simdjson::SUCCESS)
      return;
    if (const std::string_view name = text(device, "name"); !name.empty())
      capture_.facts["device"] = std::string(name);
    std::optional<std::uint32_t> count, major, minor;
    whole(device, "numSms", count);
    whole(device, "computeMajor", major);
    whole(device, "computeMinor", minor);
    if (count) capture_.facts["multiprocessors"] = std::to_string(*count);
    const std::string_view vendor = text(device, "name");
    const bool amd = vendor.find("AMD") != std::string_view::npos ||
                     vendor.find("Instinct") != std::string_view::npos ||
                     vendor.find("Radeon") != std::string_view::npos;
    if (major && minor)
      capture_.facts["arch"] = amd ? core::say("gfx", *major, *minor, "x") : core::say("sm_", *major, *minor);
  }

  JsonWindow window_;
  Capture& capture_;
  StartOrder order_;
  Operators operators_;
  /// Launches whose number is their call's own, which such traces have anywhere: their operators are known
  /// when all has been read.
  static constexpr std::size_t kHeld = std::size_t{1} << 18;
  std::vector<Launch> held_;
  simdjson::dom::parser parser_;
  std::string mended_;
  bool is_trace_ = false;
  std::uint64_t events_ = 0, host_launches_ = 0, kernels_ = 0;
};

static_assert(JsonWindow::kPadding >= simdjson::SIMDJSON_PADDING);

}  // namespace
#endif

Capture read_kineto(std::istream& in, const std::string& source, const LaunchSink& sink) {
  Capture capture;
  capture.source = source;
  capture.kind = "kineto";
#ifdef ISOMER_HAS_SIMDJSON
  GzipStream text(in);
  const bool is_trace = KinetoReader(text, capture, sink).read();
  if (!text.damage().empty()) {
    capture.complete = false;
    capture.incomplete = text.damage();
  }
  if (!is_trace && !text.damage().empty())
    core::fail(ErrorCode::io, "trace: '", source, "' has no event of a trace: ", text.damage());
  if (!is_trace)
    core::fail(ErrorCode::io, "trace: '", source,
               "' is not a Chrome or PyTorch trace: it has no traceEvents");
  return capture;
#else
  core::fail(ErrorCode::unsupported, "trace: '", source, "' cannot be read: this build has no simdjson");
#endif
}

}  // namespace isomer::lab
