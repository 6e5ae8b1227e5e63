#include "lab/capture/start_order.hpp"

#include <algorithm>
#include <utility>

namespace isomer::lab {

bool StartOrder::later(const Waiting& x, const Waiting& y) {
  return x.start != y.start ? x.start > y.start : x.number > y.number;
}

void StartOrder::add(Launch&& launch) {
  const double start = launch.start_ns.value_or(0);
  heap_.push_back({start, next_++, std::move(launch)});
  std::push_heap(heap_.begin(), heap_.end(), later);
  if (heap_.size() > kWindow) give();
}

void StartOrder::give() {
  std::pop_heap(heap_.begin(), heap_.end(), later);
  Launch launch = std::move(heap_.back().launch);
  heap_.pop_back();
  sink_(std::move(launch));
}

void StartOrder::end() {
  while (!heap_.empty()) give();
}

}  // namespace isomer::lab
