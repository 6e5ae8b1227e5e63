#include "lab/evidence/recorded/experiments/experiments.hpp"
#include "core/codec.hpp"
#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <memory>
#include <numbers>
#include <numeric>
#include <utility>

namespace isomer::lab {
namespace {

using What = Passing::What;
constexpr std::size_t kMostTensors = 5;

Finding named(Code code, std::string argument, std::string evidence, std::string fix) {
  Finding finding;
  finding.code = code;
  finding.argument = std::move(argument);
  finding.evidence = std::move(evidence);
  finding.fix = std::move(fix);
  return finding;
}

std::string parameter_name(const Form& form, std::size_t i, const Replayed& replayed) {
  const auto& parameters = form.entry->parameters;
  if (i < parameters.size() && !parameters[i].name.empty()) return parameters[i].name;
  return replayed.roles[static_cast<std::size_t>(form.passings[i].role)].name;
}

void write_elements(Value& value, const std::vector<double>& elements) {
  Value compact = compact_copy(value);
  const auto size = static_cast<std::size_t>(size_of(value.tensor.dtype));
  for (std::size_t i = 0; i < elements.size(); ++i)
    core::encode(value.tensor.dtype, elements[i], static_cast<std::byte*>(compact.storage.get()) + i * size);
  // Strides of its own would say where the elements were.
  value = std::move(compact);
}

using Order = std::vector<std::size_t>;  ///< per element of the result, which element it is

Order axes_order(const Tensor& tensor, const std::vector<int>& axes) {
  // Read row-major as the permuted tensor, written row-major in the given shape.
  const auto count = static_cast<std::size_t>(tensor.numel());
  std::vector<std::int64_t> strides(static_cast<std::size_t>(tensor.rank), 1);
  for (int d = tensor.rank - 2; d >= 0; --d)
    strides[static_cast<std::size_t>(d)] = strides[static_cast<std::size_t>(d + 1)] * tensor.size(d + 1);
  Order order(count);
  for (std::size_t flat = 0; flat < count; ++flat) {
    auto rest = static_cast<std::int64_t>(flat);
    std::int64_t from = 0;
    for (int d = tensor.rank - 1; d >= 0; --d) {
      const auto axis = static_cast<std::size_t>(axes[static_cast<std::size_t>(d)]);
      from += rest % tensor.size(static_cast<int>(axis)) * strides[axis];
      rest /= tensor.size(static_cast<int>(axis));
    }
    order[flat] = static_cast<std::size_t>(from);
  }
  return order;
}

std::vector<double> ordered(const std::vector<double>& elements, const Order& order) {
  std::vector<double> list(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) list[i] = elements[order[i]];
  return list;
}

std::function<void(std::vector<Value>&)> on_value(int role, std::function<void(Value&)> act) {
  return [role, act](std::vector<Value>& values) {
    Value& value = values[static_cast<std::size_t>(role)];
    if (value.is_tensor() && !value.tensor.empty()) act(value);
  };
}

/// The same view of a storage that begins with its first element.
void begin_at_view(Value& value) {
  Value cut = tensor_value(value.name, DType::u8,
                           {static_cast<std::int64_t>(value.storage_bytes - value.storage_offset)});
  std::memcpy(cut.storage.get(), static_cast<const std::byte*>(value.storage.get()) + value.storage_offset,
              cut.storage_bytes);
  cut.boolean = value.boolean;
  cut.tensor = value.tensor;
  cut.tensor.data = cut.storage.get();
  value = std::move(cut);
}

class Experiments {
 public:
  Experiments(const Approach& approach, const Replayed& replayed)
      : approach_(approach), replayed_(replayed) {}

  std::vector<Experiment> all() {
    compact();
    defaults();
    orders();
    numbers_swapped();
    numbers();
    numbers_of_base_2();
    maxima();
    add_transform_experiments(approach_, replayed_, list_);
    axes();
    add_row_order_experiments(approach_, replayed_, list_);
    emptied();
    return std::move(list_);
  }

