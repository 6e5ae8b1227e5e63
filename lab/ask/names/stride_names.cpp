#include "lab/ask/names/stride_names.hpp"

#include <algorithm>
#include <cctype>
#include <map>

namespace isomer::lab {
namespace {

using Words = std::vector<std::string>;

bool digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

std::string joined(const Words& words, std::size_t begin, std::size_t end) {
  std::string text;
  for (std::size_t i = begin; i < end; ++i) text += words[i];
  return text;
}

/// Whether a key is made of the beginnings of all of a name's words: "resout" of residual_out.
bool abbreviates(std::string_view key, const Words& words, std::size_t first = 0) {
  constexpr std::size_t kShortest = 2;
  if (first == words.size()) return key.empty();
  for (std::size_t n = kShortest; n <= std::min(key.size(), words[first].size()); ++n)
    if (words[first].compare(0, n, key.substr(0, n)) == 0 && abbreviates(key.substr(n), words, first + 1))
      return true;
  return false;
}

/// How much a name's beginning says of a tensor that the source or the original calls `name`.
double likeness(const std::string& key, std::string_view name) {
  const Words words = words_of(name);
  const std::string whole = joined(words, 0, words.size());
  std::string initials;
  for (const std::string& word : words) initials += word.front();
  if (key.empty() || whole.empty()) return 0;
  if (key == whole) return 10;
  if (words.size() > 1 && (key == initials || abbreviates(key, words))) return 7;
  if (whole.starts_with(key)) return key.size() > 1 ? 6 : 5;
  for (std::size_t i = 1; i < words.size(); ++i)
    if (words[i].starts_with(key)) return 3;
  for (std::size_t i = 1; i < words.size(); ++i)  // what runs together: l of logexpsum, s of outscale
    if (words[i].find(key) != std::string::npos && key.size() > 1) return 2;
  return 0;
}

/// What the last part of a stride's name says of the dimension: words of a contract's shape.
const Words& dimensions_of(const std::string& suffix) {
  static const Words none, head = {"H", "Hq", "Hkv"}, batch = {"B"}, last = {"D", "Dv"},
                           row = {"S", "N", "Sq", "Sk", "nb", "slots", "M", "R"};
  static const std::map<std::string, const Words*> known = {
      {"h", &head},    {"head", &head}, {"heads", &head},  {"b", &batch}, {"batch", &batch}, {"z", &batch},
      {"d", &last},    {"dim", &last},  {"dmodel", &last}, {"s", &row},   {"seq", &row},     {"row", &row},
      {"token", &row}, {"tok", &row},   {"t", &row},       {"n", &row},   {"m", &row},       {"block", &row},
      {"split", &row}, {"slot", &row},  {"page", &row},    {"l", &row}};
  const auto at = known.find(suffix);
  return at == known.end() ? none : *at->second;
}

/// Endings that say a dimension even where the name has no "stride" in it.
bool is_dimension(const std::string& suffix) {
  if (suffix.empty()) return false;
  if (std::all_of(suffix.begin(), suffix.end(), digit)) return suffix.size() == 1;
  if (suffix.size() == 2 && suffix[0] == 's' &&
      (digit(suffix[1]) || !dimensions_of(suffix.substr(1)).empty()))
    return true;
  return !dimensions_of(suffix).empty() || suffix == "bs" || suffix == "k";
}

struct Part {
  std::size_t parameter;
  std::string suffix;
};

struct Group {
  std::string key;
  std::string shorter;  ///< "k" of "ks0, ks1": the letter for "stride" taken away; or empty
  bool said = false;    ///< the names say that they are strides
  bool leading = false;
  std::vector<Part> parts;
};

class Grouping {
 public:
  Grouping(const Entry& entry, const Port& port, const std::vector<int>& role_at)
      : entry_(entry), port_(port), role_at_(role_at) {}

