#include "lab/ask/recorded/replayed.hpp"

#include "core/codec.hpp"
#include "lab/ask/recorded/list_arguments.hpp"
#include "lab/ask/recorded/round_axis.hpp"
#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

namespace isomer::lab {
namespace {

bool same_content(const Value& a, const Value& b) {
  return a.storage_bytes == b.storage_bytes && a.tensor.rank == b.tensor.rank &&
         (a.storage_bytes == 0 || std::memcmp(a.storage.get(), b.storage.get(), a.storage_bytes) == 0);
}

bool has_duplicates(const Value& value) {
  if (!value.is_tensor() || is_float(value.tensor.dtype)) return false;
  std::set<double> seen;
  for (const double each : oracle::elements(value.tensor))
    if (each >= 0 && !seen.insert(each).second) return true;
  return false;
}

/// Of an f32 answer to 16-bit inputs, which a reference may multiply in their own type.
constexpr double kOfHalves = 2e-3;

/// Whether every element of an f32 answer is one of f16, and most are no whole numbers: the label has rounded
/// them on their way, so that sums in another order come out as another of these.
bool is_rounded_to_halves(const Tensor& want) {
  constexpr std::size_t kEnough = 64;
  if (want.dtype != DType::f32) return false;
  std::size_t parts = 0;
  for (const double each : oracle::elements(want)) {
    if (!std::isfinite(each)) continue;
    std::byte bytes[2];
    core::encode(DType::f16, each, bytes);
    if (core::decode(DType::f16, bytes) != each) return false;
    parts += each != std::floor(each);
  }
  return parts >= kEnough && 2 * parts >= static_cast<std::size_t>(want.numel());
}

/// What nobody wrote has no value: it is zero in what is wanted of an output.
void leave_open(const Value& unset, const Value& answer, Replayed& replayed) {
  if (!unset.is_tensor()) return;
  Replayed::Output& output = replayed.outputs.back();
  for (const double each : oracle::elements(unset.tensor))
    output.open.push_back(static_cast<std::uint8_t>(each != 0));
  replayed.kept.push_back(compact_copy(answer));
  output.want = replayed.kept.back().tensor;
  const auto size = static_cast<std::size_t>(size_of(output.want.dtype));
  for (std::size_t i = 0; i < output.open.size(); ++i)
    if (output.open[i] != 0) std::memset(static_cast<std::byte*>(output.want.data) + i * size, 0, size);
}

/// Whether two calls are given the same but for the memory that they write.
bool given_alike(const Replayed& a, const Replayed& b) {
  if (a.call->function != b.call->function || a.roles.size() != b.roles.size()) return false;
  for (std::size_t i = 0; i < a.roles.size(); ++i) {
    const Value &one = a.values[i], &other = b.values[i];
    if (a.roles[i].returned && b.roles[i].returned) continue;
    if (a.roles[i].output != b.roles[i].output || one.kind != other.kind) return false;
    const bool same_form = !one.is_tensor() || (one.tensor.dtype == other.tensor.dtype &&
                                                one.tensor.shape == other.tensor.shape &&
                                                one.tensor.strides == other.tensor.strides);
    if (!same_form || (one.is_tensor() && !a.roles[i].output && !same_content(one, other)) ||
        (!one.is_tensor() && (one.integer != other.integer || !same_value(one.real, other.real))))
      return false;
  }
  return true;
}

/// Elements of an argument that one call leaves as they were, and another one, given the same, writes: the
/// test's own launch does not reach them. `other` writes nearly all, and what `call` writes is the same
/// there.
void leave_unreached_open(const Replayed& call, Replayed::Output& output, const Replayed::Output& other,
                          std::vector<Value>& kept) {
  constexpr double kNearlyAll = 0.95;
  if (call.outputs.empty() || output.returned >= 0 || other.returned >= 0 || output.role != other.role ||
      !output.open.empty() || !output.want.is_contiguous())
    return;
  const std::vector<double> before = oracle::elements(output.before), want = oracle::elements(output.want),
                            of_other = oracle::elements(other.want),
                            before_other = oracle::elements(other.before);
  std::vector<std::uint8_t> open(want.size());
  std::size_t written = 0, left = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    const bool writes = !same_value(want[i], before[i]),
               other_writes = !same_value(of_other[i], before_other[i]);
    if (writes && !same_value(want[i], of_other[i])) return;
    written += other_writes;
    open[i] = !writes && !same_value(want[i], of_other[i]);
    left += open[i];
  }
  if (left == 0 || left == want.size() ||
      static_cast<double>(written) < kNearlyAll * static_cast<double>(want.size()))
    return;
  Value copy = tensor_value(output.name, output.want.dtype,
                            {output.want.shape.begin(), output.want.shape.begin() + output.want.rank});
  const auto size = static_cast<std::size_t>(size_of(output.want.dtype));
  std::memcpy(copy.storage.get(), output.want.data, want.size() * size);
  for (std::size_t i = 0; i < open.size(); ++i)
    if (open[i] != 0) std::memset(static_cast<std::byte*>(copy.storage.get()) + i * size, 0, size);
  output.open = std::move(open);
  output.want = copy.tensor;
  kept.push_back(std::move(copy));
}

/// A result that is an argument's content in one call, and not in another that has the argument, is that by
/// chance.
void keep_only_those_again_in_each(std::vector<Replayed>& list) {
  std::set<std::tuple<std::string, int, std::string>> fresh;
  for (const Replayed& each : list)
    for (const Replayed::Output& output : each.outputs)
      for (const Port::Role& role : each.roles)
        if (output.returned >= 0 && !output.again && role.tensor && !role.returned)
          fresh.emplace(each.call->function, output.returned, role.name);
  for (Replayed& each : list)
    for (Replayed::Output& output : each.outputs)
      output.again =
          output.again && fresh.count({each.call->function, output.returned, output.again_of}) == 0;
}

/// What a call's function computes, and the items of lists of two or three whole numbers: "size[0]".
/// `defaults`: of lists that calls of the function leave out, which the recorder's own calls do not tell.
std::map<std::string, Value> numbers_of(const RecordedCall& call, const LabelFunction* label,
                                        const std::vector<Value>& defaults) {
  std::map<std::string, Value> numbers;
  for (const Value& value : call.computed)
    if (!value.is_tensor()) numbers.emplace(value.name, value);
  const auto add_items = [&](const Value& value) {
    const std::size_t count = value.kind == Value::Kind::list ? value.items.size() : 0;
    if (count < 2 || count > 3 || std::any_of(value.items.begin(), value.items.end(), [](const Value& item) {
          return item.kind != Value::Kind::integer;
        }))
      return;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string name = fmt::format("{}[{}]", value.name, i);
      numbers.emplace(name, integer_value(name, value.items[i].integer));
    }
  };
  for (const Value& value : call.before) add_items(value);
  add_sizes_round_axis(call, label, defaults, numbers);
  for (const Value& value : defaults)
    if (numbers.count(value.name + "[0]") == 0) add_items(value);
  return numbers;
}

