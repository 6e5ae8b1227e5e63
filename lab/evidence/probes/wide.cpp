#include "lab/evidence/probes/probes.hpp"

#include "lab/evidence/probes/watched.hpp"

#include <sys/mman.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace isomer::lab {
namespace {

constexpr std::int64_t kWraps = std::int64_t{1} << 31;       // elements: the first offset that is no int
constexpr std::int64_t kMostBytes = std::int64_t{20} << 30;  // of one storage, by its addresses

/// Zeros that take memory only where they are written; null where there are no addresses for them.
std::shared_ptr<void> untouched_storage(std::size_t bytes) {
  void* memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  // A large page is as much as five hundred that must travel.
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  return {memory, [bytes](void* p) { munmap(p, bytes); }};
}

/// The last index of an output's dimension that the op writes; of an input the last that there is.
std::int64_t last_index(const Subjected& s, const Port::Role& role, const Tensor& tensor, int dim) {
  const std::int64_t last = tensor.size(dim) - 1;
  if (!role.output) return last;
  std::int64_t inner = 1;
  for (int d = dim + 1; d < tensor.rank; ++d) inner *= tensor.size(d);
  std::int64_t furthest = 0;
  for (const oracle::ExpectedTensor& want : s.given->plain.tensors) {
    if (want.name != role.argument) continue;
    for (std::size_t i = 0; i < want.written.size(); ++i)
      if (want.written[i])
        furthest = std::max(furthest, static_cast<std::int64_t>(i) / inner % tensor.size(dim));
  }
  return std::min(furthest, last);
}

/// The same elements, those of a dimension's last index 2^31 elements and more behind the first.
std::optional<Value> widened(const Value& value, int dim, std::int64_t last) {
  const Tensor& from = value.tensor;
  const std::int64_t size = size_of(from.dtype);
  Tensor wide = from;
  const std::int64_t stride = (kWraps / last / 16 + 1) * 16;
  wide.strides[static_cast<std::size_t>(dim)] = stride;
  std::int64_t end = 1;
  for (int d = 0; d < wide.rank; ++d) end += (wide.size(d) - 1) * wide.stride(d);
  if (end * size > kMostBytes) return {};
  Value result = value;
  result.storage_bytes = static_cast<std::size_t>(end * size);
  result.storage_offset = 0;
  result.storage = untouched_storage(result.storage_bytes);
  if (result.storage == nullptr) return {};
  wide.data = result.storage.get();
  result.tensor = wide;
  for (std::int64_t flat = 0; flat < from.numel(); ++flat) {
    std::int64_t source = 0, target = 0, index = flat;
    for (int d = from.rank - 1; d >= 0; --d) {
      source += index % from.size(d) * from.stride(d);
      target += index % from.size(d) * wide.stride(d);
      index /= from.size(d);
    }
    std::memcpy(static_cast<std::byte*>(wide.data) + target * size,
                static_cast<const std::byte*>(from.data) + source * size, static_cast<std::size_t>(size));
  }
  return result;
}

/// The strides that are passed beside the tensor become those of the view. `narrow`: a parameter takes 32
/// bits, so that who calls it may have no such view. False where a stride does not even fit.
bool pass_strides(const Form& form, int role, const Tensor& view, std::vector<Value>& arguments,
                  bool& narrow) {
  for (std::size_t i = 0; i < form.passings.size(); ++i) {
    const Passing& passing = form.passings[i];
    if (passing.role != role) continue;
    if (passing.what == Passing::What::strides) {
      for (std::size_t d = 0; d < arguments[i].items.size(); ++d)
        arguments[i].items[d].integer = view.stride(static_cast<int>(d));
      // A kernel's lie in the device's memory, as they were.
      narrow = narrow || arguments[i].is_tensor() || form.entry->parameters[i].element == DType::i32;
      if (narrow) return false;
    }
    if (passing.what != Passing::What::stride) continue;
    const int dim = passing.dim < 0 ? passing.dim + view.rank : passing.dim;
    if (dim < 0 || dim >= view.rank) continue;
    narrow = narrow || (i < form.entry->parameters.size() && form.entry->parameters[i].bits == 32);
    if (narrow && view.stride(dim) > INT32_MAX) return false;
    arguments[i].integer = view.stride(dim);
    arguments[i].real = static_cast<double>(view.stride(dim));
  }
  return true;
}

std::vector<Value> poisoned_arguments(const Subjected& s) {
  std::vector<Value> arguments = passed(s.form, s.given->values);
  for (std::size_t i = 0; i < s.form.passings.size(); ++i)
    if (s.form.passings[i].what == Passing::What::role && arguments[i].is_tensor() &&
        s.port.roles[static_cast<std::size_t>(s.form.passings[i].role)].output)
      std::memset(arguments[i].storage.get(), 0x5a, arguments[i].storage_bytes);
  return arguments;
}

bool wraps(const Seen& seen) {
  return seen.kind == "index-overflow" || seen.kind.starts_with("out-of-bounds");
}

}  // namespace