  double likeness_of(const std::string& key, std::size_t pointer) const {
    const auto role = static_cast<std::size_t>(role_at_[pointer]);
    double best = likeness(key, entry_.parameters[pointer].name);
    best = std::max(best, likeness(key, port_.roles[role].name) - 0.5);
    if (port_.role_of(key) == role_at_[pointer]) best = std::max(best, 9.0);
    return best;
  }
  double likeness_of(const Group& group, std::size_t pointer) const {
    const double whole = likeness_of(group.key, pointer);
    return group.shorter.empty() ? whole : std::max(whole, likeness_of(group.shorter, pointer) - 1);
  }
  /// Whether a pointer to a tensor that is not there is what the name says most of, but for tensors of which
  /// other names say more.
  bool is_of_absent(const Group& group, const std::vector<Group>& all) const {
    constexpr double kBeginsSo = 5;  // of likeness
    double best = 0, absent = 0;
    for (std::size_t i = 0; i < role_at_.size(); ++i)
      if (role_at_[i] >= 0 && std::none_of(all.begin(), all.end(), [&](const Group& other) {
            return likeness_of(other, i) > likeness_of(group, i);
          }))
        best = std::max(best, likeness_of(group, i));
      else if (role_at_[i] == kAbsent)
        absent = std::max(absent, likeness(group.key, entry_.parameters[i].name));
    return group.said && absent >= kBeginsSo && absent > best;
  }
  double best_likeness(const std::string& key) const {
    double best = 0;
    for (std::size_t i = 0; i < role_at_.size(); ++i)
      if (role_at_[i] >= 0) best = std::max(best, likeness_of(key, i));
    return best;
  }
  /// "k" of "ks", before a digit, and of "sk", before a dimension's letter, where a tensor is named so.
  std::string without_stride_letter(const std::string& key, const std::string& suffix) const {
    constexpr double kBeginsSo = 4.5;  // of likeness_of
    const bool counted = !suffix.empty() && std::all_of(suffix.begin(), suffix.end(), digit);
    const std::string shorter =
        counted && key.size() > 1 && key.back() == 's' ? key.substr(0, key.size() - 1) : "";
    if (!shorter.empty()) return best_likeness(shorter) > 0 ? shorter : "";
    if (key.size() < 2 || key.front() != 's' || best_likeness(key) > 0) return "";
    return best_likeness(key.substr(1)) >= kBeginsSo ? key.substr(1) : "";
  }

  /// The tensor's part of one word and the dimension's: "kbs" is k, bs; "req" is req and nothing.
  void split(const std::string& word, std::string& key, std::string& suffix) const {
    key = word, suffix.clear();
    std::size_t digits = word.size();
    while (digits > 0 && digit(word[digits - 1])) --digits;
    if (digits > 0 && digits < word.size()) {
      key = word.substr(0, digits), suffix = word.substr(digits);
      return;
    }
    double best = 2 * best_likeness(word) - 1;
    for (std::size_t n = word.size() - 1; n > 0; --n) {
      const bool dimension = is_dimension(word.substr(n));
      const double now = best_likeness(word.substr(0, n)) * (dimension ? 2 : 1);
      if (now <= best) continue;
      best = now;
      key = word.substr(0, n), suffix = word.substr(n);
    }
  }

  /// `stride_b, stride_s, stride_h` are strides of one tensor where no tensor is named so.
  void join_dimensions(std::vector<Group>& list) const {
    Group joined;
    joined.said = true;
    for (const Group& group : list) {
      if (!group.said || group.leading || group.parts.size() != 1 ||
          !is_dimension(group.key + group.parts.front().suffix) || best_likeness(group.key) >= kNamedSo ||
          (!joined.parts.empty() && joined.parts.back().parameter + 1 != group.parts.front().parameter))
        continue;
      joined.parts.push_back({group.parts.front().parameter, group.key + group.parts.front().suffix});
    }
    if (joined.parts.size() < 2) return;
    // Of `stride_t, stride_h, stride_d` the first is a dimension's, too, whether or not a tensor is called t.
    for (const Group& group : list)
      if (group.said && group.parts.size() == 1 && group.parts.front().suffix.empty() &&
          group.key.size() == 1 && is_dimension(group.key) &&
          group.parts.front().parameter + 1 == joined.parts.front().parameter)
        joined.parts.insert(joined.parts.begin(), {group.parts.front().parameter, group.key});
    std::erase_if(list, [&](const Group& group) {
      return std::any_of(joined.parts.begin(), joined.parts.end(),
                         [&](const Part& part) { return part.parameter == group.parts.front().parameter; });
    });
    list.push_back(std::move(joined));
    std::stable_sort(list.begin(), list.end(), [](const Group& a, const Group& b) {
      return a.parts.front().parameter < b.parts.front().parameter;
    });
  }

