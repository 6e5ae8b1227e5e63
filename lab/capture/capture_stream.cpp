#include "lab/capture/capture_stream.hpp"

#include "core/sentence.hpp"
#include "lab/capture/joiner.hpp"
#include "lab/capture/launch_json.hpp"
#include "lab/text/read_json.hpp"

#include <nlohmann/json.hpp>

#include <deque>
#include <unordered_map>
#include <utility>

namespace isomer::lab {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestLine = 16 << 20;
constexpr std::size_t kMostKernels = 1 << 20;
constexpr std::size_t kMostNotes = 1000;

/// One line without its end. False at the end of the file. A line that is longer than any is one that is cut
/// there, which is no JSON.
bool next_line(std::istream& in, std::string& line) {
  line.clear();
  std::streambuf& bytes = *in.rdbuf();
  for (int c = bytes.sbumpc(); c != std::char_traits<char>::eof(); c = bytes.sbumpc()) {
    if (c == '\n') return true;
    line += static_cast<char>(c);
    if (line.size() > kLongestLine) return true;
  }
  return !line.empty();
}

}  // namespace

class CaptureStream::Reader {
 public:
  Reader(std::istream& in, std::string source, std::uint64_t origin)
      : in_(in), origin_(origin), joiner_([this](Launch&& launch) {
          ++given_;
          ready_.push_back(std::move(launch));
        }) {
    capture_.source = std::move(source);
    capture_.kind = "isomer";
    capture_.complete = false;
    header();
  }

  bool next(Launch& launch) {
    while (ready_.empty() && !over_) step();
    if (ready_.empty()) return false;
    launch = std::move(ready_.front());
    ready_.pop_front();
    return true;
  }

  Capture about() { return std::move(capture_); }

 private:
  struct Kernel {
    Launch common;
    ParameterLayout layout;
  };

  /// One line, or what is to be done behind the last one.
  void step() {
    std::string& text = text_;
    if (ended_ || !next_line(in_, text)) return finish();
    ++number_;
    const json line = read_json(text);
    if (line.is_object() && take(line)) return;
    // A program that was killed leaves half a line, or its last block full of zeros.
    const bool cut =
        text.find('\0') != std::string::npos || in_.rdbuf()->sgetc() == std::char_traits<char>::eof();
    capture_.incomplete = cut ? "it has no last line: its program crashed, was killed or is still running"
                              : core::say("line ", number_, " is not a line of a capture");
    finish();
  }

  void finish() {
    over_ = true;
    joiner_.end();
    if (capture_.incomplete.empty() && !ended_)
      capture_.incomplete = "it has no last line: its program crashed, was killed or is still running";
    capture_.complete = capture_.incomplete.empty();
    if (joiner_.hidden_graphs() > 0)
      note(core::say(joiner_.hidden_graphs(), " graph launches whose kernels the device did not report"));
    if (joiner_.unmatched() > 0)
      note(core::say(joiner_.unmatched(),
                     " kernels ran for which no launch call was seen: their arguments are unknown"));
    if (joiner_.untimed() > 0) note(core::say(joiner_.untimed(), " launches have no time"));
  }

  void header() {
    std::string text;
    next_line(in_, text);
    const json line = read_json(text);
    const bool is_one = line.is_object() && line.contains("isomer_trace");
    if (!is_one) core::fail(ErrorCode::io, "trace: '", capture_.source, "' is not a capture of isomer trace");
    if (line["isomer_trace"] != 1)
      core::fail(ErrorCode::io, "trace: '", capture_.source,
                 "' has another version of the format, expected 1");
    if (const auto found = line.find("command"); found != line.end() && found->is_string())
      capture_.command = found->get<std::string>();
    if (const auto found = line.find("tool"); found != line.end() && found->is_string())
      capture_.facts["tool"] = found->get<std::string>();
    if (const auto found = line.find("facts"); found != line.end() && found->is_object())
      for (const auto& [name, value] : found->items())
        if (value.is_string()) capture_.facts[name] = value.get<std::string>();
    if (const auto found = line.find("process"); found != line.end() && found->is_number_unsigned())
      process_ = found->get<std::uint64_t>();
  }

