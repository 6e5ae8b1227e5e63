#include "core/sentence.hpp"
#include "lab/capture/csv_row.hpp"
#include "lab/capture/readers.hpp"
#include "lab/capture/rocprof_launch.hpp"
#include "lab/capture/start_order.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace isomer::lab {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// kernel_trace.csv has a row for each launch, counter_collection.csv one for each launch and counter.
/// Columns are looked for, and their case is not, as both differ between releases.
class RocprofCsv {
 public:
  RocprofCsv(std::istream& in, std::string source, const LaunchSink& sink)
      : in_(in), source_(std::move(source)), order_(sink) {}

  Capture read() {
    Capture capture;
    capture.source = source_;
    capture.kind = "rocprofv3";
    CsvRow row;
    if (next_row(in_, row))
      for (std::size_t i = 0; i < row.size(); ++i) columns_.emplace(lower(row[i]), i);
    const bool counters = columns_.contains("counter_name");
    if (!columns_.contains("kernel_name") || (!counters && !columns_.contains("start_timestamp")))
      core::fail(ErrorCode::io, "trace: '", source_,
                 "' is no CSV of rocprofv3 that has launches: expected a kernel_trace.csv or a "
                 "counter_collection.csv");
    const std::size_t width = row.size();
    std::uint64_t rows = 0;
    for (; next_row(in_, row); ++rows) {
      if (row.size() == 1 && row[0].empty()) continue;
      if (row.size() != width) {
        capture.complete = false;
        capture.incomplete =
            core::say("after ", rows, " rows a row has ", row.size(), " fields, expected ", width);
        break;
      }
      if (counters)
        count(row);
      else
        order_.add(launch_of(row));
    }
    for (auto& [id, launch] : counted_) order_.add(std::move(launch));
    order_.end();
    if (rows == 0) capture.facts["note kernels"] = "it has no kernel: the program launched none";
    return capture;
  }

 private:
  const std::string& cell(const CsvRow& row, const char* name) const {
    static const std::string kNone;
    const auto at = columns_.find(name);
    return at == columns_.end() ? kNone : row[at->second];
  }

  template <class Number>
  void whole(const CsvRow& row, const char* name, std::optional<Number>& into) const {
    const std::string& text = cell(row, name);
    Number value{};
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (!text.empty() && failed == std::errc() && end == text.data() + text.size()) into = value;
  }

  void triple(const CsvRow& row, const std::string& name,
              std::optional<std::array<std::uint32_t, 3>>& into) const {
    std::array<std::optional<std::uint32_t>, 3> values;
    for (std::size_t i = 0; i < 3; ++i) whole(row, (name + "_" + "xyz"[i]).c_str(), values[i]);
    if (values[0] && values[1] && values[2]) into = {*values[0], *values[1], *values[2]};
  }

  Launch launch_of(const CsvRow& row) const {
    Launch launch;
    set_name(launch, cell(row, "kernel_name"));
    triple(row, "workgroup_size", launch.block);
    triple(row, "grid_size", launch.grid);
    count_in_blocks(launch);
    // Counters come with products alone.
    for (const char* name : {"grid_size", "workgroup_size"})
      if (const std::string& text = cell(row, name); !text.empty()) launch.parameters[name] = text;
    whole(row, "queue_id", launch.stream);
    whole(row, "process_id", launch.process);
    whole(row, "thread_id", launch.thread);
    whole(row, "vgpr_count", launch.registers);
    whole(row, "sgpr_count", launch.scalar_registers);
    for (const char* name : {"scratch_size", "private_segment_size"}) whole(row, name, launch.local_bytes);
    // Static and dynamic together.
    for (const char* name : {"lds_block_size", "group_segment_size"}) whole(row, name, launch.shared_dynamic);
    std::optional<std::int64_t> begin, end;
    whole(row, "start_timestamp", begin);
    whole(row, "end_timestamp", end);
    set_times(launch, begin, end);
    return launch;
  }

  void count(const CsvRow& row) {
    const std::string id = cell(row, "process_id") + ":" + cell(row, "dispatch_id");
    const auto value = number_in(cell(row, "counter_value"));
    if (counted_.size() >= kCounted && !numbers_.contains(id)) return;
    const auto [at, is_new] = numbers_.emplace(id, numbers_.size());
    Launch& launch =
        is_new ? counted_.emplace(at->second, launch_of(row)).first->second : counted_.at(at->second);
    if (value) launch.metrics[cell(row, "counter_name")] += *value;
  }

  static constexpr std::size_t kCounted = std::size_t{1} << 20;
  std::istream& in_;
  std::string source_;
  StartOrder order_;
  std::map<std::string, std::size_t> columns_;
  std::map<std::string, std::size_t> numbers_;  ///< of dispatches, in the order of the file
  std::map<std::size_t, Launch> counted_;
};

}  // namespace

Capture read_rocprof_csv(std::istream& in, const std::string& source, const LaunchSink& sink) {
  return RocprofCsv(in, source, sink).read();
}

}  // namespace isomer::lab
