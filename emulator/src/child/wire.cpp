#include "child/wire.hpp"

#include "child/packing.hpp"

namespace isomer::emulator {
namespace {

void put(Writer& w, const Request::Parameter& p) {
  w.put(p.role).put(p.name).put(p.bits).put(p.bytes).put(p.offset);
}
void get(Reader& in, Request::Parameter& p) {
  in.get(p.role), in.get(p.name), in.get(p.bits), in.get(p.bytes), in.get(p.offset);
}

void put(Writer& w, const RunOptions& o) {
  w.put(o.seed).put(o.workers).put(o.timeout_seconds).put(o.step_limit).put(o.poison).put(o.memory_limit);
  w.put(o.blocks).put(o.leaks).put(o.first_watched).put(o.last_watched).put(o.watched_kernel);
}
void get(Reader& in, RunOptions& o) {
  in.get(o.seed), in.get(o.workers), in.get(o.timeout_seconds), in.get(o.step_limit), in.get(o.poison);
  in.get(o.memory_limit), in.get(o.blocks), in.get(o.leaks), in.get(o.first_watched), in.get(o.last_watched);
  in.get(o.watched_kernel);
}

void put(Writer& w, const BuiltFrom& b) {
  w.put(b.folders).put(b.include_directories).put(b.system_directories).put(b.definitions);
  w.put(b.standard).put(b.compiler).put(b.device_math);
}
void get(Reader& in, BuiltFrom& b) {
  in.get(b.folders), in.get(b.include_directories), in.get(b.system_directories), in.get(b.definitions);
  in.get(b.standard), in.get(b.compiler), in.get(b.device_math);
}

}  // namespace

std::string pack(const Request& r) {
  Writer w;
  w.put(r.job)
      .put(r.library)
      .put(r.name)
      .put(r.lanes)
      .put(r.watch)
      .put(r.hip)
      .put(r.geometry.grid)
      .put(r.geometry.block);
  w.put(r.geometry.shared_bytes).put(r.geometry.cooperative).put(r.geometry.cluster).put(r.words);
  put(w, r.options);
  w.put<std::uint64_t>(r.parameters.size());
  for (const Request::Parameter& p : r.parameters) put(w, p);
  put(w, r.built_from);
  return w.out;
}

Request unpack_request(const std::string& bytes) {
  Request r;
  Reader in(bytes);
  in.get(r.job), in.get(r.library), in.get(r.name), in.get(r.lanes), in.get(r.watch), in.get(r.hip);
  in.get(r.geometry.grid), in.get(r.geometry.block), in.get(r.geometry.shared_bytes),
      in.get(r.geometry.cooperative), in.get(r.geometry.cluster);
  in.get(r.words);
  get(in, r.options);
  r.parameters.resize(in.length());
  for (Request::Parameter& p : r.parameters) get(in, p);
  get(in, r.built_from);
  return r;
}

std::string pack(const RunResult& r) {
  Writer w;
  w.put(r.failure).put(r.not_finished).put(r.error).put(r.exit_status);
  w.put(r.reports).put(r.stopped).put(r.launches).put(r.refusals);
  return w.out;
}

RunResult unpack_result(const std::string& bytes) {
  RunResult r;
  Reader in(bytes);
  in.get(r.failure), in.get(r.not_finished), in.get(r.error), in.get(r.exit_status);
  in.get(r.reports), in.get(r.stopped), in.get(r.launches), in.get(r.refusals);
  return r;
}

}  // namespace isomer::emulator
