#include "lab/ask/adapting/further_results.hpp"

#include "lab/ask/adapting/simpler_ports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

namespace isomer::lab {
namespace {

using Sizes = std::vector<std::int64_t>;

/// The sizes of a tensor as the original has it, those of 1 left out: they lie nowhere.
Sizes sizes_of(const Tensor& tensor) {
  Sizes sizes;
  for (int d = 0; d < tensor.rank; ++d)
    if (tensor.size(d) != 1) sizes.push_back(tensor.size(d));
  return sizes;
}

/// Whether one is the other with neighbouring dimensions as one: [B · H, S] of [B, H, S].
bool is_flattened(const Sizes& flat, const Sizes& sizes) {
  std::size_t at = 0;
  for (const std::int64_t size : flat) {
    std::int64_t product = 1;
    while (at < sizes.size() && product < size) product *= sizes[at++];
    if (product != size) return false;
  }
  return at == sizes.size();
}

/// How the axes of a further result lie: as the original's, or with the last two exchanged; nothing where its
/// sizes are others.
std::optional<std::vector<int>> axes_of(const Tensor& got, const Tensor& want) {
  if (!is_float(got.dtype) || size_of(got.dtype) < 4) return std::nullopt;
  if (is_flattened(sizes_of(got), sizes_of(want))) return std::vector<int>();
  if (want.rank < 2 || got.rank != want.rank) return std::nullopt;
  std::vector<int> axes(static_cast<std::size_t>(want.rank));
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  for (int d = 0; d < got.rank; ++d)
    if (got.size(d) != want.size(axes[static_cast<std::size_t>(d)])) return std::nullopt;
  return axes;
}

/// The port with what it may return besides as one of its results.
std::shared_ptr<Simpler> with_further(const Port& port, const std::vector<int>& axes) {
  std::shared_ptr<Simpler> more = simpler_of(port);
  oracle::Original& original = more->original;
  oracle::Original::Parameter further = *original.further;
  original.further.reset();
  further.axes = axes;
  for (std::vector<std::string>* lines : original.all_lines())
    for (std::string& line : *lines) line = further.argument + " " + line;
  more->port.roles.push_back(
      {.name = further.name, .argument = further.argument, .output = true, .returned = true});
  original.parameters.push_back(std::move(further));
  return more;
}

std::string shapes_in_words(const std::vector<Value>& returned, std::size_t from) {
  std::string text;
  for (std::size_t i = from; i < returned.size(); ++i)
    if (returned[i].is_tensor()) text += (text.empty() ? "" : ", ") + returned[i].tensor.describe();
  return text;
}

}  // namespace

void take_further_results(const Candidate& candidate, const CallRequest& request, Called& called) {
  if (!called.callable || !called.trial.ok() || !request.recorded.empty()) return;
  const std::vector<Value> returned = called.trial.answer.returned;
  std::size_t next = called.form.returned.size();
  if (returned.size() <= next) return;
  if (called.port->original->further && returned[next].is_tensor()) {
    const std::shared_ptr<Simpler> plain = with_further(*called.port, {});
    const std::shared_ptr<const Given> given =
        given_by_line(plain->port, plain->original.probes.front(), called.dtypes);
    const std::optional<std::vector<int>> axes =
        axes_of(returned[next].tensor, given->values.back().tensor);
    // Of two of that shape, such as maxima and sums, nobody says which is which.
    const bool alone = std::none_of(
        returned.begin() + static_cast<std::ptrdiff_t>(next) + 1, returned.end(), [&](const Value& each) {
          return each.is_tensor() && axes_of(each.tensor, given->values.back().tensor).has_value();
        });
    if (axes && alone) {
      const std::shared_ptr<Simpler> more = axes->empty() ? plain : with_further(*called.port, *axes);
      Form form = called.form;
      form.returned.push_back(static_cast<int>(more->port.roles.size()) - 1);
      const std::shared_ptr<const Given> asked =
          axes->empty() ? given : given_by_line(more->port, more->original.probes.front(), called.dtypes);
      Trial trial = try_call(candidate, form, more->port, *asked, request.settings);
      if (trial.ok()) {
        if (!axes->empty())
          called.notes.push_back(fmt::format("{} is returned with its last two axes exchanged, {}",
                                             more->port.roles.back().name, returned[next].tensor.describe()));
        called.simpler = std::shared_ptr<const Port>(more, &more->port);
        called.port = called.simpler.get();
        called.form = std::move(form);
        called.given = asked;
        called.trial = std::move(trial);
        ++next;
      }
    }
  }
  if (const std::string others = shapes_in_words(returned, next); !others.empty())
    called.notes.push_back(fmt::format("what it returns besides is not looked at: {} has no such result ({})",
                                       called.port->op, others));
}

}  // namespace isomer::lab
