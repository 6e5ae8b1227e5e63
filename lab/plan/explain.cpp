#include "lab/plan/explain.hpp"

#include "core/sentence.hpp"
#include "lab/binary/binary.hpp"
#include "lab/plan/prebuild.hpp"
#include "lab/plan/programs.hpp"
#include "ops/attention/oracle/like_fa3.hpp"
#include "oracle/oracle.hpp"

#include <isomer/error.hpp>

#include <algorithm>

namespace isomer::lab {
namespace {

/// The kernel's own bytes in an image that a vendor loads; empty for the emulated device's, which is another
/// thing.
std::string code_hash(const gpu::Image& image, const std::string& kernel) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(image.bytes.data());
  try {
    for (const BinaryKernel& each : read_image(bytes, image.bytes.size(), kernel))
      if (each.name == kernel) return each.code_hash;
  } catch (const Error&) {
    // Not an image that `isomer kernels` knows either.
  }
  return {};
}

/// What is known of a kernel's code without a device.
LaunchCode describe_binary(const PlanDevice& backend, const gpu::Program& program, bool compile,
                           isomer::Launch& launch) {
  std::optional<gpu::Binary> binary = gpu::find_stored(*backend.vendor, program, backend.facts->architecture);
  if (!binary && compile) {
    binary = compile_for(backend, program);
    if (backend.vendor->cacheable())
      binary->not_kept = gpu::keep_binary(*binary, program, backend.facts->architecture);
  }
  if (!binary) return {};
  launch.binary = {.source = binary->source,
                   .hash = binary->hash,
                   .registers = binary->image.resources.registers,
                   .spill_bytes = binary->image.resources.spill_bytes,
                   .seconds = binary->seconds,
                   .not_kept = binary->not_kept};
  const std::int64_t shared = binary->image.resources.shared_bytes;
  launch.shared_bytes += std::max<std::int64_t>(shared, 0);
  return {backend.vendor->cacheable() ? code_hash(binary->image, program.kernel) : "", shared};
}

void describe(const core::Implementation& implementation, const core::Plan& plan, Explanation& explanation) {
  explanation.implementation = implementation.name();
  explanation.workspace_bytes = plan.workspace_bytes();
  plan.describe(explanation.description);
}

/// The registry's choice on the CPU.
Explanation explain_on(const Queue& queue, const core::Registry::Op& op, const core::Call& call) {
  core::Choice choice = core::choose(op, call, queue);
  Explanation explanation;
  explanation.op = call.contract->op;
  explanation.refusals = std::move(choice.refusals);
  if (choice.implementation != nullptr) describe(*choice.implementation, *choice.plan, explanation);
  return explanation;
}

/// The registry's choice for a device of those facts.
Explanation explain_on(const PlanDevice& backend, const core::Call& call, const ExplainSelection& selection,
                       CaseExplanation& explained) {
  Explanation explanation;
  explanation.op = call.contract->op;
  bool asked = false;
  for (const gpu::Implementation* implementation : implementations_for(explanation.op, *backend.vendor)) {
    if (!selection.implementation.empty() && implementation->name() != selection.implementation) continue;
    asked = true;
    core::PlanOrRefusal answer = implementation->plan(call, *backend.facts);
    if (const auto* refusal = std::get_if<core::Refusal>(&answer)) {
      explanation.refusals.push_back({implementation->name(), refusal->reason});
      continue;
    }
    const core::Plan& plan = *std::get<std::unique_ptr<core::Plan>>(answer);
    describe(*implementation, plan, explanation);
    if (const auto* on_gpu = dynamic_cast<const gpu::Plan*>(&plan)) {
      for (std::size_t i = 0; i < on_gpu->steps().size(); ++i)
        explained.code.push_back(describe_binary(backend, on_gpu->steps()[i].program(), selection.compile,
                                                 explanation.description.launches[i]));
      explained.candidates = on_gpu->candidates();
    }
    break;
  }
  if (!asked && !selection.implementation.empty())
    explanation.refusals.push_back(
        {selection.implementation, core::say("runs on another device than ", selection.backend)});
  return explanation;
}

/// What a plan says under that name, wherever it says it.
std::string said(const CaseExplanation& explained, const std::string& name) {
  const core::Description& d = explained.plan.description;
  for (const core::Named* named : {&d.variant, &d.constants, &d.parameters})
    for (const auto& [its, value] : *named)
      if (its == name) return value;
  if (name == "cluster" && !d.launches.empty()) return std::to_string(d.launches.front().cluster[0]);
  return {};
}

void refuse_like(const ExplainSelection& selection, const std::string& op, bool on_gpu) {
  if (selection.like.empty()) return;
  if (selection.like != "fa3")
    core::fail(ErrorCode::bad_argument, "explain: --like expects fa3, got '", selection.like, "'");
  if (op != "attention")
    core::fail(ErrorCode::bad_argument, "explain: --like fa3 expects a case of attention, got one of ", op);
  if (!on_gpu)
    core::fail(ErrorCode::bad_argument, "explain: --like fa3 expects a GPU, which FlashAttention-3 runs on, ",
               "such as --backend cuda:sm_90a, got '", selection.backend, "'");
}

Beside beside_fa3(const CaseExplanation& explained, const core::Call& call, const gpu::Facts& facts) {
  const ops::attention::LikeFa3 theirs = ops::attention::like_fa3(call, facts.multiprocessors);
  Beside beside{"FlashAttention-3", theirs.reason, {}};
  for (const auto& [name, value] : theirs.choices)
    beside.rows.push_back({name, value, said(explained, name)});
  return beside;
}

}  // namespace

CaseExplanation explain(const ExplainSelection& selection) {
  const oracle::Case parsed = oracle::parse_case(selection.line);
  const oracle::Case fixed = parsed.seed() != 0 ? parsed : parsed.with_seed(1);
  const oracle::Oracle& oracle = *oracle::find_oracle(parsed.schema().op);
  const core::Registry::Op& op = *core::Registry::builtin().find(parsed.schema().op);
  if (!selection.implementation.empty() && op.find(selection.implementation) == nullptr) {
    std::vector<std::string> names;
    for (const auto& each : op.implementations) names.push_back(each->name());
    core::fail(ErrorCode::bad_argument, "explain: expected an implementation of ", parsed.schema().op, " (",
               core::either(names), "), got '", selection.implementation, "'");
  }
  const PlanDevice backend = parse_backend("explain", selection.backend);
  refuse_like(selection, parsed.schema().op, backend.vendor != nullptr);
  // A case line makes only data that its contract allows: the clauses on data are not asked.
  oracle::Problem problem(fixed, oracle::Contents::none);
  oracle.make(fixed, problem);
  core::validate(problem.call(), Device{}, false);
  if (backend.vendor == nullptr) {
    const Queue queue =
        Queue::cpu({.checked = false, .implementation = selection.implementation, .executor = nullptr});
    return {parsed.line(), selection.backend, "", explain_on(queue, op, problem.call())};
  }
  CaseExplanation explained{parsed.line(), selection.backend, backend.facts->architecture, {}};
  explained.plan = explain_on(backend, problem.call(), selection, explained);
  if (!selection.like.empty()) explained.beside = beside_fa3(explained, problem.call(), *backend.facts);
  return explained;
}

}  // namespace isomer::lab
