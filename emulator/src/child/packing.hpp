// Structures as bytes, for the two ends of one program on one machine.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "isomer/emulator/error.hpp"
#include "isomer/emulator/report.hpp"

namespace isomer::emulator {

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
        .put(r.where)
        .put(r.own_lane_unnamed)
        .put(r.looks_again)
        .put(r.waits_for_left_out)
        .put(r.asserted)
        .put(r.buffer)
        .put(r.offset)
        .put(r.bytes)
        .put(r.other)
        .put(r.other_block)
        .put(r.other_thread)
        .put(r.count)
        .put(r.text);
  }
  Writer& put(const Refusal& r) { return put(r.cause).put(r.kernel).put(r.text); }
  Writer& put(const LaunchRecord& r) {
    return put(r.kernel)
        .put(r.grid)
        .put(r.block)
        .put(r.shared_bytes)
        .put(r.stream)
        .put(r.error)
        .put(r.seconds)
        .put(r.thread_steps)
        .put(r.blocks)
        .put(r.watched)
        .put(r.side_by_side);
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
    get(r.kind), get(r.kernel), get(r.block), get(r.thread), get(r.place), get(r.where),
        get(r.own_lane_unnamed), get(r.looks_again), get(r.waits_for_left_out), get(r.asserted), get(r.buffer), get(r.offset),
        get(r.bytes);
    get(r.other), get(r.other_block), get(r.other_thread), get(r.count), get(r.text);
  }
  void get(Refusal& r) { get(r.cause), get(r.kernel), get(r.text); }
  void get(LaunchRecord& r) {
    get(r.kernel), get(r.grid), get(r.block), get(r.shared_bytes), get(r.stream), get(r.error),
        get(r.seconds), get(r.thread_steps), get(r.blocks), get(r.watched), get(r.side_by_side);
  }
  std::uint64_t length() {
    std::uint64_t n = 0;
    get(n);
    need(n);  // every element has at least one byte
    return n;
  }

 private:
  void need(std::uint64_t n) const {
    if (n > in_.size() - at_) throw Error("the child's answer is truncated");
  }
  const std::string& in_;
  std::size_t at_ = 0;
};

}  // namespace isomer::emulator
