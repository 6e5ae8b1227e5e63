#include "core/sentence.hpp"
#include "lab/capture/nested_ranges.hpp"
#include "lab/capture/readers.hpp"

#ifdef ISOMER_HAS_SQLITE
#include "lab/capture/sqlite_file.hpp"

#include <set>
#include <unordered_map>
#endif

namespace isomer::lab {
#ifdef ISOMER_HAS_SQLITE
namespace {

constexpr const char* kKernels = "CUPTI_ACTIVITY_KIND_KERNEL";

/// PyTorch's emit_nvtx writes "aten::mm, seq = 5, op_id = 7, sizes = [[8, 16], [16, 8]]" for what its
/// profiler calls "aten::mm [[8,16],[16,8]]". Any other text is its own name.
std::string range_name(std::string text) {
  constexpr std::string_view kSizes = ", sizes = ";
  std::string sizes;
  if (const std::size_t at = text.find(kSizes); at != std::string::npos) {
    const std::size_t end = text.find(", input_op_ids", at);
    for (const char c : text.substr(at + kSizes.size(), end - std::min(end, at + kSizes.size())))
      if (c != ' ') sizes += c;
    sizes.insert(0, " ");
  }
  for (const std::string_view mark : {", seq = ", ", op_id = ", ", sizes = ", ", input_op_ids"})
    if (const std::size_t at = text.find(mark); at != std::string::npos) text.resize(at);
  return text + sizes;
}

class DatabaseReader : SqliteFile {
 public:
  using SqliteFile::SqliteFile;

  Capture read(const LaunchSink& sink) {
    Capture capture;
    capture.source = path();
    capture.kind = "nsys";
    const bool hidden = is_table("CUPTI_ACTIVITY_KIND_GRAPH_TRACE");
    if (hidden)
      capture.facts["note graphs"] =
          "kernels inside CUDA graphs are hidden in it: record with nsys profile --cuda-graph-trace=node";
    facts(capture);
    if (!is_table(kKernels)) {
      if (!is_table("StringIds"))
        core::fail(ErrorCode::io, "trace: '", path(),
                   "' is a SQLite database, but not an export of Nsight Systems");
      capture.facts["note kernels"] = "it has no kernel: the program launched none, or CUDA was not traced";
      return capture;
    }
    kernels(capture, sink);
    return capture;
  }

 private:
  /// nsys numbers a process as hardware, virtual machine, process and thread in one word.
  static std::uint64_t process_of(std::uint64_t word) { return word >> 24 & 0xFFFFFF; }
  static std::uint64_t call_of(std::uint64_t process, std::uint64_t correlation) {
    return process << 40 ^ correlation;
  }