/// Behind the values of each call the numbers that all of its function's calls have.
void add_computed(std::vector<Replayed>& list, const Facts* facts) {
  std::map<std::string, std::map<std::string, std::size_t>> counts;  // of a function, of a name
  std::map<std::string, std::size_t> calls;
  std::vector<std::map<std::string, Value>> numbers;
  std::map<std::string, std::vector<Value>> defaults;
  for (const Replayed& each : list)
    for (const Value& value : each.call->left_out) defaults[each.call->function].push_back(value);
  for (const Replayed& each : list) {
    ++calls[each.call->function];
    const LabelFunction* label = facts == nullptr ? nullptr : facts->function(each.call->function);
    numbers.push_back(numbers_of(*each.call, label, defaults[each.call->function]));
    for (const auto& [name, value] : numbers.back()) ++counts[each.call->function][name];
  }
  for (std::size_t i = 0; i < list.size(); ++i)
    for (const auto& [name, count] : counts[list[i].call->function])
      if (count == calls[list[i].call->function]) list[i].values.push_back(numbers[i].at(name));
}

std::optional<std::vector<std::string>> large_arguments(const Recording& recording,
                                                        const std::string& function) {
  constexpr double kLarge = 100;
  std::vector<std::string> names;
  if (std::none_of(recording.asked.begin(), recording.asked.end(),
                   [&](const RecordedCall& call) { return call.function == function; }))
    return std::nullopt;
  for (const RecordedCall& call : recording.asked)
    for (const Value& value : call.before) {
      if (call.asked != "large" || call.function != function || !value.is_tensor() ||
          !is_float(value.tensor.dtype))
        continue;
      const std::vector<double> elements = oracle::elements(value.tensor);
      if (std::any_of(elements.begin(), elements.end(), [](double each) { return std::fabs(each) > kLarge; }))
        names.push_back(value.name);
    }
  return names;
}

