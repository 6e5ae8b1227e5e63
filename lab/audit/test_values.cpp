#include "core/codec.hpp"
#include "lab/audit/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace isomer::lab {
namespace {

/// Elements in row-major order; of what is no float, whole numbers below 2^53.
template <class Act>
void for_each_element(const Tensor& tensor, Act&& act) {
  // A broadcast tensor may claim more than anybody has time for.
  constexpr std::int64_t kMost = 1 << 26;
  if (tensor.empty() || tensor.numel() > kMost) return;
  std::vector<std::int64_t> at(static_cast<std::size_t>(tensor.rank));
  for (;;) {
    std::int64_t offset = 0;
    for (int d = 0; d < tensor.rank; ++d) offset += at[static_cast<std::size_t>(d)] * tensor.stride(d);
    act(core::decode(tensor.dtype,
                     static_cast<const std::byte*>(tensor.data) + offset * size_of(tensor.dtype)));
    int d = tensor.rank - 1;
    while (d >= 0 && ++at[static_cast<std::size_t>(d)] == tensor.size(d))
      at[static_cast<std::size_t>(d--)] = 0;
    if (d < 0) return;
  }
}

std::vector<std::int64_t> whole_numbers(const Tensor& tensor) {
  std::vector<std::int64_t> all;
  for_each_element(tensor, [&](double value) {
    all.push_back(static_cast<std::int64_t>(std::clamp(value, -0x1p62, 0x1p62)));
  });
  return all;
}

bool is_index(const Value* value) {
  return value != nullptr && value->is_tensor() &&
         (value->tensor.dtype == DType::i32 || value->tensor.dtype == DType::i64);
}

struct Auditor {
  const CaseFolder& folder;
  const Recording& recording;
  std::vector<Finding>& findings;
  std::set<std::pair<Code, std::string>> told;  ///< one finding for each fault of each argument

  Finding* finding(Code code, const std::string& argument, const RecordedCall& call) {
    if (!told.emplace(code, argument).second) return nullptr;
    Finding found;
    found.code = code;
    found.subject = Subject::test;
    found.argument = argument;
    found.location = {folder.test.string(), line_of(call)};
    findings.push_back(std::move(found));
    return &findings.back();
  }

  static std::string place(const RecordedCall& call) {
    return call.group.empty() ? call.function : fmt::format("{} ({})", call.function, call.group);
  }

  void identity(const LabelFunction& function, const IndexUse& use) {
    const RecordedCall* first = nullptr;
    std::size_t calls = 0, longest = 0;
    for (const RecordedCall& call : recording.calls) {
      const Value* index = argument_of(call.before, use.index);
      if (call.function != function.name || !is_index(index)) continue;
      const std::vector<std::int64_t> values = whole_numbers(index->tensor);
      if (values.size() < 2) continue;
      for (std::size_t i = 0; i < values.size(); ++i)
        if (values[i] != static_cast<std::int64_t>(i)) return;
      if (calls++ == 0) first = &call;
      longest = std::max(longest, values.size());
    }
    if (calls == 0) return;
    if (Finding* found = finding(Code::weak_input, use.index, *first)) {
      found->evidence =
          fmt::format("{} is 0, 1, 2, … up to {} in every call: a port that ignores it gives the same answer",
                      use.index, longest - 1);
      found->fix = "pass another order, such as torch.randperm";
    }
  }

  void range(const LabelFunction& function, const IndexUse& use) {
    for (const RecordedCall& call : recording.calls) {
      const Value *index = argument_of(call.before, use.index),
                  *tensor = argument_of(call.before, use.tensor);
      if (call.function != function.name || !is_index(index)) continue;
      const std::vector<std::int64_t> values = whole_numbers(index->tensor);
      if (tensor != nullptr && tensor->is_tensor() && use.dim >= 0 && use.dim < tensor->tensor.rank) {
        const std::int64_t size = tensor->tensor.size(use.dim);
        for (std::size_t i = 0; i < values.size(); ++i) {
          // −1 is the usual word for no row at all.
          if (values[i] >= -1 && values[i] < size) continue;
          if (Finding* found = finding(Code::index_out_of_range, use.index, call)) {
            found->evidence = fmt::format(
                "{}: {}[{}] is {}, but dimension {} of {} has {} rows: the label {} outside", place(call),
                use.index, i, values[i], use.dim, use.tensor, size, use.write ? "writes" : "reads");
            found->fix = fmt::format("keep {} below the size of {}, or make {} larger", use.index, use.tensor,
                                     use.tensor);
          }
          break;
        }
      }
      if (use.write) duplicates(call, use, values);
    }
  }