  void note(const std::string& sentence) {
    if (notes_++ < kMostNotes) capture_.facts[core::say("note ", notes_)] = sentence;
  }

  static std::optional<std::uint64_t> id(const json& line, const char* key) {
    const auto found = line.find(key);
    if (found == line.end() || !found->is_number_unsigned()) return std::nullopt;
    return found->get<std::uint64_t>();
  }

  /// The launch of a line, on top of what its kernel says.
  Launch launch_of(const json& line) {
    Launch launch;
    const ParameterLayout none;
    const ParameterLayout* layout = &none;
    if (const auto kernel = id(line, "kernel"))
      if (const auto known = kernels_.find(*kernel); known != kernels_.end()) {
        launch = known->second.common;
        layout = &known->second.layout;
      }
    launch.process = process_;
    read_launch(line, *layout, launch, origin_);
    if (const auto name = id(line, "name"))
      if (const auto known = texts_.find(*name); known != texts_.end()) launch.name = known->second;
    return launch;
  }

  bool take(const json& line) {
    if (const auto correlation = id(line, "launch")) {
      Launch launch = launch_of(line);
      launch.correlation = correlation;
      if (line.contains("later")) {
        joiner_.launched(std::move(launch));
      } else {
        joiner_.done(std::move(launch));
      }
    } else if (const auto run = id(line, "ran")) {
      Launch launch = launch_of(line);
      launch.correlation = run;
      joiner_.ran(std::move(launch));
    } else if (const auto node = id(line, "node")) {
      joiner_.node(*node, launch_of(line));
    } else if (const auto kernel = id(line, "kernel")) {
      if (kernels_.size() >= kMostKernels && !kernels_.contains(*kernel)) return true;
      Kernel& entry = kernels_[*kernel];
      entry = {};
      read_kernel(line, entry.common, entry.layout);
    } else if (const auto graph = id(line, "graph")) {
      joiner_.graph_launched(*graph);
    } else if (const auto clone = id(line, "clone")) {
      joiner_.cloned(*clone, id(line, "of").value_or(0));
    } else if (const auto forgotten = id(line, "forget")) {
      joiner_.forget_node(*forgotten);
    } else if (const auto text = id(line, "text")) {
      if (texts_.size() < kMostKernels && line.contains("is") && line["is"].is_string())
        texts_[*text] = line["is"].get<std::string>();
    } else if (line.contains("fact")) {
      if (line.contains("name") && line["name"].is_string() && line.contains("is") && line["is"].is_string())
        capture_.facts[line["name"].get<std::string>()] = line["is"].get<std::string>();
    } else if (const auto sentence = line.find("note"); sentence != line.end() && sentence->is_string()) {
      note(sentence->get<std::string>());
    } else if (const auto end = line.find("end"); end != line.end() && end->is_object()) {
      joiner_.end();
      capture_.dropped = id(*end, "dropped").value_or(0);
      if (capture_.dropped > 0)
        capture_.incomplete = core::say(capture_.dropped, " kernels were dropped while recording");
      if (const auto launches = id(*end, "launches"); launches && *launches != given_)
        capture_.incomplete = core::say("it has ", given_, " launches, but its last line says ", *launches);
      ended_ = true;
    } else {
      return false;
    }
    return true;
  }

  std::istream& in_;
  std::uint64_t origin_;
  Capture capture_;
  std::uint64_t given_ = 0;
  std::deque<Launch> ready_;
  std::string text_;
  Joiner joiner_;
  std::optional<std::uint64_t> process_;
  std::unordered_map<std::uint64_t, Kernel> kernels_;
  std::unordered_map<std::uint64_t, std::string> texts_;
  std::size_t number_ = 1, notes_ = 0;
  bool ended_ = false, over_ = false;
};

CaptureStream::CaptureStream(std::istream& in, const std::string& source, std::uint64_t origin_ns)
    : reader_(std::make_unique<Reader>(in, source, origin_ns)) {}

CaptureStream::~CaptureStream() = default;

bool CaptureStream::next(Launch& launch) { return reader_->next(launch); }

Capture CaptureStream::about() { return reader_->about(); }

}  // namespace isomer::lab
