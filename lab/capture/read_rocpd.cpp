#include "core/sentence.hpp"
#include "lab/capture/readers.hpp"

#ifdef ISOMER_HAS_SQLITE
#include "lab/capture/rocprof_launch.hpp"
#include "lab/capture/sqlite_file.hpp"
#include "lab/text/read_json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <unordered_map>
#endif

namespace isomer::lab {
#ifdef ISOMER_HAS_SQLITE
namespace {

constexpr std::string_view kDispatches = "rocpd_kernel_dispatch";

/// Each process has tables of its own, whose names end in its number: "rocpd_string_0001f2…".
std::vector<std::string> endings_of(const SqliteFile& file) {
  std::vector<std::string> endings;
  for (const std::string& table : file.tables()) {
    if (!table.starts_with(kDispatches)) continue;
    const std::string ending = table.substr(kDispatches.size());
    if (std::all_of(ending.begin(), ending.end(),
                    [](unsigned char c) { return std::isalnum(c) || c == '_'; }))
      endings.push_back(ending);
  }
  return endings;
}

class RocpdReader {
 public:
  RocpdReader(const SqliteFile& file, Capture& capture, std::string ending)
      : file_(file), capture_(capture), ending_(std::move(ending)) {}

  void read(const LaunchSink& sink) {
    const std::string dispatches = std::string(kDispatches) + ending_;
    const std::set<std::string> there = file_.columns(dispatches);
    for (const char* needed : {"start", "end", "kernel_id", "grid_size_x", "workgroup_size_x"})
      if (!there.contains(needed))
        core::fail(ErrorCode::io, "trace: '", file_.path(), "' is a database of rocprofv3 whose table ",
                   kDispatches, " has no column '", needed, "': schema 3 is read");
    device();
    counters();
    const Statement rows = file_.prepare(core::say(
        "SELECT d.start, d.\"end\", d.queue_id, d.grid_size_x, d.grid_size_y, d.grid_size_z, "
        "d.workgroup_size_x, "
        "d.workgroup_size_y, d.workgroup_size_z, d.group_segment_size, d.private_segment_size, d.event_id, "
        "s.kernel_name, s.display_name, s.arch_vgpr_count, s.sgpr_count, s.group_segment_size, p.pid, "
        "a.type_index, r.string FROM ",
        quoted(kDispatches), " AS d LEFT JOIN ", quoted("rocpd_info_kernel_symbol"),
        " AS s ON s.id = d.kernel_id LEFT JOIN ", quoted("rocpd_info_process"),
        " AS p ON p.id = d.pid LEFT JOIN ", quoted("rocpd_info_agent"),
        " AS a ON a.id = d.agent_id LEFT JOIN ", quoted("rocpd_string"),
        " AS r ON r.id = d.region_name_id ORDER BY d.start"));
    int result = sqlite3_step(rows.get());
    for (; result == SQLITE_ROW; result = sqlite3_step(rows.get())) sink(launch_of(rows.get()));
    if (result == SQLITE_DONE) return;
    capture_.complete = false;
    capture_.incomplete = core::say("it cannot be read to the end: ", file_.why());
  }

 private:
  enum Column {
    start,
    end,
    queue,
    grid,
    block = grid + 3,
    shared = block + 3,
    local_bytes,
    event,
    name,
    display,
    registers,
    scalar_registers,
    shared_static,
    process,
    device_number,
    region
  };

  std::string quoted(std::string_view table) const { return core::say("\"", table, ending_, "\""); }

  void device() {
    const Statement rows = file_.prepare(core::say("SELECT name, product_name, extdata FROM ",
                                                   quoted("rocpd_info_agent"), " WHERE type = 'GPU'"));
    if (sqlite3_step(rows.get()) != SQLITE_ROW || capture_.facts.contains("arch")) return;
    capture_.facts["arch"] = SqliteFile::text(rows.get(), 0);
    if (const std::string product = SqliteFile::text(rows.get(), 1); !product.empty())
      capture_.facts["device"] = product;
    const nlohmann::json more = read_json(SqliteFile::text(rows.get(), 2));
    if (more.is_object() && more.contains("cu_count") && more["cu_count"].is_number_unsigned())
      capture_.facts["multiprocessors"] = std::to_string(more["cu_count"].get<std::uint64_t>());
  }

