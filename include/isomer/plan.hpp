#pragma once

#include <isomer/explain.hpp>
#include <isomer/queue.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

/// A call that is validated and planned once and runs many times with its tensors elsewhere. Each op's header
/// has a plan() beside the op itself, with the same arguments; it validates them like the op, throws like it,
/// and writes nothing:
///
///   const isomer::Plan plan = isomer::plan(queue, args, options);
///   plan.prepare();                  // before a graph capture, or to have the first run as fast as the next
///   args.q.data = elsewhere;
///   plan.run(args);                  // what attention(queue, args, options) does, and nothing decided anew
namespace isomer {

namespace core {
struct PlanAccess;
}

/// What a plan is whatever its op. Copies share it; it holds its queue, and none of the tensors it was made
/// with. Every member may be called from many threads at once.
class ISOMER_API AnyPlan {
 public:
  const Queue& queue() const;  ///< where it runs
  /// The implementation that runs: "cpu/avx2".
  const std::string& implementation() const;
  /// What runs, in words, as the op's explain() gives it.
  Explanation explain() const;
  /// Bytes that a run works in: of the queue's device, 64-byte aligned.
  std::size_t workspace_bytes() const;
  /// Does ahead what the first run would do beside computing: compiles and loads the kernels and makes the
  /// queue's workspace large enough. Afterwards run() compiles, loads and allocates nothing and may be
  /// captured into a graph. A captured graph holds memory of the queue's: the queue must outlive it.
  void prepare() const;

 private:
  friend struct core::PlanAccess;
  template <class Args>
  friend class Plan;
  struct State;
  explicit AnyPlan(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  void run(const void* args, void* workspace, std::size_t bytes) const;
  std::shared_ptr<const State> state_;
};

/// The plan of the op whose arguments are Args.
template <class Args>
class Plan : public AnyPlan {
 public:
  /// Runs the op on the plan's queue with options as the plan was made for. Every tensor must be as then in
  /// dtype, shape, strides and device, and on a GPU its address must be a multiple of the power of two, up to
  /// 256 bytes, that the plan's was. Throws Error bad_argument, with nothing written, where one is not, and
  /// as the op does for addresses and contents.
  void run(const Args& args) const { AnyPlan::run(&args, nullptr, 0); }
  /// The same with the caller's memory to work in: workspace_bytes() or more of the queue's device, 64-byte
  /// aligned, which nothing else uses until the run has finished.
  void run(const Args& args, void* workspace, std::size_t bytes) const {
    AnyPlan::run(&args, workspace, bytes);
  }

 private:
  friend struct core::PlanAccess;
  explicit Plan(AnyPlan plan) : AnyPlan(std::move(plan)) {}
};

}  // namespace isomer