 private:
  void add(Form form, std::vector<Adaptation> adaptations, Finding finding) {
    list_.push_back(
        {.form = std::move(form), .adaptations = std::move(adaptations), .finding = std::move(finding)});
  }
  const Value& value_of(std::size_t passing) const {
    return replayed_.values[static_cast<std::size_t>(approach_.form.passings[passing].role)];
  }
  bool is_input(std::size_t passing) const {
    const Passing& each = approach_.form.passings[passing];
    return each.what == What::role && !replayed_.roles[static_cast<std::size_t>(each.role)].output;
  }

  /// An argument that the original reads and writes: it has contents to change as well.
  bool is_given(std::size_t passing) const {
    const Passing& each = approach_.form.passings[passing];
    return each.what == What::role && each.role < static_cast<int>(replayed_.call->before.size());
  }

  void compact() {
    for (std::size_t i = 0; i < approach_.form.passings.size(); ++i) {
      const Passing& passing = approach_.form.passings[i];
      if (passing.what != What::role || !value_of(i).is_tensor() || passing.compact) continue;
      if (value_of(i).tensor.is_contiguous() && value_of(i).storage_offset == 0) continue;
      Form form = approach_.form;
      const bool offset = value_of(i).tensor.is_contiguous();
      const std::string name = parameter_name(form, i, replayed_);
      const std::string from = fmt::format("{} is {} and begins at byte {} of its storage", name,
                                           value_of(i).tensor.describe(), value_of(i).storage_offset);
      // Of a view with both, the strides may be looked at and the offset not.
      if (!offset && value_of(i).storage_offset != 0)
        add(form, {{on_value(passing.role, begin_at_view), nullptr, {}}},
            named(Code::ignores_offset, name,
                  from + ", and the answer is right only if it begins at byte 0, with the same strides",
                  "begin at the view's offset"));
      form.passings[i].compact = true;
      // A compact view is copied only where it is made to be.
      std::vector<Adaptation> made;
      if (offset)
        made.push_back({on_value(passing.role, [](Value& v) { v = compact_copy(v); }), nullptr, {}});
      add(std::move(form), std::move(made),
          named(offset ? Code::ignores_offset : Code::assumes_contiguous, name,
                (offset ? from : fmt::format("{} is {}", name, value_of(i).tensor.describe())) +
                    ", and the answer is right only if it is copied to a compact tensor",
                offset ? "begin at the view's offset" : "address the tensor by its strides"));
    }
    Form form = approach_.form;
    int count = 0;
    std::string names;
    for (std::size_t i = 0; i < form.passings.size(); ++i) {
      Passing& passing = form.passings[i];
      if (passing.what != What::role || !value_of(i).is_tensor() || value_of(i).tensor.is_contiguous())
        continue;
      passing.compact = true;
      names += (count++ == 0 ? "" : ", ") + parameter_name(form, i, replayed_);
    }
    if (count > 1)
      add(std::move(form), {},
          named(
              Code::assumes_contiguous, names,
              fmt::format("{} are views, and the answer is right only if they are copied to compact tensors",
                          names),
              "address the tensors by their strides"));
  }

