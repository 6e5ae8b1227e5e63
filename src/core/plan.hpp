#pragma once

#include <isomer/explain.hpp>
#include <isomer/queue.hpp>

#include "core/contract.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace isomer::core {

using isomer::Description;
using isomer::Launch;
using isomer::Named;

/// Plans on a device look no further than at alignment to this; plans of the CPU do not look at addresses.
inline constexpr std::uintptr_t kPlanAlignment = 256;

/// What an implementation will do for a call, decided before anything runs.
class Plan {
 public:
  virtual ~Plan() = default;
  /// The plan in words. All prose is made here: planning is on the way of a call.
  virtual void describe(Description& out) const = 0;
  /// Adds to a description what is known of the plan's loaded kernels: registers, hash, where the binary came
  /// from.
  virtual void describe_loaded(const Queue&, Description&) const {}
  virtual std::size_t workspace_bytes() const { return 0; }
  /// Does ahead what run() would do at its first call on that queue: compiles and loads.
  virtual void prepare(const Queue&) const {}
  /// Runs on the queue with tensors of the shapes, strides and dtypes that the plan was made for. `workspace`
  /// has workspace_bytes() bytes, 64-byte aligned.
  virtual void run(const Queue& queue, const Call& call, void* workspace) const = 0;
};

/// Why an implementation does not take a call: a sentence without the implementation's name.
struct Refusal {
  std::string reason;
};

using PlanOrRefusal = std::variant<std::unique_ptr<Plan>, Refusal>;

/// One way to compute an op.
class Implementation {
 public:
  virtual ~Implementation() = default;
  virtual const std::string& name() const = 0;  ///< "cpu/avx2"
  virtual DeviceType device() const = 0;
  /// False where it divides approximately: then the elements that the reference marks lenient may differ.
  virtual bool divides_exactly() const { return true; }
  /// Why this machine cannot run it at all; empty where it can.
  virtual std::string unavailable() const { return {}; }
  /// The call is valid. Pure host code: looks at shapes, strides, dtypes and options, not at tensor contents.
  virtual PlanOrRefusal plan(const Call& call, const Queue& queue) const = 0;
};

}  // namespace isomer::core