  /// Which NVTX range each launch was made in: ranges that a thread pushes and pops hold its calls.
  void ranges() {
    constexpr const char *kRanges = "NVTX_EVENTS", *kCalls = "CUPTI_ACTIVITY_KIND_RUNTIME";
    if (!is_table(kRanges) || !is_table(kCalls) || !is_table("StringIds")) return;
    const std::set<std::string> range = columns(kRanges), call = columns(kCalls);
    for (const char* needed : {"start", "end", "globalTid", "text"})
      if (!range.contains(needed)) return;
    for (const char* needed : {"start", "globalTid", "correlationId"})
      if (!call.contains(needed)) return;
    const bool one_process = !columns(kKernels).contains("globalPid");
    const bool by_id = range.contains("textId");
    constexpr const char* kPushedAndPopped = "59";
    const Statement rows = prepare(core::say(
        "SELECT n.globalTid, n.start, n.\"end\", ", by_id ? "n.text, s.value" : "n.text, NULL",
        " FROM NVTX_EVENTS AS n", by_id ? " LEFT JOIN StringIds AS s ON s.id = n.textId" : "",
        " WHERE n.\"end\" IS NOT NULL",
        range.contains("eventType") ? core::say(" AND n.eventType = ", kPushedAndPopped) : std::string()));
    NestedRanges nested;
    std::map<std::string, std::uint32_t> numbers;
    while (sqlite3_step(rows.get()) == SQLITE_ROW) {
      std::string name = range_name(text(rows.get(), 3));
      if (name.empty()) name = range_name(text(rows.get(), 4));
      if (name.empty()) continue;
      const auto [at, is_new] =
          numbers.emplace(std::move(name), static_cast<std::uint32_t>(range_names_.size()));
      if (is_new) range_names_.push_back(at->first);
      nested.add(static_cast<std::uint64_t>(sqlite3_column_int64(rows.get(), 0)),
                 sqlite3_column_double(rows.get(), 1), sqlite3_column_double(rows.get(), 2), at->second);
    }
    if (nested.empty()) return;
    const Statement calls =
        prepare(core::say("SELECT globalTid, start, correlationId FROM ", kCalls,
                          " WHERE correlationId IN (SELECT correlationId FROM ", kKernels, ")"));
    while (sqlite3_step(calls.get()) == SQLITE_ROW) {
      const auto thread = static_cast<std::uint64_t>(sqlite3_column_int64(calls.get(), 0));
      const auto correlation = static_cast<std::uint64_t>(sqlite3_column_int64(calls.get(), 2));
      if (const auto name = nested.innermost(thread, sqlite3_column_double(calls.get(), 1)))
        range_of_call_[call_of(one_process ? 0 : process_of(thread), correlation)] = *name;
    }
  }

  void facts(Capture& capture) const {
    if (is_table("META_DATA_EXPORT") && columns("META_DATA_EXPORT").contains("value")) {
      const Statement version =
          prepare("SELECT value FROM META_DATA_EXPORT WHERE name='EXPORT_SCHEMA_VERSION' LIMIT 1");
      if (sqlite3_step(version.get()) == SQLITE_ROW) capture.facts["schema"] = text(version.get(), 0);
    }
    if (is_table("TARGET_INFO_GPU") && columns("TARGET_INFO_GPU").contains("name")) {
      const Statement name = prepare("SELECT name FROM TARGET_INFO_GPU LIMIT 1");
      if (sqlite3_step(name.get()) == SQLITE_ROW) capture.facts["device"] = text(name.get(), 0);
      const std::set<std::string> there = columns("TARGET_INFO_GPU");
      if (there.contains("smCount") && there.contains("smMajor") && there.contains("smMinor")) {
        const Statement row = prepare("SELECT smCount, smMajor, smMinor FROM TARGET_INFO_GPU LIMIT 1");
        if (sqlite3_step(row.get()) == SQLITE_ROW) {
          capture.facts["multiprocessors"] = text(row.get(), 0);
          capture.facts["arch"] = core::say("sm_", text(row.get(), 1), text(row.get(), 2));
        }
      }
    }
  }

  /// The columns that are read, in this order; one that the export lacks is NULL.
  static constexpr const char* kColumns[] = {"start",
                                             "\"end\"",
                                             "deviceId",
                                             "streamId",
                                             "correlationId",
                                             "globalPid",
                                             "gridX",
                                             "gridY",
                                             "gridZ",
                                             "blockX",
                                             "blockY",
                                             "blockZ",
                                             "clusterX",
                                             "clusterY",
                                             "clusterZ",
                                             "registersPerThread",
                                             "staticSharedMemory",
                                             "dynamicSharedMemory",
                                             "localMemoryPerThread",
                                             "graphNodeId",
                                             "launchType"};
  enum Column {
    start,
    end,
    device,
    stream,
    correlation,
    process,
    grid,
    block = grid + 3,
    cluster = block + 3,
    registers = cluster + 3,
    shared_static,
    shared_dynamic,
    local_bytes,
    graph_node,
    launch_type,
    names
  };