  /// What the callers leave out, given as the original has it.
  void defaults() {
    const std::vector<Parameter>& parameters = approach_.form.entry->parameters;
    const auto has = [&](const std::string& name) {
      return std::any_of(parameters.begin(), parameters.end(),
                         [&](const Parameter& each) { return each.name == name; });
    };
    // One that the original has not may be one of the original's by another name.
    const auto known = [&](const std::string& name) {
      const auto is = [&](const auto& each) { return each.name == name; };
      return std::any_of(replayed_.left_out.begin(), replayed_.left_out.end(), is) ||
             std::any_of(replayed_.roles.begin(), replayed_.roles.end(), is);
    };
    for (const Value& value : replayed_.left_out)
      for (std::size_t p = 0; p < parameters.size(); ++p) {
        const std::vector<Passing>& now = approach_.form.passings;
        const bool other_name = !has(value.name) && !known(parameters[p].name);
        if ((parameters[p].name != value.name && !other_name) || !parameters[p].has_default) continue;
        if (parameters[p].kind != Parameter::Kind::real && parameters[p].kind != Parameter::Kind::integer &&
            parameters[p].kind != Parameter::Kind::boolean && parameters[p].kind != Parameter::Kind::any)
          continue;
        if (p < now.size() && now[p].what != What::none) continue;
        Form form = approach_.form;
        if (form.passings.size() <= p) form.passings.resize(p + 1);
        form.passings[p].what = What::constant;
        form.passings[p].constant =
            value.kind == Value::Kind::real ? value.real : static_cast<double>(value.integer);
        const std::string said = fmt::format("{:g}", form.passings[p].constant);
        add(std::move(form), {},
            named(Code::argument_default, value.name,
                  fmt::format("callers leave {} at its default, which is {} in the original, and the answer "
                              "is right if that is passed",
                              value.name, said),
                  fmt::format("make {} the default of {}", said, value.name)));
      }
  }

  void orders() {
    std::vector<std::size_t> at;
    for (std::size_t i = 0; i < approach_.form.passings.size(); ++i)
      if (approach_.form.passings[i].what == What::role && value_of(i).is_tensor()) at.push_back(i);
    if (at.size() < 2) return;
    std::vector<std::vector<std::size_t>> permutations;
    if (at.size() <= kMostTensors - 1) {
      std::vector<std::size_t> order(at.size());
      std::iota(order.begin(), order.end(), 0u);
      while (std::next_permutation(order.begin(), order.end())) permutations.push_back(order);
    } else {
      for (std::size_t a = 0; a < at.size(); ++a)
        for (std::size_t b = a + 1; b < at.size(); ++b) {
          std::vector<std::size_t> order(at.size());
          std::iota(order.begin(), order.end(), 0u);
          std::swap(order[a], order[b]);
          permutations.push_back(order);
        }
    }
    for (const auto& order : permutations) {
      Form form = approach_.form;
      for (std::size_t i = 0; i < at.size(); ++i)
        form.passings[at[i]].role = approach_.form.passings[at[order[i]]].role;
      std::string taken, given;
      for (const Passing& passing : form.passings)
        if (passing.what == What::role)
          taken += (taken.empty() ? "" : ", ") + replayed_.roles[static_cast<std::size_t>(passing.role)].name;
      for (std::size_t i = 0; i < replayed_.call->before.size(); ++i)
        given += (i == 0 ? "" : ", ") + replayed_.roles[i].name;
      add(std::move(form), {},
          named(Code::argument_order, "",
                fmt::format("callers pass ({}), but the answer is right if they are passed as ({})", given,
                            taken),
                fmt::format("take ({}) in this order", given)));
    }
  }

  /// Two numbers the other way round: a lower and an upper bound.
  void numbers_swapped() {
    for (std::size_t a = 0; a < approach_.form.passings.size(); ++a)
      for (std::size_t b = a + 1; b < approach_.form.passings.size(); ++b) {
        if (!is_input(a) || !is_input(b) || value_of(a).kind != value_of(b).kind) continue;
        if (value_of(a).kind != Value::Kind::real && value_of(a).kind != Value::Kind::integer) continue;
        Form form = approach_.form;
        std::swap(form.passings[a].role, form.passings[b].role);
        const std::string first = replayed_.roles[static_cast<std::size_t>(form.passings[b].role)].name,
                          second = replayed_.roles[static_cast<std::size_t>(form.passings[a].role)].name;
        add(std::move(form), {},
            named(Code::argument_order, first,
                  fmt::format("callers pass {} before {}, but the answer is right if the two are exchanged",
                              first, second),
                  fmt::format("take {} before {}", first, second)));
      }
  }

