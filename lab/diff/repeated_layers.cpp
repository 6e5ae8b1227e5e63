#include "lab/diff/repeated_layers.hpp"

#include <algorithm>
#include <unordered_map>

namespace isomer::lab {
namespace {

using Sequence = std::span<const std::uint32_t>;

constexpr std::size_t kShortestLayer = 3, kLongestLayer = 4096, kFewest = 4, kTried = 8;

/// A launch that a layer makes once follows itself at the layer's length: the lengths that are seen most.
std::vector<std::size_t> likely_lengths(Sequence tokens) {
  std::unordered_map<std::uint32_t, std::size_t> last;
  std::vector<std::size_t> seen(kLongestLayer + 1);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto [at, is_new] = last.try_emplace(tokens[i], i);
    if (is_new) continue;
    const std::size_t length = i - at->second;
    if (length >= kShortestLayer && length <= kLongestLayer) ++seen[length];
    at->second = i;
  }
  std::vector<std::size_t> lengths;
  for (std::size_t length = kShortestLayer; length <= kLongestLayer; ++length)
    if (seen[length] >= kFewest - 1) lengths.push_back(length);
  std::stable_sort(lengths.begin(), lengths.end(),
                   [&](std::size_t x, std::size_t y) { return seen[x] > seen[y]; });
  lengths.resize(std::min(lengths.size(), kTried));
  std::sort(lengths.begin(), lengths.end());
  return lengths;
}

/// One launch over and over is a loop, not layers.
bool is_one_launch(Sequence layer) {
  return std::all_of(layer.begin(), layer.end(), [&](std::uint32_t token) { return token == layer[0]; });
}

std::vector<RepeatedLayers::Run> runs_of(Sequence tokens, std::size_t length, std::size_t& covered) {
  std::vector<RepeatedLayers::Run> runs;
  covered = 0;
  for (std::size_t i = 0; i + length < tokens.size();) {
    std::size_t end = i;
    while (end + length < tokens.size() && tokens[end] == tokens[end + length]) ++end;
    const std::size_t layers = (end - i) / length + 1;
    if (layers >= kFewest && !is_one_launch(tokens.subspan(i, length))) {
      runs.push_back({i, layers});
      covered += layers * length;
      i = end + length;
    } else {
      i = end + 1;
    }
  }
  return runs;
}

}  // namespace

RepeatedLayers RepeatedLayers::of(Sequence tokens) {
  RepeatedLayers best;
  std::size_t most = 0;
  for (const std::size_t length : likely_lengths(tokens)) {
    std::size_t covered = 0;
    std::vector<Run> runs = runs_of(tokens, length, covered);
    // Several layers together repeat as well: a longer sequence has to cover clearly more.
    if (covered <= most + most / 8) continue;
    most = covered;
    best.period_ = length;
    best.runs_ = std::move(runs);
  }
  if (most * 3 < tokens.size()) return {};
  return best;
}

std::size_t RepeatedLayers::layers_of_each_run() const {
  const bool one = std::all_of(runs_.begin(), runs_.end(),
                               [&](const Run& run) { return run.layers == runs_.front().layers; });
  return runs_.empty() || !one ? 0 : runs_.front().layers;
}

std::optional<std::size_t> RepeatedLayers::layer_of(std::size_t place) const {
  std::size_t before = 0;
  for (const Run& run : runs_) {
    // What is inserted behind the last launch of a run belongs to its last layer.
    if (place >= run.begin && place <= run.begin + run.layers * period_)
      return before + std::min((place - run.begin) / period_, run.layers - 1);
    before += run.layers;
  }
  return std::nullopt;
}

RepeatedLayers::Share RepeatedLayers::share(const std::set<std::size_t>& layers) const {
  std::size_t all = 0;
  for (const Run& run : runs_) all += run.layers;
  const std::size_t each = layers_of_each_run();
  std::set<std::size_t> within;
  for (const std::size_t layer : layers) within.insert(each == 0 ? layer : layer % each);
  const std::size_t first = within.empty() ? 0 : *within.begin() + 1;
  if (each > 0 && within.size() * runs_.size() == layers.size()) return {within.size(), each, first};
  return {layers.size(), all, first};
}

bool same_layer(Sequence a, const RepeatedLayers& in_a, Sequence b, const RepeatedLayers& in_b) {
  if (in_a.empty() || in_b.empty() || in_a.launches() != in_b.launches()) return false;
  const std::size_t length = in_a.launches();
  const Sequence left = a.subspan(in_a.runs().front().begin, length),
                 right = b.subspan(in_b.runs().front().begin, length);
  for (std::size_t turn = 0; turn < length; ++turn)
    if (std::equal(left.begin() + static_cast<std::ptrdiff_t>(turn), left.end(), right.begin()) &&
        std::equal(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(turn),
                   right.end() - static_cast<std::ptrdiff_t>(turn)))
      return true;
  return false;
}

}  // namespace isomer::lab
