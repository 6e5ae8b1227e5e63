#include "child/wire.hpp"

#include <cstring>

namespace isomer::emulator {
namespace {

class Writer {
 public:
  template <class T>
  Writer& put(const T& v) requires std::is_trivially_copyable_v<T> {
    out.append(reinterpret_cast<const char*>(&v), sizeof v);
    return *this;
  }
  Writer& put(const std::string& s) {
    put<std::uint64_t>(s.size());
    out += s;
    return *this;
  }
  template <class T>
  Writer& put(const std::vector<T>& v) {
    put<std::uint64_t>(v.size());
    for (const T& e : v) put(e);
    return *this;
  }
  Writer& put(const Place& p) { return put(p.file).put(p.line); }
  Writer& put(const Report& r) {
    return put(r.kind)
        .put(r.kernel)
        .put(r.block)
        .put(r.thread)
        .put(r.place)
        .put(r.buffer)
        .put(r.offset)
        .put(r.bytes)
        .put(r.other)
        .put(r.other_block)
        .put(r.other_thread)
        .put(r.count)
        .put(r.text);
  }
  Writer& put(const LaunchRecord& r) {
    return put(r.kernel)
        .put(r.grid)
        .put(r.block)
        .put(r.shared_bytes)
        .put(r.error)
        .put(r.seconds)
        .put(r.thread_steps);
  }
  Writer& put(const Request::Parameter& p) {
    return put(p.role).put(p.name).put(p.bits).put(p.bytes).put(p.offset);
  }
  std::string out;
};

class Reader {
 public:
  explicit Reader(const std::string& bytes) : in_(bytes) {}
  template <class T>
  void get(T& v) requires std::is_trivially_copyable_v<T> {
    need(sizeof v);
    std::memcpy(&v, in_.data() + at_, sizeof v);
    at_ += sizeof v;
  }
  void get(std::string& s) {
    const std::uint64_t n = length();
    need(n);
    s.assign(in_, at_, n);
    at_ += n;
  }
  template <class T>
  void get(std::vector<T>& v) {
    v.resize(length());
    for (T& e : v) get(e);
  }
  void get(Place& p) { get(p.file), get(p.line); }
  void get(Report& r) {
    get(r.kind), get(r.kernel), get(r.block), get(r.thread), get(r.place), get(r.buffer), get(r.offset),
        get(r.bytes);
    get(r.other), get(r.other_block), get(r.other_thread), get(r.count), get(r.text);
  }
  void get(LaunchRecord& r) {
    get(r.kernel), get(r.grid), get(r.block), get(r.shared_bytes), get(r.error), get(r.seconds),
        get(r.thread_steps);
  }
  void get(Request::Parameter& p) { get(p.role), get(p.name), get(p.bits), get(p.bytes), get(p.offset); }

 private:
  void need(std::uint64_t n) const {
    if (n > in_.size() - at_) throw Error("the child's answer is truncated");
  }
  std::uint64_t length() {
    std::uint64_t n = 0;
    get(n);
    need(n);  // every element has at least one byte
    return n;
  }
  const std::string& in_;
  std::size_t at_ = 0;
};

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
  w.put(r.geometry.shared_bytes).put(r.geometry.cooperative).put(r.options).put(r.words).put(r.parameters);
  return w.out;
}

Request unpack_request(const std::string& bytes) {
  Request r;
  Reader in(bytes);
  in.get(r.job), in.get(r.library), in.get(r.name), in.get(r.lanes), in.get(r.watch), in.get(r.hip);
  in.get(r.geometry.grid), in.get(r.geometry.block), in.get(r.geometry.shared_bytes),
      in.get(r.geometry.cooperative);
  in.get(r.options), in.get(r.words), in.get(r.parameters);
  return r;
}

std::string pack(const RunResult& r) {
  Writer w;
  w.put(r.failure).put(r.error).put(r.exit_status).put(r.reports).put(r.launches).put(r.refusals);
  return w.out;
}

RunResult unpack_result(const std::string& bytes) {
  RunResult r;
  Reader in(bytes);
  in.get(r.failure), in.get(r.error), in.get(r.exit_status), in.get(r.reports), in.get(r.launches),
      in.get(r.refusals);
  return r;
}

}  // namespace isomer::emulator
