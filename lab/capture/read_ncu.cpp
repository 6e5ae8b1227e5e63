#include "core/sentence.hpp"
#include "lab/capture/csv_row.hpp"
#include "lab/capture/readers.hpp"

#include <charconv>

namespace isomer::lab {
namespace {

/// What a unit is in ns or bytes; 1 for any other.
double scale_of(const std::string& unit) {
  static const std::map<std::string, double> scales = {
      {"us", 1e3},     {"usecond", 1e3}, {"ms", 1e6},    {"msecond", 1e6},     {"s", 1e9},
      {"second", 1e9}, {"Kbyte", 1e3},   {"Mbyte", 1e6}, {"Kbyte/block", 1e3}, {"Gbyte", 1e9}};
  const auto found = scales.find(unit);
  return found == scales.end() ? 1 : found->second;
}

/// "(132, 1, 1)".
void triple_in(const std::string& text, std::optional<std::array<std::uint32_t, 3>>& into) {
  std::array<std::uint32_t, 3> values{};
  std::size_t count = 0;
  const char* at = text.data();
  const char* end = at + text.size();
  while (at < end && count < 3) {
    if (*at < '0' || *at > '9') {
      ++at;
      continue;
    }
    const auto [stop, failed] = std::from_chars(at, end, values[count]);
    if (failed != std::errc()) return;
    at = stop;
    ++count;
  }
  if (count == 3) into = values;
}

template <class Unsigned>
void whole(double value, std::optional<Unsigned>& into) {
  if (value >= 0 && value < 4e9) into = static_cast<Unsigned>(value);
}

/// The few metrics that every source has go to their fields, in the words of both pages.
void take_metric(Launch& launch, const std::string& name, const std::string& unit, const std::string& text) {
  const auto value = number_in(text);
  if (!value) return;
  const double scaled = *value * scale_of(unit);
  if (name == "gpu__time_duration.sum" || name == "Duration") {
    if (scaled >= 0) launch.duration_ns = scaled;
  } else if (name == "launch__registers_per_thread" || name == "Registers Per Thread") {
    whole(scaled, launch.registers);
  } else if (name == "launch__shared_mem_per_block_static" || name == "Static Shared Memory Per Block") {
    whole(scaled, launch.shared_static);
  } else if (name == "launch__shared_mem_per_block_dynamic" || name == "Dynamic Shared Memory Per Block") {
    whole(scaled, launch.shared_dynamic);
  } else {
    launch.metrics[unit.empty() ? name : name + " [" + unit + "]"] = *value;
  }
}

class CsvReader {
 public:
  CsvReader(std::istream& in, std::string source, const LaunchSink& sink)
      : in_(in), source_(std::move(source)), sink_(sink) {}

  Capture read() {
    Capture capture;
    capture.source = source_;
    capture.kind = "ncu";
    header();
    const bool one_metric_a_row = column("Metric Name") >= 0;
    const std::size_t needed =
        one_metric_a_row ? static_cast<std::size_t>(column("Metric Value")) + 1 : names_.size();
    CsvRow row;
    bool units = !one_metric_a_row;
    while (next_row(in_, row)) {
      // What ncu and the program print at the end.
      if (row.size() == 1 && (row[0].empty() || row[0].starts_with("=="))) continue;
      // Rows of a metric leave out the columns of rules.
      if (row.size() > names_.size() || row.size() < needed) {
        capture.complete = false;
        capture.incomplete = core::say("after ", given_ + (open_ ? 1 : 0), " kernels a row has ", row.size(),
                                       " fields, expected ", names_.size());
        break;
      }
      row.resize(names_.size());
      if (units) {
        units_ = row;
        units = false;
        // The unit row has no kernel.
        if (cell(row, "ID").empty() && cell(row, "Kernel Name").empty()) continue;
        units_.assign(row.size(), "");
      }
      if (one_metric_a_row)
        metric(row);
      else
        kernel(row);
    }
    close();
    device(capture);
    return capture;
  }

