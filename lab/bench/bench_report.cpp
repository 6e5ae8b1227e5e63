#include "lab/bench/bench.hpp"
#include "lab/report/terminal.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>

namespace isomer::lab {
namespace {

std::string duration(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.1f} µs", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.2f} ms", seconds * 1e3);
  return fmt::format("{:.2f} s", seconds);
}

std::string rate(const Measurement& m) {
  return m.memory_bound ? fmt::format("{:.1f} GB/s", m.bytes / m.seconds.median * 1e-9)
                        : fmt::format("{:.1f} GFLOP/s", m.flops / m.seconds.median * 1e-9);
}

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

/// Under the cases, each of them with its peers' times and how many times as long they take.
std::string peers_text(const Bench& bench) {
  if (bench.peers.empty()) return "";
  Table table("llrrr");
  table.row({"case", "peer", "median", "min … max", "of ours"});
  table.rule();
  for (const Measurement& m : bench.measurements)
    for (const PeerTime& peer : m.peers) {
      if (!peer.refused.empty())
        table.row({m.line, peer.name, "–", "", ""});
      else
        table.row({m.line, peer.name, duration(peer.seconds.median),
                   duration(peer.seconds.low) + " … " + duration(peer.seconds.high),
                   fmt::format("{:.2f}", peer.seconds.median / m.seconds.median)});
    }
  std::string text = "\n" + table.text();
  for (const Measurement& m : bench.measurements)
    for (const PeerTime& peer : m.peers)
      if (!peer.refused.empty())
        text += Terminal::dim(fmt::format("{} does not take '{}': {}\n", peer.name, m.line, peer.refused));
  return text + fmt::format(
                    "{}, on random tensors in a process of its own, after each case; its results are not "
                    "compared. of ours = its time / Isomer's.\n",
                    bench.peers);
}

}  // namespace

std::string bench_table(const Bench& bench) {
  Table table("llrrrrrl");
  table.row({"case", "implementation", "median", "min … max", "rate", "ceiling", "ratio", "binds"});
  table.rule();
  for (const Measurement& m : bench.measurements) {
    const std::string ceiling = m.memory_bound || m.fma_rate == 0
                                    ? fmt::format("{:.1f} GB/s", m.copy_rate * 1e-9)
                                    : fmt::format("{:.1f} GFLOP/s", m.fma_rate * 1e-9);
    table.row({m.line, m.implementation, duration(m.seconds.median),
               duration(m.seconds.low) + " … " + duration(m.seconds.high), rate(m), ceiling,
               fmt::format("{:.2f} ({:.2f} … {:.2f})", m.ratio, m.ratios.low, m.ratios.high),
               m.memory_bound ? "bytes" : "FLOP"});
  }
  std::string text = table.text();
  text += peers_text(bench);
  for (const Measurement& m : bench.measurements)
    if (m.verified.starts_with("no:"))
      text += Terminal::red("wrong output  ") + m.line + ": " + m.verified + "\n";
  if (bench.device.type != DeviceType::cpu) {
    text += "\n";
    for (const Measurement& m : bench.measurements)
      text += Terminal::dim(fmt::format("host  {} a call: {}\n", duration(m.host_seconds), m.line));
    return text +
           fmt::format(
               "{}, {}. ratio = (bytes / copy rate) / time; the device's own copy is timed between the "
               "rounds, and the calls rotate through copies of the problem that do not fit its cache.\n",
               to_string(bench.device), bench.target);
  }
  return text + fmt::format(
                    "\n{} threads, {}. ratio = floor/time, floor = the larger of bytes/copy rate and "
                    "FLOP/f32 multiply-add rate, each ceiling measured between the rounds.\n",
                    bench.threads, bench.target);
}

std::string bench_json(const Bench& bench) {
  nlohmann::ordered_json json;
  json["version"] = 1;
  json["device"] = to_string(bench.device);
  json["threads"] = bench.threads;
  json["target"] = bench.target;
  json["results"] = nlohmann::ordered_json::array();
  const auto spread = [](const Spread& s) {
    return nlohmann::ordered_json{{"min", s.low}, {"median", s.median}, {"max", s.high}};
  };
  if (!bench.peers.empty()) json["peers"] = bench.peers;
  for (const Measurement& m : bench.measurements) {
    json["results"].push_back({{"op", m.op},
                               {"case", m.line},
                               {"implementation", m.implementation},
                               {"seconds", spread(m.seconds)},
                               {"host_seconds", m.host_seconds},
                               {"rounds", m.rounds},
                               {"bytes", m.bytes},
                               {"flops", m.flops},
                               {"copy_bytes_per_second", m.copy_rate},
                               {"fma_flops_per_second", m.fma_rate},
                               {"byte_floor_seconds", m.byte_floor},
                               {"flop_floor_seconds", m.flop_floor},
                               {"binds", m.memory_bound ? "bytes" : "flops"},
                               {"ratio", spread(m.ratios)},
                               {"verified", m.verified}});
    if (bench.peers.empty()) continue;
    nlohmann::ordered_json& peers = json["results"].back()["peers"] = nlohmann::ordered_json::array();
    for (const PeerTime& peer : m.peers)
      peers.push_back(peer.refused.empty()
                          ? nlohmann::ordered_json{{"name", peer.name},
                                                   {"seconds", spread(peer.seconds)},
                                                   {"rounds", peer.rounds},
                                                   {"of_ours", peer.seconds.median / m.seconds.median}}
                          : nlohmann::ordered_json{{"name", peer.name}, {"refused", peer.refused}});
  }
  return json.dump(1) + "\n";
}

std::string bench_svg(const Bench& bench) {
  constexpr int kRow = 26, kLabel = 430, kBar = 360, kTop = 46;
  const int height = kTop + kRow * static_cast<int>(bench.measurements.size()) + 30;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"12\" y=\"22\" font-size=\"15\">Ratio to the ceiling of the same run ({} threads, "
      "{})</text>\n",
      kLabel + kBar + 90, height, bench.threads, bench.target);
  for (int tick = 0; tick <= 4; ++tick) {
    const int x = kLabel + kBar * tick / 4;
    svg += fmt::format(
        "<line x1=\"{0}\" y1=\"{1}\" x2=\"{0}\" y2=\"{2}\" stroke=\"#ddd\"/><text x=\"{0}\" y=\"{3}\" "
        "text-anchor=\"middle\" fill=\"#666\">{4:.2f}</text>\n",
        x, kTop - 8, height - 24, height - 8, tick / 4.0);
  }
  int y = kTop;
  for (const Measurement& m : bench.measurements) {
    const auto x = [&](double ratio) { return kLabel + kBar * std::min(ratio, 1.2); };
    svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", kLabel - 8, y + 13,
                       escape(m.line));
    svg += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{:.1f}\" height=\"16\" fill=\"{}\"/>\n", kLabel, y,
                       x(m.ratio) - kLabel, m.memory_bound ? "#4c78a8" : "#f58518");
    svg += fmt::format("<line x1=\"{:.1f}\" y1=\"{}\" x2=\"{:.1f}\" y2=\"{}\" stroke=\"#222\"/>\n",
                       x(m.ratios.low), y + 8, x(m.ratios.high), y + 8);
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" fill=\"#222\">{:.2f}  {}</text>\n",
                       x(std::max(m.ratio, m.ratios.high)) + 6, y + 13, m.ratio, rate(m));
    y += kRow;
  }
  return svg + "</svg>\n";
}

}  // namespace isomer::lab
