#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "isomer/emulator/written.hpp"
#include "runtime/errors.hpp"

namespace isomer::emulator {
namespace {

using Json = nlohmann::ordered_json;

Json place(const Place& p) { return p.line ? Json{{"file", p.file}, {"line", p.line}} : Json(nullptr); }

Json json_of(const Report& r) {
  Json j{{"kind", name(r.kind)},
         {"kernel", r.kernel},
         {"block", r.block},
         {"thread", r.thread},
         {"place", place(r.place)}};
  if (!r.buffer.empty()) j.update({{"buffer", r.buffer}, {"offset", r.offset}, {"bytes", r.bytes}});
  if (r.other.line)
    j["other"] = {{"place", place(r.other)}, {"block", r.other_block}, {"thread", r.other_thread}};
  j["count"] = r.count;
  j["text"] = r.text;
  return j;
}

}  // namespace

std::string to_text(const RunResult& result) {
  std::string out;
  for (const Refusal& r : result.refusals) out += "refused: " + r.text + "\n";
  if (!result.failure.empty()) out += "failed: " + result.failure + "\n";
  if (!result.not_finished.empty()) out += "not finished: " + result.not_finished + "\n";
  for (const Report& r : result.stopped) out += "  " + r.text + "\n";
  for (const Report& r : result.reports)
    out += r.text + (r.count > 1 ? fmt::format(" ({} times)\n", r.count) : "\n");
  std::uint64_t steps = 0;
  double seconds = 0;
  for (const LaunchRecord& l : result.launches) steps += l.thread_steps, seconds += l.seconds;
  std::uint64_t sampled = 0, ran = 0, in_grids = 0;
  for (const LaunchRecord& l : result.launches) {
    const std::uint64_t whole = std::uint64_t{l.grid[0]} * l.grid[1] * l.grid[2];
    if (l.blocks == 0 || l.blocks == whole) continue;
    ++sampled, ran += l.blocks, in_grids += whole;
  }
  if (sampled > 0)
    out += fmt::format("sampled: {} of {} blocks ran in {} launch{}; what the others do was not seen\n", ran,
                       in_grids, sampled, sampled == 1 ? "" : "es");
  out += fmt::format("{} launch{}, {} thread-steps in {:.3f} s, {} finding{}", result.launches.size(),
                     result.launches.size() == 1 ? "" : "es", steps, seconds, result.reports.size(),
                     result.reports.size() == 1 ? "" : "s");
  if (result.error != 0)
    out += fmt::format("; the runtime says: {} ({})", describe(result.error), result.error);
  return out + "\n";
}

std::string to_json(const RunResult& result, const std::vector<WrittenArgument>& arguments) {
  constexpr std::size_t kShown = 16;
  Json j{{"version", 1},          {"failure", result.failure},         {"not_finished", result.not_finished},
         {"error", result.error}, {"exit_status", result.exit_status}, {"refusals", Json::array()}};
  for (const Refusal& r : result.refusals) j["refusals"].push_back(r.text);
  j["reports"] = Json::array();
  for (const Report& r : result.reports) j["reports"].push_back(json_of(r));
  j["stopped"] = Json::array();
  for (const Report& r : result.stopped) j["stopped"].push_back(json_of(r));
  j["launches"] = Json::array();
  for (const LaunchRecord& l : result.launches) {
    j["launches"].push_back({{"kernel", l.kernel},
                             {"grid", l.grid},
                             {"block", l.block},
                             {"shared_bytes", l.shared_bytes},
                             {"error", l.error},
                             {"seconds", l.seconds},
                             {"thread_steps", l.thread_steps},
                             {"blocks", l.blocks},
                             {"side_by_side", l.side_by_side}});
  }
  j["outputs"] = Json::array();
  for (const WrittenArgument& a : arguments) {
    if (a.argument.role != Argument::Role::output && a.argument.role != Argument::Role::in_out) continue;
    Json values = Json::array();
    for (double v : leading_values(a, kShown)) {
      if (std::isfinite(v)) {
        values.push_back(v);
      } else {
        values.push_back(std::isnan(v) ? "nan" : v > 0 ? "inf" : "-inf");
      }
    }
    j["outputs"].push_back(
        {{"name", a.argument.name}, {"type", a.type}, {"count", a.count}, {"first", values}});
  }
  j["output"] = result.output;
  // What the user's code printed may be no UTF-8.
  return j.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace isomer::emulator