  void numbers() {
    for (std::size_t i = 0; i < approach_.form.passings.size(); ++i) {
      if (!is_input(i) || value_of(i).kind != Value::Kind::real || value_of(i).real == 0) continue;
      const double value = value_of(i).real;
      const std::string name = parameter_name(approach_.form, i, replayed_);
      const int role = approach_.form.passings[i].role;
      struct Other {
        const char* said;
        double (*made)(double);
        Code code;
      };
      const bool small = value > 0 && value < 1e-2;
      constexpr double kLog2e = std::numbers::log2e;
      const std::vector<Other> others =
          small
              ? std::vector<Other>{{"0", [](double) { return 0.0; }, Code::epsilon},
                                   {"its square", [](double v) { return v * v; }, Code::epsilon},
                                   {"its square root", [](double v) { return std::sqrt(v); }, Code::epsilon},
                                   {"10 times that", [](double v) { return v * 10; }, Code::epsilon},
                                   {"a tenth of that", [](double v) { return v / 10; }, Code::epsilon}}
              : std::vector<Other>{
                    {"1", [](double) { return 1.0; }, Code::missing_scale},
                    {"its reciprocal", [](double v) { return 1 / v; }, Code::missing_scale},
                    {"its square root", [](double v) { return std::sqrt(std::fabs(v)); },
                     Code::missing_scale},
                    {"its square", [](double v) { return v * v; }, Code::missing_scale},
                    {"log2(e) times that", [](double v) { return v * kLog2e; }, Code::log_base},
                    {"ln(2) times that", [](double v) { return v / kLog2e; }, Code::log_base}};
      for (const Other& other : others) {
        const auto made = other.made;
        Adaptation adaptation;
        adaptation.before = [role, made](std::vector<Value>& values) {
          Value& v = values[static_cast<std::size_t>(role)];
          v.real = made(v.real);
        };
        add(approach_.form, {adaptation},
            named(other.code, name,
                  fmt::format("{} is {:g}, but the answer is right if {} ({:g}) is passed instead", name,
                              value, other.said, made(value)),
                  fmt::format("use {} as the original does", name)));
      }
      for (std::size_t t = 0; t < approach_.form.passings.size() && !small; ++t) {
        if (!is_input(t) || !value_of(t).is_tensor() || !is_float(value_of(t).tensor.dtype)) continue;
        Adaptation scaled;
        const int tensor = approach_.form.passings[t].role;
        scaled.before = [role, tensor](std::vector<Value>& values) {
          const double by = values[static_cast<std::size_t>(role)].real;
          Value& v = values[static_cast<std::size_t>(tensor)];
          std::vector<double> elements = oracle::elements(v.tensor);
          for (double& each : elements) each *= by;
          write_elements(v, elements);
        };
        const std::string of = parameter_name(approach_.form, t, replayed_);
        add(approach_.form, {scaled},
            named(Code::missing_scale, name,
                  fmt::format("the answer is right if {} is multiplied by {} ({:g}) beforehand", of, name,
                              value),
                  fmt::format("multiply {} by {}", of, name)));
        // And it is that number which the candidate applies elsewhere.
        Adaptation moved = scaled;
        moved.before = [role, scale = scaled.before](std::vector<Value>& values) {
          scale(values);
          values[static_cast<std::size_t>(role)].real = 1;
        };
        add(approach_.form, {std::move(moved)},
            named(Code::missing_scale, name,
                  fmt::format("the answer is right if {} is multiplied by {} ({:g}) beforehand, and 1 is "
                              "passed for {}: it is applied in another place",
                              of, name, value, name),
                  fmt::format("multiply {} by {}, and nothing else", of, name)));
      }
      if (small) continue;
      Adaptation behind;
      const auto by = std::make_shared<double>(1);
      behind.before = [role, by](std::vector<Value>& values) {
        *by = std::exchange(values[static_cast<std::size_t>(role)].real, 1.0);
      };
      behind.after = [by](const Replayed::Output& output, std::vector<double> got) {
        if (is_float(output.want.dtype))
          for (double& each : got) each *= *by;
        return got;
      };
      add(approach_.form, {std::move(behind)},
          named(Code::missing_scale, name,
                fmt::format("the answer is right if 1 is passed for {}, and the answer is multiplied by it "
                            "({:g}): it is applied in another place",
                            name, value),
                fmt::format("multiply the answer by {}, and nothing else", name)));
    }
  }

