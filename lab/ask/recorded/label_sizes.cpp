#include "lab/ask/recorded/label_sizes.hpp"

#include "lab/ask/names/alike.hpp"
#include "lab/ask/names/bare.hpp"
#include "lab/ask/names/size_names.hpp"
#include "lab/ask/recorded/image_sizes.hpp"
#include "lab/text/lower_case.hpp"
#include "lab/text/pattern.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

namespace isomer::lab {
namespace {

using What = Passing::What;
using Kind = Parameter::Kind;

/// What a size is divided by; false where no tensor of that name has the dimension.
bool set_divisor(Passing& passing, const NamedSize& size, const Replayed& replayed) {
  for (std::size_t r = 0; r < replayed.roles.size(); ++r) {
    if (!replayed.values[r].is_tensor() || bare(replayed.roles[r].name) != bare(size.over)) continue;
    const int rank = replayed.values[r].tensor.rank;
    passing.what = What::ratio;
    passing.less_role = static_cast<int>(r);
    passing.less_dim = size.over_dim < 0 ? size.over_dim + rank : size.over_dim;
    if (passing.less_dim >= 0 && passing.less_dim < rank) return true;
  }
  return false;
}

/// What of a name says which size it is, and not that it is a count: num_kv_heads and kv_heads are one.
std::string stem(const std::string& name) {
  static const Pattern around("^(num|n|nr|no|number_of)_|_(count|num|cnt)$");
  std::string text = around.replaced(lower_case(name), "");
  if (text.size() > 2 && text.back() == 's') text.pop_back();
  return text;
}

/// Whether a tensor of the call is meant: by its name, or by the end of it where no other has that name.
bool is_called(const Replayed& replayed, std::size_t role, const std::string& tensor) {
  constexpr std::size_t kShortest = 3;
  const std::string name = bare(tensor);
  if (bare(replayed.roles[role].name) == name) return true;
  return tensor.size() >= kShortest && replayed.roles[role].name.ends_with("_" + tensor) &&
         std::none_of(replayed.roles.begin(), replayed.roles.end(),
                      [&](const Port::Role& each) { return bare(each.name) == name; });
}

}  // namespace

bool counts_choices(const std::string& name) {
  static const std::vector<std::string> names = {"k", "topk", "top_k", "num_topk", "n_topk"};
  return one_of(names, lower_case(name));
}

bool name_one_size(const std::string& a, const std::string& b) {
  static const Pattern of_head("head_?(dim|size)|d_?head|dim_?head");
  const std::string one = lower_case(a), other = lower_case(b);
  if (stem(a) == stem(b)) return true;
  if (!of_head.is(one) && !of_head.is(other) && (one == stem(b) + "_size" || other == stem(a) + "_size"))
    return true;
  static const std::vector<std::string> times = {"t",         "time",       "times",      "steps",
                                                 "n_steps",   "num_steps",  "time_steps", "frames",
                                                 "timesteps", "num_frames", "n_frames"};
  if (one_of(times, one) && one_of(times, other)) return true;
  if (counts_choices(one) && counts_choices(other)) return true;
  return std::any_of(size_names().begin(), size_names().end(), [&](const auto& group) {
    const std::vector<std::string>& names = group.second;
    return std::find(names.begin(), names.end(), one) != names.end() &&
           std::find(names.begin(), names.end(), other) != names.end();
  });
}

bool name_other_sizes(const std::string& a, const std::string& b) {
  const auto is_known = [](const std::string& name) {
    return std::any_of(size_names().begin(), size_names().end(),
                       [&](const auto& group) { return one_of(group.second, name); });
  };
  return is_known(lower_case(a)) && is_known(lower_case(b)) && !name_one_size(a, b);
}

std::optional<Passing> size_of_label(const Parameter& parameter, const Replayed& replayed,
                                     const NamedSizes& sizes) {
  if (parameter.kind != Kind::integer) return std::nullopt;
  // Of `n` and `N` each is its own.
  const bool exact = std::any_of(sizes.begin(), sizes.end(),
                                 [&](const NamedSize& size) { return size.name == parameter.name; });
  for (const NamedSize& size : sizes) {
    if (exact ? size.name != parameter.name : bare(size.name) != bare(parameter.name)) continue;
    for (std::size_t r = 0; r < replayed.roles.size(); ++r) {
      if (!replayed.values[r].is_tensor() || !is_called(replayed, r, size.tensor)) continue;
      const int rank = replayed.values[r].tensor.rank;
      Passing passing;
      passing.role = static_cast<int>(r);
      if (size.flattened && size.rank == 2) {
        passing.what = size.dim == 0 ? What::rows : What::size;
        passing.dim = -1;
        return passing;
      }
      if (size.rank >= 0 && size.rank != rank) continue;
      passing.what = size.stride ? What::stride : size.all ? What::elements : What::size;
      passing.dim = size.dim < 0 ? size.dim + rank : size.dim;
      if (!size.all && (passing.dim < 0 || passing.dim >= rank)) continue;
      if (size.less != 0 && passing.what == What::size) passing.less = size.less;
      if (!size.over.empty() && !set_divisor(passing, size, replayed)) continue;
      return passing;
    }
  }
  return std::nullopt;
}

namespace {

/// `iH` and `out_width`: a side of the images that the label is given, or makes of as many dimensions, where
/// it names the height and the width.
std::optional<Passing> size_of_image(const Parameter& parameter, const Replayed& replayed,
                                     const NamedSizes& sizes) {
  using Dim = ImageSide::Dim;
  const std::optional<ImageSide> side = image_side(parameter.name);
  if (!side || (side->of != ImageSide::Of::input && side->of != ImageSide::Of::output) ||
      (side->dim != Dim::batch && side->dim != Dim::channel && side->dim != Dim::height &&
       side->dim != Dim::width))
    return std::nullopt;
  const bool output = side->of == ImageSide::Of::output;
  const auto is = [](const NamedSize& size, const char* letter_, const char* word) {
    return lower_case(size.name) == letter_ || lower_case(size.name) == word;
  };
  for (const NamedSize& height : sizes)
    for (const NamedSize& width : sizes) {
      if (!is(height, "h", "height") || !is(width, "w", "width") || height.tensor != width.tensor ||
          height.rank < 3 || height.rank != width.rank || width.dim != height.dim + 1 || height.dim < 1)
        continue;
      const bool first = height.dim == height.rank - 2;  // channels stand before the sides
      const int channels = first ? height.dim - 1 : height.rank - 1;
      for (std::size_t r = 0; r < replayed.roles.size(); ++r) {
        const bool made = r >= replayed.call->before.size();
        if (!replayed.values[r].is_tensor() || replayed.values[r].tensor.rank != height.rank ||
            (output ? !made : !is_called(replayed, r, height.tensor)))
          continue;
        Passing passing;
        passing.what = What::size;
        passing.role = static_cast<int>(r);
        // Of one image alone the sides stand at the end as well.
        passing.dim = side->dim == Dim::height    ? height.dim - height.rank
                      : side->dim == Dim::width   ? width.dim - height.rank
                      : side->dim == Dim::channel ? channels - height.rank
                                                  : 0;
        return passing;
      }
    }
  return std::nullopt;
}

/// `cache_dim_k`: the last dimension of k_caches, the one tensor with those words.
std::optional<Passing> width_of_words(const std::string& name, const Replayed& replayed) {
  std::vector<std::string> words = words_of_tensor(name);
  const auto dim = std::find(words.begin(), words.end(), "dim");
  if (dim == words.end() || words.size() < 3) return std::nullopt;
  words.erase(dim);
  const auto are_in = [](const std::vector<std::string>& all, const std::vector<std::string>& others) {
    return std::all_of(all.begin(), all.end(), [&](const std::string& each) {
      return std::any_of(others.begin(), others.end(),
                         [&](const std::string& other) { return are_one_word(each, other); });
    });
  };
  std::optional<Passing> width;
  for (std::size_t r = 0; r < replayed.roles.size(); ++r) {
    const Value& value = replayed.values[r];
    const std::vector<std::string> own = words_of_tensor(replayed.roles[r].name);
    if (!value.is_tensor() || value.tensor.rank < 1 || own.size() != words.size() || !are_in(own, words) ||
        !are_in(words, own))
      continue;
    if (width) return std::nullopt;
    width.emplace();
    width->what = What::size;
    width->role = static_cast<int>(r);
    width->dim = value.tensor.rank - 1;
  }
  return width;
}

}  // namespace

std::optional<Passing> size_by_tensor(const Parameter& parameter, const Replayed& replayed,
                                      const NamedSizes& sizes) {
  if (parameter.kind != Kind::integer || parameter.name.empty()) return std::nullopt;
  for (const NamedSize& size : sizes) {
    if (size.stride || bare(size.tensor + "_" + size.name) != bare(parameter.name)) continue;
    Parameter named = parameter;
    named.name = size.name;
    if (const std::optional<Passing> passing = size_of_label(named, replayed, {size})) return passing;
  }
  if (const std::optional<Passing> side = size_of_image(parameter, replayed, sizes)) return side;
  // `table_width` of block_table, the only one with that word.
  static const Pattern sided("(\\w+?)_(?:(width|cols|columns)|height|rows)");
  const std::string own = lower_case(parameter.name);
  if (const std::optional<Match> side = sided.whole(own)) {
    int found = -1, count = 0;
    for (std::size_t r = 0; r < replayed.roles.size(); ++r) {
      const std::string name = "_" + lower_case(replayed.roles[r].name) + "_";
      if (!replayed.values[r].is_tensor() || replayed.values[r].tensor.rank != 2 ||
          name.find("_" + (*side)[1] + "_") == std::string::npos)
        continue;
      found = static_cast<int>(r);
      ++count;
    }
    if (count == 1) {
      Passing passing;
      passing.what = What::size;
      passing.role = found;
      passing.dim = (*side)[2].empty() ? 0 : 1;
      return passing;
    }
  }
  if (const std::optional<Passing> width = width_of_words(parameter.name, replayed)) return width;
  static const Pattern counted("(?:num|n|nr|no|number_of)_\\w+|\\w+_(?:count|num|cnt)");
  for (std::size_t r = 0; r < replayed.roles.size() && counted.is(lower_case(parameter.name)); ++r) {
    if (!replayed.values[r].is_tensor() || replayed.values[r].tensor.rank < 1 ||
        stem(replayed.roles[r].name) != stem(parameter.name))
      continue;
    // Of points that lie one beside the other, [2, N], the first dimension is no count.
    const Tensor& counts = replayed.values[r].tensor;
    if (counts.rank > 1 && counts.size(0) < counts.size(-1)) continue;
    Passing passing;
    passing.what = What::size;
    passing.role = static_cast<int>(r);
    return passing;
  }
  return std::nullopt;
}

std::optional<Passing> size_alike(const std::vector<Parameter>& parameters, std::size_t at,
                                  const Replayed& replayed, const NamedSizes& sizes) {
  if (parameters[at].kind != Kind::integer || parameters[at].name.empty()) return std::nullopt;
  enum class By : std::uint8_t { own_name, stem, any };
  for (const By by : {By::own_name, By::stem, By::any}) {
    std::optional<Passing> found;
    std::int64_t number = -1;
    bool one = true;
    for (const NamedSize& size : sizes) {
      // Of `pages, page = cache.shape` page_size is the second.
      const bool like = by == By::own_name
                            ? lower_case(size.name) + "_size" == lower_case(parameters[at].name)
                        : by == By::stem ? stem(size.name) == stem(parameters[at].name)
                                         : name_one_size(size.name, parameters[at].name);
      if (size.stride || !like) continue;
      if (std::any_of(parameters.begin(), parameters.end(), [&](const Parameter& each) {
            return bare(each.name) == bare(size.name) ||
                   (each.name != parameters[at].name && counts_choices(each.name) &&
                    counts_choices(size.name));
          }))
        continue;
      Parameter named = parameters[at];
      named.name = size.name;
      const std::optional<Passing> passing = size_of_label(named, replayed, {size});
      if (!passing) continue;
      const Tensor& tensor = replayed.values[static_cast<std::size_t>(passing->role)].tensor;
      if (passing->what == What::ratio) continue;
      const std::int64_t is = passing->what == What::elements ? tensor.numel()
                              : passing->what == What::rows
                                  ? tensor.numel() / std::max<std::int64_t>(tensor.size(-1), 1)
                                  : tensor.size(passing->dim);
      one = one && (!found || is == number);
      if (!found) found = passing;
      number = is;
    }
    if (found) return one ? found : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace isomer::lab
