#include "lab/evidence/recorded/experiments/experiments.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace isomer::lab {
namespace {

using What = Passing::What;
using Order = std::vector<std::size_t>;  ///< per element of the result, which element it is

struct RowOrder {
  const char* said;
  std::size_t (*from)(std::size_t at, std::size_t width);
  bool any_width = false;
};

constexpr RowOrder kRowOrders[] = {
    {"pairs of neighbours (2i, 2i + 1) instead of the original's halves (i, i + n/2)",
     [](std::size_t at, std::size_t width) { return at / 2 + at % 2 * (width / 2); }},
    {"halves (i, i + n/2) instead of the original's pairs of neighbours (2i, 2i + 1)",
     [](std::size_t at, std::size_t width) { return at % (width / 2) * 2 + at / (width / 2); }},
    {"the two halves exchanged", [](std::size_t at, std::size_t width) { return (at + width / 2) % width; }},
    {"the two of each pair of neighbours exchanged", [](std::size_t at, std::size_t) { return at ^ 1; }},
    {"rows backwards", [](std::size_t at, std::size_t width) { return width - 1 - at; }, true},
};

Order row_order(const RowOrder& row, std::size_t count, const Tensor& tensor) {
  const auto width = static_cast<std::size_t>(tensor.size(-1));
  Order order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = i / width * width + row.from(i % width, width);
  return order;
}

/// Halves and pairs are of rows of even length; vectors and short rows of any have an order backwards.
bool has_row_order(const Tensor& tensor) { return tensor.rank > 0 && tensor.size(-1) >= 2; }
bool has_row_order(const Tensor& tensor, const RowOrder& row) {
  constexpr std::int64_t kShort = 4;
  if (!has_row_order(tensor)) return false;
  const bool listed = tensor.rank == 1 || tensor.size(-1) <= kShort;
  return (tensor.size(-1) % 2 == 0 || (row.any_width && listed));
}

/// The argument with each row in that order.
std::function<void(std::vector<Value>&)> laid(int role, const RowOrder& row) {
  return [role, &row](std::vector<Value>& values) {
    Value& value = values[static_cast<std::size_t>(role)];
    if (!value.is_tensor() || value.tensor.empty() || !has_row_order(value.tensor, row)) return;
    const Value before = compact_copy(value);
    Value after = compact_copy(value);
    const auto size = static_cast<std::size_t>(size_of(value.tensor.dtype));
    const Order order = row_order(row, static_cast<std::size_t>(value.tensor.numel()), value.tensor);
    for (std::size_t i = 0; i < order.size(); ++i)
      std::copy_n(static_cast<const std::byte*>(before.storage.get()) + order[i] * size, size,
                  static_cast<std::byte*>(after.storage.get()) + i * size);
    value = std::move(after);
  };
}

std::function<std::vector<double>(const Replayed::Output&, std::vector<double>)> rows_back(
    const RowOrder& row) {
  return [&row](const Replayed::Output& output, std::vector<double> got) {
    if (!has_row_order(output.want, row)) return got;
    const Order order = row_order(row, got.size(), output.want);
    std::vector<double> back(got.size());
    for (std::size_t i = 0; i < got.size(); ++i) back[order[i]] = got[i];
    return back;
  };
}

enum class Which : std::uint8_t { inputs, written, all };

class RowOrders {
 public:
  RowOrders(const Approach& approach, const Replayed& replayed, std::vector<Experiment>& list)
      : approach_(approach), replayed_(replayed), list_(list) {
    for (const Passing& passing : approach.form.passings) {
      if (passing.what != What::role || passing.role >= static_cast<int>(replayed.call->before.size()))
        continue;
      const Value& value = replayed.values[static_cast<std::size_t>(passing.role)];
      if (value.is_tensor() && has_row_order(value.tensor)) given_.push_back(passing.role);
    }
  }

  void one_by_one() {
    for (const RowOrder& row : kRowOrders) {
      add({{nullptr, rows_back(row), {}}}, "",
          fmt::format("along the last axis the answer has {}: reordered accordingly, it is right", row.said));
      one_result(row);
      for (const int role : given_)
        for (const bool both : {false, true}) {
          if (!both && is_output(role)) continue;  // what is written in place is read and written alike
          add({{laid(role, row), both ? rows_back(row) : nullptr, {}}}, name(role),
              fmt::format(
                  "along the last axis {} is read{} with {}: reordered accordingly, the answer is right",
                  name(role), both ? " and the answer is written" : "", row.said));
        }
    }
  }

  /// Several tensors that are laid alike, and the answers with them: queries and keys, and their angles.
  void together(Which which) {
    if (replayed_.outputs.empty()) return;  // a call of which no answer is known
    const Tensor& want = replayed_.outputs.front().want;
    if (!has_row_order(want)) return;
    std::vector<int> before;
    for (const bool same_rank : {true, false}) {
      std::vector<int> roles;
      std::string names;
      for (const int role : given_) {
        const Tensor& tensor = replayed_.values[static_cast<std::size_t>(role)].tensor;
        if (which != Which::all && is_output(role) != (which == Which::written)) continue;
        if (!is_float(tensor.dtype) || tensor.size(-1) != want.size(-1) ||
            (same_rank && tensor.rank != want.rank))
          continue;
        roles.push_back(role);
        names += (names.empty() ? "" : ", ") + name(role);
      }
      if (roles.size() < 2 || roles == before) continue;
      before = roles;
      for (const RowOrder& row : kRowOrders) {
        std::vector<Adaptation> all;
        for (const int role : roles) all.push_back({laid(role, row), nullptr, {}});
        all.front().after = rows_back(row);
        add(std::move(all), names,
            fmt::format("along the last axis {} are read and the answer is written with {}: reordered "
                        "accordingly, the answer is right",
                        names, row.said));
      }
    }
  }

 private:
  /// Of several results one alone.
  void one_result(const RowOrder& row) {
    if (replayed_.outputs.size() < 2) return;
    for (const Replayed::Output& output : replayed_.outputs) {
      if (!is_float(output.want.dtype) || !has_row_order(output.want, row)) continue;
      const auto back = [all = rows_back(row), alone = output.name](const Replayed::Output& of,
                                                                    std::vector<double> got) {
        return of.name == alone ? all(of, std::move(got)) : got;
      };
      add({{nullptr, back, {}}}, output.name,
          fmt::format("along the last axis {} has {}: reordered accordingly, it is right", output.name,
                      row.said));
    }
  }

  bool is_output(int role) const { return replayed_.roles[static_cast<std::size_t>(role)].output; }
  const std::string& name(int role) const { return replayed_.roles[static_cast<std::size_t>(role)].name; }

  void add(std::vector<Adaptation> adaptations, const std::string& names, std::string evidence) {
    Experiment experiment{.form = approach_.form, .adaptations = std::move(adaptations)};
    experiment.finding.code = Code::layout_convention;
    experiment.finding.argument = names;
    experiment.finding.evidence = std::move(evidence);
    experiment.finding.fix =
        fmt::format("keep the original's order along the last axis{}{}", names.empty() ? "" : " of ", names);
    list_.push_back(std::move(experiment));
  }

  const Approach& approach_;
  const Replayed& replayed_;
  std::vector<Experiment>& list_;
  std::vector<int> given_;  ///< arguments whose rows have an order
};

}  // namespace

void add_row_order_experiments(const Approach& approach, const Replayed& replayed,
                               std::vector<Experiment>& list) {
  RowOrders orders(approach, replayed, list);
  orders.together(Which::inputs);
  orders.together(Which::written);
  orders.one_by_one();
  orders.together(Which::all);
}

}  // namespace isomer::lab