  /// Several numbers that are made for exponentials of base 2: a scale and the bound of what it scales.
  void numbers_of_base_2() {
    std::vector<int> roles;
    std::string names;
    for (std::size_t i = 0; i < approach_.form.passings.size(); ++i) {
      if (!is_input(i) || value_of(i).kind != Value::Kind::real || std::fabs(value_of(i).real) < 1e-2)
        continue;
      roles.push_back(approach_.form.passings[i].role);
      names += (names.empty() ? "" : ", ") + parameter_name(approach_.form, i, replayed_);
    }
    if (roles.size() < 2) return;
    Adaptation adaptation;
    adaptation.before = [roles](std::vector<Value>& values) {
      for (const int role : roles) values[static_cast<std::size_t>(role)].real *= std::numbers::log2e;
    };
    add(approach_.form, {std::move(adaptation)},
        named(
            Code::log_base, names,
            fmt::format("the answer is right if {} are each multiplied by log2(e): what they are made for is "
                        "taken to the base 2",
                        names),
            "take powers of e, as the original does, or multiply the exponents by log2(e)"));
  }

  void maxima() {
    for (std::size_t i = 0; i < approach_.form.passings.size(); ++i) {
      if (!is_given(i) || !value_of(i).is_tensor() || !is_float(value_of(i).tensor.dtype)) continue;
      if (value_of(i).tensor.rank == 0 || value_of(i).tensor.size(-1) < 2) continue;
      const std::string name = parameter_name(approach_.form, i, replayed_);
      Adaptation lowered;
      lowered.before = on_value(approach_.form.passings[i].role, [](Value& v) {
        std::vector<double> elements = oracle::elements(v.tensor);
        const auto width = static_cast<std::size_t>(v.tensor.size(-1));
        for (std::size_t row = 0; row + width <= elements.size(); row += width) {
          double most = -INFINITY;
          for (std::size_t c = row; c < row + width; ++c) most = std::fmax(most, elements[c]);
          if (!std::isfinite(most)) continue;
          for (std::size_t c = row; c < row + width; ++c) elements[c] -= most;
        }
        write_elements(v, elements);
      });
      add(approach_.form, {lowered},
          named(Code::missing_max_subtraction, name,
                fmt::format("the answer is right if the maximum of each row of {} is subtracted beforehand",
                            name),
                "subtract the maximum of the row before the exponential"));
    }
  }

  void axes() {
    for (std::size_t i = 0; i < approach_.form.passings.size(); ++i) {
      if (!is_input(i) || !value_of(i).is_tensor()) continue;
      const Tensor& tensor = value_of(i).tensor;
      if (tensor.rank < 2 || tensor.rank > 4) continue;
      std::vector<int> axes(static_cast<std::size_t>(tensor.rank));
      std::iota(axes.begin(), axes.end(), 0);
      const std::string name = parameter_name(approach_.form, i, replayed_);
      while (std::next_permutation(axes.begin(), axes.end())) {
        Adaptation turned;
        turned.before = on_value(approach_.form.passings[i].role, [axes](Value& v) {
          if (v.tensor.rank == static_cast<int>(axes.size()))
            write_elements(v, ordered(oracle::elements(v.tensor), axes_order(v.tensor, axes)));
        });
        std::string text;
        for (const int axis : axes) text += (text.empty() ? "" : ", ") + std::to_string(axis);
        add(approach_.form, {turned},
            named(
                Code::layout_convention, name,
                fmt::format(
                    "{} ({}) is read as if its axes have the order [{}]: with that order the answer is right",
                    name, tensor.describe(), text),
                fmt::format("read {} with the original's order of axes", name)));
      }
    }
  }

