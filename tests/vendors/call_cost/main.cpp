// Calls whose plans are kept, over and over, on the stand-in's device, which does nothing: tools/call_cost
// counts the instructions of measured() that are not the driver's.
#include "calls.hpp"

#include <cstdio>
#include <cstdlib>

/// What is counted: this function and what it calls.
extern "C" __attribute__((noinline)) void measured(const std::function<void(const isomer::Queue&)>* call,
                                                   const isomer::Queue* queue, int times) {
  for (int i = 0; i < times; ++i) (*call)(*queue);
}

int main(int count, char** words) {
  if (count != 3) return std::fprintf(stderr, "call_cost: a call and how often expected\n"), 2;
  const isomer::call_cost::Call call = isomer::call_cost::call_named(words[1]);
  const isomer::Queue queue = isomer::Queue::on({isomer::DeviceType::cuda, 0});
  for (int i = 0; i < 3; ++i) call.run(queue);
  measured(&call.run, &queue, std::atoi(words[2]));
}