  std::string query() const {
    const std::set<std::string> there = columns(kKernels);
    std::string text = "SELECT ";
    for (const char* column : kColumns) {
      const std::string plain = std::string_view(column) == "\"end\"" ? "end" : column;
      text += there.contains(plain) ? core::say("k.", column, ", ") : "NULL, ";
    }
    std::string joins;
    for (const char* name : {"mangledName", "demangledName", "shortName"}) {
      const bool known = there.contains(name);
      text += known ? core::say(name, "S.value") : "NULL";
      text += std::string_view(name) == "shortName" ? "" : ", ";
      if (known) joins += core::say(" LEFT JOIN StringIds AS ", name, "S ON ", name, "S.id = k.", name);
    }
    if (!there.contains("start") || !there.contains("end"))
      core::fail(ErrorCode::io, "trace: '", path(),
                 "' has kernels without times, so it is not an export of Nsight Systems");
    return core::say(text, " FROM ", kKernels, " AS k", joins, " ORDER BY k.start");
  }

  static void triple(sqlite3_stmt* row, int column, std::optional<std::array<std::uint32_t, 3>>& into) {
    std::array<std::uint32_t, 3> values{};
    for (int i = 0; i < 3; ++i) {
      std::optional<std::uint32_t> value;
      whole(row, column + i, value);
      if (!value) return;
      values[static_cast<std::size_t>(i)] = *value;
    }
    if (values[0] > 0) into = values;
  }

  static Launch launch_of(sqlite3_stmt* row) {
    Launch launch;
    launch.name = text(row, names);
    launch.demangled = text(row, names + 1);
    // The short name lacks the template's arguments, and serves where nothing else is there.
    if (launch.demangled.empty()) launch.demangled = text(row, names + 2);
    const double begun = sqlite3_column_double(row, start), ended = sqlite3_column_double(row, end);
    launch.start_ns = begun;
    if (ended >= begun) launch.duration_ns = ended - begun;
    whole(row, device, launch.device);
    whole(row, stream, launch.stream);
    whole(row, correlation, launch.correlation);
    whole(row, process, launch.process);
    if (launch.process) launch.process = process_of(*launch.process);
    triple(row, grid, launch.grid);
    triple(row, block, launch.block);
    triple(row, cluster, launch.cluster);
    whole(row, registers, launch.registers);
    whole(row, shared_static, launch.shared_static);
    whole(row, shared_dynamic, launch.shared_dynamic);
    whole(row, local_bytes, launch.local_bytes);
    whole(row, graph_node, launch.graph_node);
    if (launch.graph_node == 0) launch.graph_node.reset();
    return launch;
  }

  void kernels(Capture& capture, const LaunchSink& sink) {
    if (columns(kKernels).contains("correlationId")) ranges();
    const Statement rows = prepare(query());
    int result = sqlite3_step(rows.get());
    for (; result == SQLITE_ROW; result = sqlite3_step(rows.get())) {
      Launch launch = launch_of(rows.get());
      if (launch.correlation && !range_of_call_.empty())
        if (const auto range = range_of_call_.find(call_of(launch.process.value_or(0), *launch.correlation));
            range != range_of_call_.end())
          launch.operation = range_names_[range->second];
      sink(std::move(launch));
    }
    if (result == SQLITE_DONE) return;
    capture.complete = false;
    capture.incomplete = core::say("it cannot be read to the end: ", why());
  }

  std::vector<std::string> range_names_;
  std::unordered_map<std::uint64_t, std::uint32_t> range_of_call_;  ///< places in range_names_
};

}  // namespace

Capture read_nsys_sqlite(const std::string& path, const LaunchSink& sink) {
  return DatabaseReader(path).read(sink);
}
#else
Capture read_nsys_sqlite(const std::string& path, const LaunchSink&) {
  core::fail(ErrorCode::io, "trace: '", path, "' is a SQLite database, and this build has no SQLite");
}
#endif

}  // namespace isomer::lab