void probe_wide_strides(const Subjected& s, Probed& found) {
  ++found.calls;
  const Trial base = try_call(s.candidate, s.form, s.port, *s.given, s.settings);
  if (!base.ok() || std::any_of(base.answer.seen.begin(), base.answer.seen.end(), wraps)) return;
  for (int role = 0; role < static_cast<int>(s.port.roles.size()); ++role) {
    const auto reads = s.port.original->parameters[static_cast<std::size_t>(role)].reads;
    const int passing = passing_of(s.form, role);
    if (passing < 0 || reads == oracle::Original::Reads::compact) continue;
    const std::string name = argument_name(s, passing);
    // What another input is read by them for is no fault of this one.
    if (std::find(found.borrowed.begin(), found.borrowed.end(), name) != found.borrowed.end()) continue;
    // Who takes no strides at all computes no offset with them.
    if (std::any_of(found.findings.begin(), found.findings.end(),
                    [&](const Finding& each) {
                      return each.code == Code::assumes_contiguous && each.argument == name;
                    }) &&
        std::find(found.inner_only.begin(), found.inner_only.end(), name) == found.inner_only.end())
      continue;
    std::vector<Value> arguments = poisoned_arguments(s);
    Value& argument = arguments[static_cast<std::size_t>(passing)];
    if (!argument.is_tensor() || argument.tensor.empty()) continue;
    int dim = 0;
    while (dim + 1 < argument.tensor.rank && argument.tensor.size(dim) < 2) ++dim;
    if (dim + 1 >= argument.tensor.rank) continue;  // the last dimension has no rows
    const std::int64_t last =
        last_index(s, s.port.roles[static_cast<std::size_t>(role)], argument.tensor, dim);
    if (last < 1) continue;
    const std::optional<Value> view = widened(argument, dim, last);
    bool narrow = false;
    if (!view.has_value() || !pass_strides(s.form, role, view->tensor, arguments, narrow)) continue;
    argument = *view;
    Trial trial;
    ++found.calls;
    trial.answer =
        s.candidate.call(*s.form.entry, arguments, with_launch_of(s.form, s.given->values, s.settings));
    using End = Answer::End;
    const End end = trial.answer.end;
    // Gigabytes of addresses are not every machine's, and a candidate may say that it takes no such strides.
    if (end == End::refused || end == End::timed_out || end == End::too_large || end == End::over_limit ||
        end == End::not_callable) {
      found.notes.push_back(fmt::format("{} with rows 2^31 elements apart ({}): {}", name,
                                        view->tensor.describe(), trial.answer.message));
      continue;
    }
    take_outputs(s.form, s.port, *s.given, {}, trial);
    const auto seen = std::find_if(trial.answer.seen.begin(), trial.answer.seen.end(), wraps);
    const std::size_t wrong = trial.ok() ? different(*s.given, base.outputs, trial.outputs) : 0;
    if (seen == trial.answer.seen.end() && wrong == 0 && trial.answer.ok()) continue;
    Finding finding;
    finding.code = Code::index_overflow;
    finding.argument = name;
    finding.evidence =
        fmt::format("{} ({}) with the same values, but with row {} at {} elements after the first: ", name,
                    view->tensor.describe(), last, last * view->tensor.stride(dim));
    if (seen != trial.answer.seen.end()) {
      finding.evidence += without_folders(seen->text, seen->place);
      finding.location = seen->place;
    } else if (!trial.answer.ok()) {
      finding.evidence += trial.answer.message;
      finding.location = trial.answer.place;
    } else {
      finding.evidence += fmt::format("{} elements of the answer change", wrong);
    }
    finding.fix = "multiply index and stride in 64 bits";
    if (narrow) {
      found.notes.push_back(fmt::format(
          "its strides have 32 bits, and so does their product with an index: {}", finding.evidence));
      continue;
    }
    add_once(found.findings, std::move(finding));
  }
}

}  // namespace isomer::lab