  void counters() {
    if (!file_.is_table("rocpd_pmc_event" + ending_) || !file_.is_table("rocpd_info_pmc" + ending_)) return;
    const Statement rows = file_.prepare(
        core::say("SELECT e.event_id, i.name, e.value FROM ", quoted("rocpd_pmc_event"), " AS e JOIN ",
                  quoted("rocpd_info_pmc"), " AS i ON i.id = e.pmc_id WHERE e.event_id IS NOT NULL"));
    // One counter has a value for each instance of its block: what people read is the sum.
    while (sqlite3_step(rows.get()) == SQLITE_ROW)
      counters_[sqlite3_column_int64(rows.get(), 0)][SqliteFile::text(rows.get(), 1)] +=
          sqlite3_column_double(rows.get(), 2);
  }

  Launch launch_of(sqlite3_stmt* row) const {
    Launch launch;
    launch.demangled = SqliteFile::text(row, display);
    set_name(launch, SqliteFile::text(row, name));
    if (launch.name.empty() && launch.demangled.empty()) launch.demangled = SqliteFile::text(row, display);
    set_times(launch, sqlite3_column_int64(row, start), sqlite3_column_int64(row, end));
    SqliteFile::whole(row, queue, launch.stream);
    std::array<std::optional<std::uint32_t>, 3> blocks, threads;
    for (int i = 0; i < 3; ++i) {
      SqliteFile::whole(row, grid + i, blocks[static_cast<std::size_t>(i)]);
      SqliteFile::whole(row, block + i, threads[static_cast<std::size_t>(i)]);
    }
    if (blocks[0] && blocks[1] && blocks[2]) launch.grid = {*blocks[0], *blocks[1], *blocks[2]};
    if (threads[0] && threads[1] && threads[2]) launch.block = {*threads[0], *threads[1], *threads[2]};
    count_in_blocks(launch);
    SqliteFile::whole(row, shared, launch.shared_dynamic);
    SqliteFile::whole(row, shared_static, launch.shared_static);
    // A dispatch tells both together.
    if (launch.shared_dynamic && launch.shared_static)
      *launch.shared_dynamic -= std::min(*launch.shared_dynamic, *launch.shared_static);
    SqliteFile::whole(row, local_bytes, launch.local_bytes);
    SqliteFile::whole(row, registers, launch.registers);
    SqliteFile::whole(row, scalar_registers, launch.scalar_registers);
    SqliteFile::whole(row, process, launch.process);
    SqliteFile::whole(row, device_number, launch.device);
    // The ROCTx range that a kernel was renamed by; without one it is the kernel's own name.
    if (std::string range = SqliteFile::text(row, region);
        range != SqliteFile::text(row, display) && range != SqliteFile::text(row, name))
      launch.operation = std::move(range);
    if (sqlite3_column_type(row, event) == SQLITE_INTEGER)
      if (const auto counted = counters_.find(sqlite3_column_int64(row, event)); counted != counters_.end())
        launch.metrics = counted->second;
    return launch;
  }

  const SqliteFile& file_;
  Capture& capture_;
  std::string ending_;
  std::unordered_map<std::int64_t, std::map<std::string, double>> counters_;  ///< by event
};

}  // namespace

bool is_rocpd(const std::string& path) { return !endings_of(SqliteFile(path)).empty(); }

Capture read_rocpd(const std::string& path, const LaunchSink& sink) {
  Capture capture;
  capture.source = path;
  capture.kind = "rocprofv3";
  const SqliteFile file(path);
  std::uint64_t launches = 0;
  for (const std::string& ending : endings_of(file))
    RocpdReader(file, capture, ending).read([&](Launch&& launch) {
      ++launches;
      sink(std::move(launch));
    });
  if (launches == 0)
    capture.facts["note kernels"] =
        "it has no kernel: the program launched none, or rocprofv3 ran without --kernel-trace";
  return capture;
}
#else
bool is_rocpd(const std::string&) { return false; }
Capture read_rocpd(const std::string& path, const LaunchSink&) {
  core::fail(ErrorCode::io, "trace: '", path, "' is a SQLite database, and this build has no SQLite");
}
#endif

}  // namespace isomer::lab