  void duplicates(const RecordedCall& call, const IndexUse& use, const std::vector<std::int64_t>& values) {
    std::map<std::int64_t, std::size_t> first;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto [seen, fresh] = first.emplace(values[i], i);
      if (fresh || values[i] < 0) continue;
      if (Finding* found = finding(Code::duplicate_index, use.index, call)) {
        found->evidence =
            fmt::format("{}: {}[{}] and {}[{}] are both {}: it is not defined which of the two {} keeps",
                        place(call), use.index, seen->second, use.index, i, values[i], use.tensor);
        found->fix = "name every row once";
      }
      return;
    }
  }

  /// NaN out of inputs that have none.
  void not_a_number(const RecordedCall& call) {
    for (const Value& value : call.before) {
      bool finite = true;
      if (value.is_tensor() && is_float(value.tensor.dtype))
        for_each_element(value.tensor, [&](double x) { finite = finite && std::isfinite(x); });
      if (!finite) return;
    }
    for (const auto* answers : {&call.after, &call.returned})
      for (std::size_t i = 0; i < answers->size(); ++i) {
        const Value& value = (*answers)[i];
        if (!value.is_tensor() || !is_float(value.tensor.dtype)) continue;
        std::size_t nans = 0, all = 0;
        for_each_element(value.tensor, [&](double x) {
          nans += std::isnan(x);
          ++all;
        });
        const std::string name = !value.name.empty() ? value.name : fmt::format("result {}", i);
        if (nans > 0)
          undefined(call, name,
                    fmt::format("{} of {} elements are NaN, from inputs that are all finite", nans, all));
      }
  }

  void undefined(const RecordedCall& call, const std::string& argument, const std::string& what) {
    if (Finding* found = finding(Code::undefined_result, argument, call)) {
      found->evidence = fmt::format("{}: {}", place(call), what);
      found->fix = "leave such inputs out, or define the answer for them";
    }
  }
};

/// What the two originals divide by, known by their functions.
void known_divisions(Auditor& auditor, const RecordedCall& call) {
  if (call.function == "flash_decode_stage2") {
    const Value *lengths = argument_of(call.before, "B_Seqlen"), *mid = argument_of(call.before, "mid_out"),
                *block = argument_of(call.before, "block_seq");
    if (!is_index(lengths)) return;
    const std::vector<std::int64_t> values = whole_numbers(lengths->tensor);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] <= 0)
        auditor.undefined(
            call, "B_Seqlen",
            fmt::format("B_Seqlen[{}] is {}: no block is merged, and 0 is divided by 0", i, values[i]));
      if (mid == nullptr || !mid->is_tensor() || mid->tensor.rank != 4 || block == nullptr ||
          block->integer <= 0)
        continue;
      const std::int64_t needed = values[i] / block->integer + (values[i] % block->integer > 0);
      if (needed <= mid->tensor.size(2)) continue;
      if (Finding* found = auditor.finding(Code::index_out_of_range, "B_Seqlen", call)) {
        found->evidence = fmt::format(
            "{}: B_Seqlen[{}] is {}, which is {} blocks of {}, but mid_out has {}: the label reads outside",
            Auditor::place(call), i, values[i], needed, block->integer, mid->tensor.size(2));
        found->fix = "make mid_out and mid_out_logexpsum as long as the longest sequence needs";
      }
    }
  }
  if (call.function == "destindex_copy_quantize_kv") {
    const Value* k = argument_of(call.before, "K");
    if (k == nullptr || !k->is_tensor() || k->tensor.rank != 3) return;
    for (std::int64_t s = 0; s < k->tensor.size(0); ++s)
      for (std::int64_t h = 0; h < k->tensor.size(1); ++h) {
        bool zero = k->tensor.size(2) > 0;
        for_each_element(k->tensor.select(0, s).select(0, h), [&](double x) { zero = zero && x == 0; });
        if (zero)
          return auditor.undefined(
              call, "K", fmt::format("K[{}, {}, :] is all zero: 0 is divided by a scale of 0", s, h));
      }
  }
}

}  // namespace

void audit_test_values(const CaseFolder& folder, const Recording& recording, const Facts* facts,
                       std::vector<Finding>& findings) {
  Auditor auditor{folder, recording, findings, {}};
  if (facts != nullptr)
    for (const LabelFunction& function : facts->functions)
      for (const IndexUse& use : function.indexes) {
        auditor.identity(function, use);
        auditor.range(function, use);
      }
  for (const RecordedCall& call : recording.calls) {
    // Its cause says more than its sign.
    const std::size_t before = findings.size();
    known_divisions(auditor, call);
    if (findings.size() == before) auditor.not_a_number(call);
  }
}

}  // namespace isomer::lab