/// Behind those the tensors that one of its function's calls has: none where a call has not.
void add_own_tensors(std::vector<Replayed>& list) {
  std::map<std::string, std::set<std::string>> names;  // of a function
  for (const Replayed& each : list)
    for (const Value& value : each.call->computed)
      if (value.is_tensor()) names[each.call->function].insert(value.name);
  for (Replayed& each : list)
    for (const std::string& name : names[each.call->function]) {
      const auto& own = each.call->computed;
      const auto found = std::find_if(own.begin(), own.end(), [&](const Value& value) {
        return value.is_tensor() && value.name == name;
      });
      Value none;
      none.name = name;
      each.values.push_back(found == own.end() ? none : *found);
    }
}

}  // namespace

std::vector<Replayed> replayed_calls(const Recording& recording, const Facts* facts) {
  // What one call writes, every call may write.
  std::set<std::pair<std::string, std::size_t>> written;
  for (const RecordedCall& call : recording.calls)
    for (std::size_t i = 0; i < call.after.size() && i < call.before.size(); ++i)
      if (call.before[i].is_tensor() && call.after[i].is_tensor() &&
          !same_content(call.before[i], call.after[i]))
        written.emplace(call.function, i);
  std::vector<Replayed> list;
  int index = 0;
  const auto add = [&](const RecordedCall& call) {
    ++index;
    if (!call.raised.empty()) return;
    Replayed replayed;
    replayed.call = &call;
    replayed.line =
        call.asked == "size" || call.asked == "larger"
            ? fmt::format("{} with a size of {} instead of {}", call.function, call.size, call.size_before)
        : call.asked == "large" || call.asked == "small"
            ? fmt::format("{} with {} values ({} at most)", call.function, call.asked,
                          call.asked == "large" ? "400" : "0.001")
        : !call.asked.empty() ? fmt::format("{} with values that are {}", call.function, call.asked)
                              : fmt::format("{} call {}{}", call.function, index,
                                            call.group.empty() ? "" : " of " + call.group);
    const LabelFunction* label = facts == nullptr ? nullptr : facts->function(call.function);
    for (std::size_t i = 0; i < call.before.size(); ++i) {
      const Value& value = call.before[i];
      Port::Role role;
      role.name = value.name.empty() ? fmt::format("argument {}", i + 1) : value.name;
      role.argument = role.name;
      role.tensor = value.is_tensor();
      role.output = i < call.after.size() && value.is_tensor() && written.count({call.function, i}) > 0;
      if (role.output)
        replayed.outputs.push_back({role.name, static_cast<int>(i), -1, call.after[i].tensor, value.tensor});
      if (label != nullptr)
        for (const IndexUse& use : label->indexes)
          replayed.shared =
              replayed.shared || (use.write && use.index == value.name && has_duplicates(value));
      replayed.empty = replayed.empty || (value.is_tensor() && value.tensor.empty());
      replayed.roles.push_back(std::move(role));
      replayed.values.push_back(value);
    }
    replayed.left_out = call.left_out;
    for (std::size_t i = 0; i < call.returned.size(); ++i) {
      const Value& value = call.returned[i];
      Port::Role role;
      role.name = call.returned.size() == 1 ? "the returned tensor" : fmt::format("result {}", i);
      role.argument = role.name;
      role.output = role.returned = true;
      role.called = value.name;
      role.tensor = value.is_tensor();
      Value made;
      if (value.is_tensor()) {
        made = tensor_value(role.name, value.tensor.dtype,
                            {value.tensor.shape.begin(), value.tensor.shape.begin() + value.tensor.rank});
        made.boolean = value.boolean;
        replayed.outputs.push_back({role.name, static_cast<int>(replayed.roles.size()), static_cast<int>(i),
                                    value.tensor, Tensor()});
        if (i < call.unset.size()) leave_open(call.unset[i], value, replayed);
        if (i < call.noise.size() && call.noise[i].is_tensor())
          replayed.outputs.back().noise = oracle::elements(call.noise[i].tensor);
        // A label that writes an argument and returns it has said all with the argument, as one that returns
        // an argument beside others.
        for (std::size_t a = 0; a < call.after.size() && a < replayed.roles.size(); ++a) {
          const Value& after = call.after[a];
          if (replayed.outputs.back().again || !after.is_tensor() ||
              (!replayed.roles[a].output && call.returned.size() == 1) || !same_content(after, value) ||
              after.tensor.dtype != value.tensor.dtype || after.tensor.shape != value.tensor.shape ||
              after.tensor.strides != value.tensor.strides)
            continue;
          replayed.outputs.back().again = true;
          replayed.outputs.back().again_of = replayed.roles[a].name;
        }
      }
      replayed.roles.push_back(std::move(role));
      replayed.values.push_back(std::move(made));
    }
    const bool halves = std::any_of(call.before.begin(), call.before.end(), [](const Value& value) {
      return value.is_tensor() && (value.tensor.dtype == DType::f16 || value.tensor.dtype == DType::bf16);
    });
    for (Replayed::Output& output : replayed.outputs)
      if ((halves && !call.full && output.want.dtype == DType::f32) || is_rounded_to_halves(output.want))
        output.rtol = std::max(output.rtol, kOfHalves);
    if (!replayed.outputs.empty()) list.push_back(std::move(replayed));
  };
  for (const RecordedCall& call : recording.calls) add(call);
  for (const RecordedCall& call : recording.asked) add(call);
  keep_only_those_again_in_each(list);
  add_computed(list, facts);
  add_list_parts(list);
  add_own_tensors(list);
  const bool asks_idle =
      std::any_of(recording.calls.begin(), recording.calls.end(), [](const RecordedCall& call) {
        return std::count(call.idle_asked.begin(), call.idle_asked.end(), true) >
               std::count(call.idle.begin(), call.idle.end(), true);
      });
  for (Replayed& each : list) {
    each.asks_idle = asks_idle;
    each.may_be_large = large_arguments(recording, each.call->function);
  }
  for (Replayed& call : list)
    for (const Replayed& other : list)
      for (std::size_t t = 0; &call != &other && t < call.outputs.size() && t < other.outputs.size(); ++t)
        if (call.outputs[t].returned < 0 && given_alike(call, other))
          leave_unreached_open(call, call.outputs[t], other.outputs[t], call.kept);
  return list;
}