  /// How many elements of a result are wrong, where each of those stays what it was, whatever that is.
  std::size_t left_as_they_were(int role) const {
    static constexpr double kFill = 13;  // each type has it
    const auto output = std::find_if(replayed_.outputs.begin(), replayed_.outputs.end(),
                                     [&](const Replayed::Output& each) { return each.role == role; });
    if (output == replayed_.outputs.end()) return 0;
    Approach filled = approach_;
    Adaptation with_fill;
    with_fill.before = on_value(role, [](Value& v) {
      write_elements(v, std::vector<double>(static_cast<std::size_t>(v.tensor.numel()), kFill));
    });
    filled.adaptations.push_back(std::move(with_fill));
    const CallOutcome outcome = replay_once(filled, replayed_);
    const std::vector<double> want = oracle::elements(output->want);
    const auto place = static_cast<std::size_t>(output - replayed_.outputs.begin());
    if (!outcome.answer.ok() || place >= outcome.got.size()) return 0;
    const std::vector<double>& got = outcome.got[place];
    if (got.size() != want.size()) return 0;
    const std::vector<double> bounds = bounds_of(approach_, *output, want);
    std::size_t left = 0;
    for (std::size_t e = 0; e < got.size(); ++e) {
      if (is_close(want[e], got[e], bounds[e])) continue;
      if (got[e] != kFill) return 0;
      ++left;
    }
    return left;
  }

  /// Outputs that are zero beforehand: who adds to what lies there, or takes its maximum, needs that.
  void emptied() {
    for (std::size_t i = 0; i < approach_.form.passings.size(); ++i) {
      const Passing& passing = approach_.form.passings[i];
      if (passing.what != What::role || is_input(i) || !value_of(i).is_tensor()) continue;
      Adaptation zeroed;
      zeroed.before = on_value(passing.role, [](Value& v) {
        write_elements(v, std::vector<double>(static_cast<std::size_t>(v.tensor.numel()), 0.0));
      });
      const std::string name = parameter_name(approach_.form, i, replayed_);
      if (const std::size_t left = left_as_they_were(passing.role); left > 0) {
        add(approach_.form, {zeroed},
            named(Code::unwritten_output, name,
                  fmt::format("{} elements of {} are what it held before the call, and right if that is 0",
                              left, name),
                  fmt::format("write every element of {}", name)));
        continue;
      }
      add(approach_.form, {zeroed},
          named(Code::uninitialised_read, name,
                fmt::format("the answer depends on what {} holds before the call, and is right if that is 0",
                            name),
                fmt::format("initialise {} before adding to it or comparing with it", name)));
    }
  }

  const Approach& approach_;
  const Replayed& replayed_;
  std::vector<Experiment> list_;
};

}  // namespace

std::vector<Experiment> experiments(const Approach& approach, const Replayed& replayed) {
  // Few, and likely where they apply: before the many.
  std::vector<Experiment> list = head_mappings(approach, replayed);
  add_memory_experiments(approach, replayed, list);
  add_scale_order_experiments(approach, replayed, list);
  for (Experiment& each : Experiments(approach, replayed).all()) list.push_back(std::move(each));
  add_turned_experiments(approach, replayed, list);
  add_offset_experiments(approach, replayed, list);
  add_bound_experiments(approach, replayed, list);
  add_packed_experiments(approach, replayed, list);
  return list;
}

}  // namespace isomer::lab
