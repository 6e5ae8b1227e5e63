#include "core/public_plan.hpp"

#include "core/call_copy.hpp"
#include "core/kept_plan.hpp"
#include "core/queue_state.hpp"
#include "core/registry.hpp"
#include "core/sentence.hpp"

#include <cstring>

namespace isomer {
namespace {

/// What runs work in begins at a multiple of this.
constexpr std::uintptr_t kWorkspaceAlignment = 64;

/// The powers of two, up to what plans look at, of which the tensor's address is a multiple.
std::uintptr_t alignment_of(const Tensor& tensor) {
  const auto address = reinterpret_cast<std::uintptr_t>(tensor.data) | core::kPlanAlignment;
  return address & (~address + 1);
}

/// A stride along one element is no matter.
bool same_form(const Tensor& a, const Tensor& b) {
  if (a.dtype != b.dtype) return false;
  if (!a.defined()) return true;
  if (a.rank != b.rank || a.device != b.device) return false;
  for (int i = 0; i < a.rank; ++i)
    if (a.size(i) != b.size(i) || (a.size(i) > 1 && a.stride(i) != b.stride(i))) return false;
  return true;
}

/// Tensor::describe() for tensors that nobody has validated, with what it leaves out.
std::string form_of(const Tensor& t) {
  if (t.defined() && (t.rank < 0 || t.rank > Tensor::kMaxRank)) return core::say("of rank ", t.rank);
  std::string text = t.describe();
  if (t.defined() && t.device.type == DeviceType::cpu) text += " on cpu";
  return text;
}

}  // namespace

struct AnyPlan::State {
  State(const Queue& on, const core::Call& call)
      : queue(core::QueueAccess::ready(on)), args(call), kept(core::keep_plan(queue, call, &refusals)) {
    options.resize((call.options_bytes + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t));
    if (call.options_bytes > 0) std::memcpy(options.data(), call.options_struct, call.options_bytes);
    const auto* begin = static_cast<const std::byte*>(call.args_struct);
    for (int i = 0; i < call.count; ++i) {
      // Every tensor of a call is a member of its args struct.
      offsets[static_cast<std::size_t>(i)] = reinterpret_cast<const std::byte*>(&call.tensor(i)) - begin;
      alignments[static_cast<std::size_t>(i)] = alignment_of(call.tensor(i));
      args.tensor(i).data = nullptr;
    }
  }

  /// The plan's call with the args of a run.
  core::Call call_of(const void* given) const {
    core::Call call = args.call();
    call.args_struct = given;
    for (int i = 0; i < call.count; ++i)
      call.tensors[static_cast<std::size_t>(i)] = reinterpret_cast<const Tensor*>(
          static_cast<const std::byte*>(given) + offsets[static_cast<std::size_t>(i)]);
    call.options_struct = options.data();
    return call;
  }

  void check(const core::Call& call) const {
    const bool on_device = queue.device().type != DeviceType::cpu;
    for (int i = 0; i < call.count; ++i) {
      const Tensor &given = call.tensor(i), &planned = args.call().tensor(i);
      const std::string& name = call.contract->args[static_cast<std::size_t>(i)].name;
      if (!same_form(given, planned))
        core::fail(ErrorCode::bad_argument, call.contract->op, ": ", name, " is ", form_of(given),
                   ", expected ", form_of(planned), " as the plan was made for");
      const std::uintptr_t alignment = alignments[static_cast<std::size_t>(i)];
      if (on_device && (reinterpret_cast<std::uintptr_t>(given.data) & (alignment - 1)) != 0)
        core::fail(ErrorCode::bad_argument, call.contract->op, ": ", name, " lies at a multiple of ",
                   alignment_of(given), " bytes, expected one of ", alignment, " as the plan was made for");
    }
  }

  void run(const void* given, void* workspace, std::size_t bytes) const {
    const core::Call call = call_of(given);
    check(call);
    if (workspace != nullptr || bytes != 0) {
      const std::size_t expected = kept->plan->workspace_bytes();
      if (workspace == nullptr || bytes < expected)
        core::fail(ErrorCode::bad_argument, call.contract->op, ": workspace has ",
                   workspace == nullptr ? 0 : bytes, " bytes, expected ", expected);
      if (reinterpret_cast<std::uintptr_t>(workspace) % kWorkspaceAlignment != 0)
        core::fail(ErrorCode::bad_argument, call.contract->op,
                   ": workspace is misaligned: its address must be a multiple of ", kWorkspaceAlignment,
                   " bytes");
    }
    core::run_again(queue, call, *kept, workspace);
  }

  Queue queue;
  core::CallCopy args;  ///< the tensors' forms; their data is null
  std::vector<std::max_align_t> options;
  std::vector<Explanation::Refusal> refusals;
  std::shared_ptr<const core::KeptPlan> kept;
  std::array<std::ptrdiff_t, core::Call::kMaxArgs> offsets{};
  std::array<std::uintptr_t, core::Call::kMaxArgs> alignments{};
};

const Queue& AnyPlan::queue() const { return state_->queue; }

const std::string& AnyPlan::implementation() const { return state_->kept->implementation->name(); }

std::size_t AnyPlan::workspace_bytes() const { return state_->kept->plan->workspace_bytes(); }

Explanation AnyPlan::explain() const {
  Explanation explanation;
  explanation.op = state_->args.call().contract->op;
  explanation.implementation = implementation();
  explanation.refusals = state_->refusals;
  explanation.workspace_bytes = workspace_bytes();
  state_->kept->plan->describe(explanation.description);
  state_->kept->plan->describe_loaded(state_->queue, explanation.description);
  return explanation;
}

void AnyPlan::prepare() const {
  state_->kept->plan->prepare(state_->queue);
  const Queue::Lease workspace = state_->queue.lease(workspace_bytes());
}

void AnyPlan::run(const void* args, void* workspace, std::size_t bytes) const {
  state_->run(args, workspace, bytes);
}

namespace core {

AnyPlan PlanAccess::make(const Queue& queue, const Call& call) {
  AnyPlan plan(std::make_shared<const AnyPlan::State>(queue, call));
  if (QueueAccess::preparing(queue)) plan.prepare();
  return plan;
}

const Contract& PlanAccess::contract(const AnyPlan& plan) { return *plan.state_->args.call().contract; }

}  // namespace core
}  // namespace isomer
