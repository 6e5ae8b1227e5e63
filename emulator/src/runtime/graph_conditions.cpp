#include "runtime/graph_conditions.hpp"

#include <memory>
#include <mutex>

#include "execution/turns.hpp"
#include "isomer_emulator/abi.h"
#include "runtime/errors.hpp"

namespace isomer::emulator {
namespace {

struct Condition {
  unsigned initial, value;
};
std::mutex conditions_mutex;
std::vector<Condition> conditions;  // a handle is one more than its place

/// Zero where there is no such condition.
unsigned value_of(unsigned long long handle) {
  std::lock_guard lock(conditions_mutex);
  return handle == 0 || handle > conditions.size() ? 0 : conditions[handle - 1].value;
}

struct Conditional {
  unsigned long long condition;
  ConditionKind kind;
  std::vector<Graph*> bodies;
  Conditional(unsigned long long c, ConditionKind k, unsigned count) : condition(c), kind(k) {
    for (unsigned i = 0; i < count; ++i) bodies.push_back(isomer_emulator_graph(nullptr));
  }
  Conditional(const Conditional&) = delete;
  Conditional& operator=(const Conditional&) = delete;
  ~Conditional() {
    for (Graph* body : bodies) isomer_emulator_graph_destroy(body);
  }
  void run(void* stream) const {
    switch (kind) {
      case ConditionKind::if_else:
        if (const std::size_t which = value_of(condition) != 0 ? 0 : 1; which < bodies.size())
          isomer_emulator_graph_run(bodies[which], stream);
        break;
      case ConditionKind::loop:
        // A body that has failed sets nothing any more.
        while (value_of(condition) != 0 && last_error(false) == error::success)
          isomer_emulator_graph_run(bodies[0], stream);
        break;
      case ConditionKind::choice:
        if (const unsigned which = value_of(condition); which < bodies.size())
          isomer_emulator_graph_run(bodies[which], stream);
        break;
    }
  }
};

}  // namespace

namespace graph_conditions {

unsigned long long make(unsigned initial) {
  std::lock_guard lock(conditions_mutex);
  conditions.push_back({initial, initial});
  return conditions.size();
}

void begin(const std::vector<unsigned long long>& of_graph) {
  std::lock_guard lock(conditions_mutex);
  for (const unsigned long long handle : of_graph)
    conditions[handle - 1].value = conditions[handle - 1].initial;
}

}  // namespace graph_conditions

#define EXPORT __attribute__((visibility("default")))
extern "C" {

EXPORT void isomer_emulator_set_graph_condition(unsigned long long handle, unsigned value) {
  run_alone();
  std::lock_guard lock(conditions_mutex);
  if (handle != 0 && handle <= conditions.size()) conditions[handle - 1].value = value;
}

EXPORT GraphNode* isomer_emulator_graph_add_condition(Graph* graph, unsigned long long condition,
                                                      ConditionKind kind, unsigned bodies, Graph*** list) {
  const unsigned most = kind == ConditionKind::loop ? 1 : kind == ConditionKind::if_else ? 2 : ~0u;
  if (condition == 0 || bodies == 0 || bodies > most) return nullptr;
  auto* const state = new Conditional(condition, kind, bodies);
  *list = state->bodies.data();
  return isomer_emulator_graph_add(
      graph, {[](void* of, void* stream) { static_cast<Conditional*>(of)->run(stream); },
              [](void* of) { delete static_cast<Conditional*>(of); }, state, NodeKind::conditional});
}
}
#undef EXPORT

}  // namespace isomer::emulator
