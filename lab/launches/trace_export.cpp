#include "lab/launches/trace_export.hpp"

#include "core/sentence.hpp"
#include "lab/names/kernel_name.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstring>

namespace isomer::lab {
namespace {

std::string json_text(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string readable_name(const Launch& launch) {
  return parse_kernel_name(launch.name.empty() ? launch.demangled : launch.name).text;
}

template <class Number>
std::string cell(const std::optional<Number>& value) {
  return value ? fmt::format("{}", *value) : "";
}

std::string quoted(const std::string& text) {
  std::string cell = "\"";
  for (const char c : text) cell += c == '"' ? std::string("\"\"") : std::string(1, c);
  return cell + "\"";
}

std::string named(const std::map<std::string, std::string>& values) {
  std::string text;
  for (const auto& [name, value] : values) text += (text.empty() ? "" : " ") + name + "=" + value;
  return text;
}

}  // namespace

LaunchExport::LaunchExport(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "we")) {
  if (file_ == nullptr)
    core::fail(ErrorCode::io, "trace: cannot write '", path_, "': ", std::strerror(errno));
}

LaunchExport::~LaunchExport() {
  if (file_ != nullptr) std::fclose(file_);
}

void LaunchExport::text(const std::string& text) { std::fwrite(text.data(), 1, text.size(), file_); }

void LaunchExport::end() {
  last();
  const bool written = std::fflush(file_) == 0 && std::ferror(file_) == 0;
  const int why = errno;
  std::fclose(file_);
  file_ = nullptr;
  if (!written) core::fail(ErrorCode::io, "trace: cannot write '", path_, "': ", std::strerror(why));
}

PerfettoExport::PerfettoExport(const std::string& path) : LaunchExport(path) {
  text("{\"schemaVersion\":1,\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
}

void PerfettoExport::add(const Launch& launch) {
  nlohmann::ordered_json event;
  event["ph"] = "X";
  event["cat"] = "kernel";
  event["name"] = readable_name(launch);
  event["pid"] = launch.device.value_or(0);
  event["tid"] = launch.stream.value_or(0);
  constexpr double kMicrosecond = 1e3;
  event["ts"] = launch.start_ns ? *launch.start_ns / kMicrosecond : untimed_;
  event["dur"] = launch.duration_ns ? *launch.duration_ns / kMicrosecond : 0.5;
  untimed_ += 1;
  nlohmann::ordered_json& arguments = event["args"];
  arguments["device"] = launch.device.value_or(0);
  arguments["stream"] = launch.stream.value_or(0);
  if (launch.correlation) arguments["correlation"] = *launch.correlation;
  if (launch.registers) arguments["registers per thread"] = *launch.registers;
  if (launch.shared_dynamic || launch.shared_static)
    arguments["shared memory"] = launch.shared_static.value_or(0) + launch.shared_dynamic.value_or(0);
  if (launch.grid) arguments["grid"] = *launch.grid;
  if (launch.block) arguments["block"] = *launch.block;
  if (launch.cluster) arguments["cluster"] = *launch.cluster;
  if (launch.graph_node) arguments["graph node id"] = *launch.graph_node;
  if (!launch.name.empty()) arguments["mangled"] = launch.name;
  if (!launch.code_hash.empty()) arguments["code hash"] = launch.code_hash;
  for (const auto& [name, value] : launch.variant) arguments["variant " + name] = value;
  for (const auto& [name, value] : launch.parameters) arguments[name] = value;
  text((first_ ? "" : ",\n") + json_text(event));
  first_ = false;
}

void PerfettoExport::last() { text("\n]}\n"); }

CsvExport::CsvExport(const std::string& path) : LaunchExport(path) {
  text(
      "kernel,grid,block,cluster,shared_dynamic,shared_static,registers,local_bytes,device,stream,process,"
      "thread,"
      "graph_node,start_ns,duration_ns,code_hash,variant,parameters,name\n");
}

void CsvExport::add(const Launch& launch) {
  text(fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n",
                   quoted(readable_name(launch)), triple_text(launch.grid), triple_text(launch.block),
                   triple_text(launch.cluster), cell(launch.shared_dynamic), cell(launch.shared_static),
                   cell(launch.registers), cell(launch.local_bytes), cell(launch.device), cell(launch.stream),
                   cell(launch.process), cell(launch.thread), cell(launch.graph_node), cell(launch.start_ns),
                   cell(launch.duration_ns), launch.code_hash, quoted(named(launch.variant)),
                   quoted(named(launch.parameters)), quoted(launch.name)));
}

}  // namespace isomer::lab