  std::vector<Group> groups(const std::vector<bool>& taken) const {
    std::vector<Group> list;
    std::size_t last = entry_.parameters.size();
    for (std::size_t i = 0; i < entry_.parameters.size(); ++i) {
      const Parameter& p = entry_.parameters[i];
      if (p.kind != Parameter::Kind::integer || p.name.empty() || (i < taken.size() && taken[i])) continue;
      Words words = words_of(p.name);
      bool said = false, leading = false;
      for (std::string& word : words) {
        for (const char* mark : {"strides", "stride"}) {
          if (!word.starts_with(mark)) continue;
          word.erase(0, std::char_traits<char>::length(mark));
          said = true;
          break;
        }
        if (!said && word.ends_with("stride")) word.erase(word.size() - 6), said = true;
      }
      if (!said && words.size() <= 2 && words.front().starts_with("ld") && words.front().size() <= 5) {
        words.front().erase(0, 2);
        leading = said = true;
      }
      std::erase(words, "");
      std::string key, suffix;
      if (leading)
        key = joined(words, 0, words.size());
      else if (words.size() > 1)
        key = joined(words, 0, words.size() - 1), suffix = words.back();
      else if (!words.empty())
        split(words.front(), key, suffix);
      // Whole words that are a tensor have no dimension: stride_req_to_tokens.
      if (said && words.size() > 1 && best_likeness(joined(words, 0, words.size())) == 10)
        key = joined(words, 0, words.size()), suffix.clear();
      if (leading && best_likeness(key) < 5) continue;
      const std::string shorter = said ? "" : without_stride_letter(key, suffix);
      if (!said && (!is_dimension(suffix) || (best_likeness(key) == 0 && shorter.empty()))) continue;
      const auto at = std::find_if(list.begin(), list.end(), [&](const Group& group) {
        return group.key == key && group.said == said && (said || last + 1 == i);
      });
      if (at == list.end())
        list.push_back({key, shorter, said, leading, {{i, suffix}}});
      else
        at->parts.push_back({i, suffix});
      last = i;
    }
    join_dimensions(list);
    // A lone name without "stride" in it may mean anything.
    std::erase_if(list, [](const Group& group) { return !group.said && group.parts.size() < 2; });
    return list;
  }

 private:
  static constexpr double kNamedSo = 9;  ///< of likeness_of: the whole name