std::vector<Replayed> unanswered_calls(const Recording& recording) {
  std::vector<Replayed> list;
  int index = 0;
  for (const RecordedCall& call : recording.calls) {
    ++index;
    if (!call.raised.empty() || !call.after.empty() || !call.returned.empty()) continue;
    Replayed replayed;
    replayed.call = &call;
    replayed.line =
        fmt::format("{} call {}{}", call.function, index, call.group.empty() ? "" : " of " + call.group);
    for (std::size_t i = 0; i < call.before.size(); ++i) {
      Port::Role role;
      role.name = role.argument =
          call.before[i].name.empty() ? fmt::format("argument {}", i + 1) : call.before[i].name;
      role.tensor = call.before[i].is_tensor();
      replayed.roles.push_back(std::move(role));
    }
    replayed.values = call.before;
    list.push_back(std::move(replayed));
  }
  return list;
}

double rtol_of(DType dtype) {
  return dtype == DType::bf16  ? 1.6e-2
         : dtype == DType::f16 ? 1e-3
         : is_fp8(dtype)       ? 0.07
         : dtype == DType::f64 ? 1e-9
         : is_float(dtype)     ? 1e-5
                               : 0;
}

double rtol_for(const Approach& approach, const Replayed::Output& output) {
  if (approach.rtol > 0 || approach.atol > 0) return approach.rtol;
  // Of what is given in a narrower type, since no other is taken, no more can be asked than that type has.
  double rtol = output.rtol;
  for (const Passing& passing : approach.form.passings)
    if (passing.what == Passing::What::role && is_float(passing.cast))
      if (const double narrow = 2 * rtol_of(passing.cast); narrow > 4 * rtol_of(output.want.dtype))
        rtol = std::max(rtol, narrow);
  return rtol;
}

