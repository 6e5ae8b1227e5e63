// What orders the work of streams with each other and with the host, step by step: each stream's clock, and
// the host's, says how far it knows every stream to have come.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace isomer::emulator::watch {

class StreamClocks {
 public:
  /// A piece of work: its stream, and its number there.
  struct Moment {
    std::size_t stream = 0;
    std::uint64_t at = 0;
  };

  /// Null and 1 are the default stream.
  static const void* canonical(const void* stream) {
    return reinterpret_cast<std::uintptr_t>(stream) == 1 ? nullptr : stream;
  }
  std::size_t index_of(const void* stream) {
    const auto [it, fresh] = indices_.try_emplace(canonical(stream), clocks_.size());
    if (fresh) clocks_.emplace_back();
    return it->second;
  }

  /// Work is put on a stream: after what the host has waited for, and what the stream itself waits for.
  /// `apart`: the streams that do not wait for the default one.
  Moment work(const void* stream, const std::set<const void*>& apart) {
    const std::size_t index = enter(stream, apart);
    return {index, ++tick(clocks_[index], index)};
  }
  void record(const void* event, const void* stream, const std::set<const void*>& apart) {
    events_[event] = clocks_[enter(stream, apart)];
  }
  void stream_waits(const void* stream, const void* event) {
    merge(clocks_[index_of(stream)], events_[event]);
  }
  void host_waits(const void* stream, const std::set<const void*>& apart) {
    merge(host_, clocks_[enter(stream, apart)]);
  }
  void host_waits_event(const void* event) { merge(host_, events_[event]); }
  void host_waits_all() {
    for (const Clock& each : clocks_) merge(host_, each);
  }
  /// The host has waited for what the stream has done.
  void host_knows_of(std::size_t stream) { merge(host_, clocks_[stream]); }
  /// The stream knows from now on what the host does.
  void learn_of_host(std::size_t stream) { merge(clocks_[stream], host_); }
  /// What the stream does next.
  Moment next(std::size_t stream) { return {stream, ++tick(clocks_[stream], stream)}; }
  Moment now(std::size_t stream) { return {stream, tick(clocks_[stream], stream)}; }

  bool stream_knows(std::size_t stream, Moment what) { return tick(clocks_[stream], what.stream) >= what.at; }
  bool host_knows(Moment what) { return tick(host_, what.stream) >= what.at; }

 private:
  using Clock = std::vector<std::uint64_t>;
  static std::uint64_t& tick(Clock& of, std::size_t stream) {
    if (of.size() <= stream) of.resize(stream + 1);
    return of[stream];
  }
  static void merge(Clock& into, const Clock& from) {
    if (into.size() < from.size()) into.resize(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) into[i] = std::max(into[i], from[i]);
  }
  std::size_t enter(const void* stream, const std::set<const void*>& apart) {
    const void* const handle = canonical(stream);
    const std::size_t index = index_of(handle);
    merge(clocks_[index], host_);
    if (handle == nullptr) {
      for (const auto& [other, number] : indices_)
        if (other != nullptr && apart.count(other) == 0) merge(clocks_[index], Clock(clocks_[number]));
    } else if (apart.count(handle) == 0) {
      const std::size_t standard = index_of(nullptr);
      merge(clocks_[index], Clock(clocks_[standard]));
    }
    return index;
  }

  std::map<const void*, std::size_t> indices_;
  std::vector<Clock> clocks_;
  std::map<const void*, Clock> events_;
  Clock host_;
};

}  // namespace isomer::emulator::watch
