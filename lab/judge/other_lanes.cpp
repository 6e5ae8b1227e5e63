#include "lab/judge/other_lanes.hpp"

#include "lab/findings/source_places.hpp"
#include "lab/findings/variation_codes.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace isomer::lab {
namespace {

/// Of numbers that are right, or explained, with 64 lanes and not with 32: no fault of HIP code, whose data
/// centre devices have 64, unless the instruction asks for the others too.
void depends_on_lanes(const Numbers& with_32, bool asked_for_32, Diagnosis& diagnosis) {
  const Distance& plain = with_32.explanation.plain;
  const std::string seen =
      plain.wrong == 0
          ? std::string("with 32 (RDNA, NVIDIA) its shuffles ask lanes that are not there")
          : fmt::format("with 32 (RDNA, NVIDIA) {} of {} elements are wrong", plain.wrong, plain.elements);
  if (!asked_for_32) {
    diagnosis.notes.push_back("written for warps of 64 lanes (CDNA) and judged with 64: " + seen);
    return;
  }
  Finding finding;
  finding.code = Code::warp_size;
  finding.evidence =
      "the instruction also asks for warps of 32 lanes: the answer is right with 64 (CDNA), but " + seen;
  finding.fix = "use warpSize, 64-bit masks and explicit widths";
  add_once(diagnosis.findings, std::move(finding));
}

/// Of numbers that are right, or explained, where shuffles downwards leave each lane the whole of a
/// reduction: on hardware the first lane alone has it.
void has_parts_of_reductions(const Numbers& with_parts, const Numbers& with_whole,
                             const DiagnoseRequest& request, Diagnosis& diagnosis) {
  Finding finding;
  finding.code = Code::other_reduction;
  finding.evidence = fmt::format(
      "lanes other than the first of a warp use what a shuffle downwards leaves them, which is a part of the "
      "reduction: {} of {} elements are wrong; where each lane is given the whole, {} are",
      with_parts.explanation.plain.wrong, with_parts.explanation.plain.elements,
      with_whole.explanation.plain.wrong);
  finding.fix =
      "reduce by __shfl_xor_sync, or give the first lane's result to the others by __shfl_sync(mask, value, "
      "0)";
  finding.location = {request.source_file, line_of(request.source, {"shfl_down"})};
  add_once(diagnosis.findings, std::move(finding));
}

/// The numbers of another build of the candidate; the entry of `form` becomes the other's.
Numbers numbers_of(const Candidate& other, const Called& called, const Questions& questions, Form& form) {
  form = called.form;
  for (const Entry& entry : other.entries())
    if (entry.name == called.form.entry->name && entry.form == called.form.entry->form) form.entry = &entry;
  return explain_numbers(other, form, *called.port, questions);
}

/// Whether the other build's numbers are explained, or come much nearer to it. What too few lanes come to is
/// in no better explanation.
bool is_better(const Numbers& other, const Numbers& own) {
  if (is_of_fewer_lanes(own))
    return other.explanation.left.wrong <= own.explanation.left.wrong && !is_of_fewer_lanes(other);
  return other.explanation.explains || 2 * other.explanation.left.wrong < own.explanation.left.wrong;
}

}  // namespace

bool is_of_fewer_lanes(const Numbers& numbers) {
  const std::vector<std::string>& set = numbers.explanation.set;
  return std::any_of(set.begin(), set.end(),
                     [](const std::string& each) { return code_of(each).code == Code::warp_size; }) ||
         std::any_of(numbers.answers.begin(), numbers.answers.end(), [](const Answer& answer) {
           return std::any_of(answer.seen.begin(), answer.seen.end(),
                              [](const Seen& seen) { return seen.kind == "warp-divergence"; });
         });
}

std::shared_ptr<const Candidate> of_other_lanes(const std::shared_ptr<const Candidate>& wide,
                                                const DiagnoseRequest& request, Called& called,
                                                Questions& questions, Numbers& numbers,
                                                Diagnosis& diagnosis) {
  Form form;
  if (wide != nullptr) {
    Questions wider = questions;
    wider.settings.lanes = 64;
    wider.before = &numbers;
    Numbers others = numbers_of(*wide, called, wider, form);
    if (is_better(others, numbers)) {
      depends_on_lanes(numbers, request.narrow_warps, diagnosis);
      numbers = std::move(others);
      called.form = form;
      questions.settings = wider.settings;
      return wide;
    }
  }
  if (!request.whole_shuffles || numbers.raced) return nullptr;
  const std::shared_ptr<const Candidate> whole = request.whole_shuffles();
  if (whole == nullptr) return nullptr;
  Questions same = questions;
  same.before = &numbers;
  Numbers others = numbers_of(*whole, called, same, form);
  // Where no more is right, the lanes that are left a part use it for nothing.
  if (!is_better(others, numbers) || others.explanation.plain.wrong >= numbers.explanation.plain.wrong)
    return nullptr;
  has_parts_of_reductions(numbers, others, request, diagnosis);
  numbers = std::move(others);
  called.form = form;
  return whole;
}

}  // namespace isomer::lab