namespace {

/// The magnitude of the number that stands for none in an answer, as in what a mask hides: one huge value,
/// and all others far below it. Infinite where there is none.
double filled_with(const std::vector<double>& elements) {
  constexpr double kLeast = 9999, kTimes = 1000;
  double largest = 0, next = 0;
  for (const double each : elements) {
    const double size = std::fabs(each);
    if (!std::isfinite(each) || size == largest) continue;
    if (size > largest) next = std::exchange(largest, size);
    next = size < largest ? std::max(next, size) : next;
  }
  return largest >= kLeast && next > 0 && largest > kTimes * next ? largest
                                                                  : std::numeric_limits<double>::infinity();
}

}  // namespace

std::vector<double> bounds_of(const Approach& approach, const Replayed::Output& output,
                              const std::vector<double>& elements) {
  // Of a port's own, which sums in another order; of an answer that has few digits fewer, so that it says
  // something still.
  constexpr double kRoundings = 32, kFewer = 4, kDigits = 0.01;
  std::vector<double> bounds = bounds_of(output.want, elements, rtol_for(approach, output), approach.atol);
  if (approach.rtol > 0 || approach.atol > 0) return bounds;
  for (std::size_t i = 0; i < std::min(bounds.size(), output.noise.size()); ++i)
    bounds[i] = std::max({bounds[i], kFewer * output.noise[i],
                          std::min(kRoundings * output.noise[i], kDigits * std::fabs(elements[i]))});
  return bounds;
}

std::vector<double> bounds_of(const Tensor& want, const std::vector<double>& elements, double rtol,
                              double atol) {
  const double relative = rtol > 0 || atol > 0 ? rtol : rtol_of(want.dtype);
  std::vector<double> bounds(elements.size());
  const double filled = filled_with(elements);
  const auto size_of_rows = [&](std::size_t begin, std::size_t count) {
    double squares = 0;
    std::size_t finite = 0;
    for (std::size_t i = begin; i < begin + count; ++i)
      if (std::isfinite(elements[i]) && std::fabs(elements[i]) < filled) {
        squares += elements[i] * elements[i];
        ++finite;
      }
    return finite == 0 ? 0.0 : std::sqrt(squares / static_cast<double>(finite));
  };
  const std::size_t width =
      want.rank > 0 ? static_cast<std::size_t>(std::max<std::int64_t>(want.size(-1), 1)) : 1;
  const bool columns = width == 1 && elements.size() > 1;
  // What cancels to nothing in the port leaves the last bits of what was added in the original, or the other
  // way round: a row of such is no measure of itself.
  constexpr double kLastBits = 5e-7;
  const double least = atol > 0 || rtol > 0 ? 0 : kLastBits * size_of_rows(0, elements.size());
  // Of one number for each row the rows are no measure of one another: a tenth of them all is.
  const double all = columns ? 0.1 * size_of_rows(0, elements.size()) : 0;
  for (std::size_t begin = 0; begin + width <= elements.size(); begin += width) {
    const double around = columns ? all : size_of_rows(begin, width);
    for (std::size_t i = begin; i < begin + width; ++i) {
      const double own = std::isfinite(elements[i]) ? std::fabs(elements[i]) : 0;
      bounds[i] = std::max(relative * own + (atol > 0 ? atol : relative * around), least);
    }
  }
  return bounds;
}

bool is_close(double want, double got, double bound) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got);
  if (want == got) return true;
  return std::isfinite(want) && std::isfinite(got) && std::fabs(want - got) <= bound;
}

bool same_value(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace isomer::lab