 private:
  void header() {
    constexpr int kMostBefore = 10000;  // what the program and ncu print before
    CsvRow row;
    for (int i = 0; i < kMostBefore && next_row(in_, row); ++i) {
      names_ = row;
      const bool long_form = column("Metric Name") >= 0;
      if (column("ID") >= 0 && column("Kernel Name") >= 0 && (!long_form || column("Metric Value") >= 0))
        return;
    }
    core::fail(ErrorCode::io, "trace: '", source_,
               "' is not a CSV of ncu: no row has the columns ID and Kernel Name");
  }

  int column(std::string_view name) const {
    for (std::size_t i = 0; i < names_.size(); ++i)
      if (names_[i] == name) return static_cast<int>(i);
    return -1;
  }

  std::string cell(const CsvRow& row, std::string_view name) const {
    const int at = column(name);
    return at < 0 ? "" : row[static_cast<std::size_t>(at)];
  }

  Launch common(const CsvRow& row) {
    Launch launch;
    if (capability_.empty()) capability_ = cell(row, "CC");
    launch.demangled = cell(row, "Kernel Name");
    triple_in(cell(row, "Grid Size"), launch.grid);
    triple_in(cell(row, "Block Size"), launch.block);
    if (const auto value = number_in(cell(row, "Device"))) whole(*value, launch.device);
    if (const auto value = number_in(cell(row, "Stream"))) whole(*value, launch.stream);
    if (const auto value = number_in(cell(row, "Process ID"))) whole(*value, launch.process);
    return launch;
  }

  /// What ncu says of the device: its capability in a column, its name and size among the metrics.
  void device(Capture& capture) const {
    if (!capability_.empty()) {
      std::string arch = "sm_";
      for (const char c : capability_)
        if (c >= '0' && c <= '9') arch += c;
      if (arch.size() > 3) capture.facts["arch"] = arch;
    }
    if (!name_.empty()) capture.facts["device"] = name_;
    if (multiprocessors_) capture.facts["multiprocessors"] = core::say(*multiprocessors_);
  }

  /// A metric that is the device's, not the kernel's.
  bool of_device(const std::string& name, const std::string& text) {
    if (name == "device__attribute_display_name") {
      name_ = text;
      return true;
    }
    if (name != "device__attribute_multiprocessor_count" && name != "# SMs") return false;
    if (const auto value = number_in(text)) whole(*value, multiprocessors_);
    return true;
  }

  void close() {
    if (!open_) return;
    open_ = false;
    ++given_;
    sink_(std::move(launch_));
  }

  void metric(const CsvRow& row) {
    const std::string id = cell(row, "ID");
    if (!open_ || id != id_) {
      close();
      launch_ = common(row);
      id_ = id;
      open_ = true;
    }
    const std::string name = cell(row, "Metric Name"), value = cell(row, "Metric Value");
    if (!of_device(name, value)) take_metric(launch_, name, cell(row, "Metric Unit"), value);
  }

  void kernel(const CsvRow& row) {
    launch_ = common(row);
    open_ = true;
    for (std::size_t i = 0; i < row.size(); ++i) {
      // Metrics are lower case with an underscore; the other columns are titles.
      if (names_[i].find('_') != std::string::npos && !of_device(names_[i], row[i]))
        take_metric(launch_, names_[i], units_[i], row[i]);
    }
    close();
  }

  std::istream& in_;
  std::string source_;
  const LaunchSink& sink_;
  CsvRow names_, units_;
  Launch launch_;
  std::string id_, capability_, name_;
  std::optional<std::uint32_t> multiprocessors_;
  bool open_ = false;
  std::uint64_t given_ = 0;
};

}  // namespace

Capture read_ncu_csv(std::istream& in, const std::string& source, const LaunchSink& sink) {
  return CsvReader(in, source, sink).read();
}

}  // namespace isomer::lab
