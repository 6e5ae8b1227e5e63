#include "lab/capture/start_order.hpp"

#include <algorithm>
#include <utility>

namespace isomer::lab {

bool StartOrder::later(const Waiting& x, const Waiting& y) {
  return x.start != y.start ? x.start > y.start : x.number > y.number;
}

void StartOrder::add(Launch&& launch) {
  const double start = launch.start_ns.value_or(0);
  std::size_t place = launches_.size();
  if (free_.empty()) {
    launches_.push_back(std::move(launch));
  } else {
    place = free_.back();
    free_.pop_back();
    launches_[place] = std::move(launch);
  }
  heap_.push_back({start, next_++, place});
  std::push_heap(heap_.begin(), heap_.end(), later);
  if (heap_.size() > kWindow) give();
}

void StartOrder::give() {
  std::pop_heap(heap_.begin(), heap_.end(), later);
  const std::size_t place = heap_.back().place;
  heap_.pop_back();
  free_.push_back(place);
  sink_(std::move(launches_[place]));
}

void StartOrder::end() {
  while (!heap_.empty()) give();
}

}  // namespace isomer::lab