  const Entry& entry_;
  const Port& port_;
  const std::vector<int>& role_at_;
};

/// A lone stride from one row to the next, of a tensor that has any number of dimensions before its last.
bool is_of_rows(const Group& group) {
  return group.said && group.parts.size() == 1 &&
         (group.key + group.parts.front().suffix == "row" ||
          group.key + group.parts.front().suffix == "rows");
}

/// The dimension that each of a group's strides is of.
std::vector<int> dimensions(const Group& group, const Words& shape) {
  const std::size_t count = group.parts.size(), rank = shape.size();
  std::vector<int> by_order, by_digit, by_name;
  if (is_of_rows(group) && rank > 1) return {-2};
  const bool open_front = !shape.empty() && shape.front() == "...";
  for (std::size_t i = 0; i < count; ++i)
    by_order.push_back(static_cast<int>(i) - (open_front || (count == 1 && rank <= 2 && rank > 0)
                                                  ? static_cast<int>(std::max(rank, count))
                                                  : 0));
  for (const Part& part : group.parts) {
    if (!part.suffix.empty() && digit(part.suffix.back())) {
      const int dim = part.suffix.back() - '0';
      if (std::find(by_digit.begin(), by_digit.end(), dim) == by_digit.end()) by_digit.push_back(dim);
    }
    // "sh" is the stride of h.
    const bool marked = part.suffix.size() == 2 && part.suffix[0] == 's';
    const Words& means = dimensions_of(marked ? part.suffix.substr(1) : part.suffix);
    for (std::size_t d = 0; d < rank && !open_front; ++d)
      if ((std::find(means.begin(), means.end(), shape[d]) != means.end() ||
           (!part.suffix.empty() &&
            part.suffix == joined(words_of(shape[d]), 0, words_of(shape[d]).size()))) &&
          std::find(by_name.begin(), by_name.end(), static_cast<int>(d)) == by_name.end()) {
        by_name.push_back(static_cast<int>(d));
        break;
      }
  }
  const auto fits = [&](const std::vector<int>& list) {
    return list.size() == count && std::all_of(list.begin(), list.end(), [&](int dim) {
             return dim < static_cast<int>(std::max<std::size_t>(rank, 1));
           });
  };
  if (fits(by_digit)) return by_digit;
  return fits(by_name) ? by_name : by_order;
}

}  // namespace

ArrayName array_name(const Parameter& parameter) {
  ArrayName array;
  const bool numbers = parameter.kind == Parameter::Kind::list ||
                       (parameter.kind == Parameter::Kind::pointer &&
                        (parameter.element == DType::i64 || parameter.element == DType::i32));
  if (!numbers) return array;
  for (std::string& word : words_of(parameter.name))
    if (word == "strides" || word == "stride")
      array.what = Passing::What::strides;
    else if (word == "shape" || word == "sizes" || word == "dims")
      array.what = Passing::What::sizes;
    else
      array.of += word;
  return array;
}

int role_of_array(const ArrayName& name, std::size_t parameter, const Entry& entry, const Port& port,
                  const std::vector<int>& role_at) {
  const Grouping grouping(entry, port, role_at);
  int best = -1;
  double most = 0;
  for (std::size_t i = 0; i < role_at.size(); ++i) {
    if (role_at[i] < 0) continue;
    const double alike = name.of.empty() ? (i < parameter ? 1 : 0) : grouping.likeness_of(name.of, i);
    if (alike > most || (name.of.empty() && alike == most && alike > 0)) best = role_at[i], most = alike;
  }
  return best;
}

std::vector<std::string> words_of(std::string_view name) {
  // "blockK" and "headDim" are two words each; "dQ" is one.
  constexpr int kOfAWord = 3;
  std::vector<std::string> list(1);
  int small = 0;  // letters in a row, up to here
  for (const char c : name) {
    if (c == '_' || (small >= kOfAWord && std::isupper(static_cast<unsigned char>(c)) != 0))
      list.emplace_back();
    small = std::islower(static_cast<unsigned char>(c)) != 0 ? small + 1 : 0;
    if (c != '_') list.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  std::erase(list, "");
  return list;
}

std::vector<std::string> shape_words(const Port& port, int role) {
  const core::Contract& contract = *port.oracle->contract;
  const int at = contract.index_of(port.roles[static_cast<std::size_t>(role)].argument);
  std::vector<std::string> list;
  if (at < 0) return list;
  std::string word;
  const std::string& own = port.original->parameters[static_cast<std::size_t>(role)].shape;
  for (const char c :
       (own.empty() ? contract.args[static_cast<std::size_t>(at)].shapes.front() : own) + " ") {
    if (c == ' ') {
      if (!word.empty()) list.push_back(word);
      word.clear();
    } else {
      word += c;
    }
  }
  const int without = port.original->parameters[static_cast<std::size_t>(role)].without;
  if (without >= 0 && without < static_cast<int>(list.size())) list.erase(list.begin() + without);
  const std::vector<int>& axes = port.original->parameters[static_cast<std::size_t>(role)].axes;
  if (axes.size() != list.size()) return list;
  std::vector<std::string> turned;
  for (const int axis : axes) turned.push_back(list[static_cast<std::size_t>(axis)]);
  return turned;
}

std::optional<Dimension> dimension_of(const Port& port, const std::string& word) {
  for (int role = 0; role < static_cast<int>(port.roles.size()) && !word.empty(); ++role) {
    if (!port.roles[static_cast<std::size_t>(role)].tensor) continue;
    const std::vector<std::string> shape = shape_words(port, role);
    const auto at = std::find(shape.begin(), shape.end(), word);
    if (at != shape.end()) return Dimension{role, static_cast<int>(at - shape.end())};
  }
  return std::nullopt;
}

std::vector<std::optional<StrideOf>> strides_by_name(const Entry& entry, const Port& port,
                                                     const std::vector<std::vector<std::string>>& shapes,
                                                     const std::vector<int>& role_at,
                                                     const std::vector<bool>& taken) {
  std::vector<std::optional<StrideOf>> strides(entry.parameters.size());
  const Grouping grouping(entry, port, role_at);
  std::vector<Group> groups = grouping.groups(taken);
  std::vector<std::size_t> pointers;
  for (std::size_t i = 0; i < role_at.size(); ++i)
    if (role_at[i] >= 0) pointers.push_back(i);
  // Those of a tensor that is not there are no other one's.
  std::erase_if(groups, [&, all = groups](const Group& group) {
    if (!grouping.is_of_absent(group, all)) return false;
    for (const Part& part : group.parts) strides[part.parameter] = StrideOf();
    return true;
  });
  if (groups.empty() || pointers.empty() || pointers.size() > 16 || groups.size() > 16) return strides;
  // The best laying of groups onto pointers, each at most once: by the names, and by the order where two
  // layings are alike. States: pointers that are taken, and the last one.
  struct State {
    double score = 0;
    std::vector<int> chosen;
  };
  std::map<std::pair<unsigned, int>, State> states = {{{0U, -1}, {}}};
  for (const Group& group : groups) {
    std::map<std::pair<unsigned, int>, State> next;
    for (const auto& [at, state] : states) {
      const auto keep = [&, at = at, &state = state](int pointer, double score) {
        const unsigned mask = at.first | (pointer >= 0 ? 1U << pointer : 0U);
        State& known = next[{mask, pointer >= 0 ? pointer : at.second}];
        if (!known.chosen.empty() && known.score >= score) return;
        known.score = score;
        known.chosen = state.chosen;
        known.chosen.push_back(pointer);
      };
      keep(-1, state.score);
      for (std::size_t p = 0; p < pointers.size(); ++p) {
        if ((at.first >> p & 1U) != 0) continue;
        const std::size_t rank = shapes[static_cast<std::size_t>(role_at[pointers[p]])].size();
        if (group.parts.size() > std::max<std::size_t>(rank, 1)) continue;
        const double alike = is_of_rows(group) ? 0 : grouping.likeness_of(group, pointers[p]);
        if (alike == 0 && !group.said) continue;
        const bool whole = group.parts.size() + 1 >= rank || is_of_rows(group);
        keep(static_cast<int>(p),
             state.score + alike + 1 + (whole ? 2 : 0) + (static_cast<int>(p) > at.second ? 3 : 0));
      }
    }
    states = std::move(next);
  }
  const auto best = std::max_element(states.begin(), states.end(), [](const auto& a, const auto& b) {
    return a.second.score < b.second.score;
  });
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (best->second.chosen[g] < 0) continue;
    const int role = role_at[pointers[static_cast<std::size_t>(best->second.chosen[g])]];
    const std::vector<int> dims = dimensions(groups[g], shapes[static_cast<std::size_t>(role)]);
    for (std::size_t i = 0; i < dims.size(); ++i)
      strides[groups[g].parts[i].parameter] = StrideOf{role, dims[i]};
  }
  return strides;
}

}  // namespace isomer::lab
