#include "lab/ask/names/alike.hpp"

#include "lab/text/lower_case.hpp"
#include "lab/text/pattern.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace isomer::lab {
namespace {

constexpr std::array kSayNothing = {"n",    "num", "nr",   "no",    "number", "of",  "the",   "is",
                                    "use",  "has", "with", "apply", "do",     "val", "value", "param",
                                    "flag", "arg", "k",    "in",    "size",   "cfg", "opt",   "count"};

/// Words that people have for one thing; the first stands for all.
const std::vector<std::vector<std::string_view>>& one_thing() {
  static const std::vector<std::vector<std::string_view>> groups = {
      {"eps", "epsilon"},
      {"thresh", "threshold", "thr"},
      {"scale", "scaling"},
      {"temp", "temperature", "tau"},
      {"iters", "iter", "iterations", "steps", "step"},
      {"lambda", "lam", "lmbda"},
      {"min", "minimum", "lo", "low", "lower"},
      {"max", "maximum", "hi", "high", "upper"},
      {"idx", "index"},
      {"pad", "padding"},
      {"dil", "dilation"},
      {"norm", "normalize", "normalise", "normalized", "normalised"},
      {"sym", "symmetric"},
      {"len", "length"},
      {"window", "win", "wnd"},
      {"first", "begin"},
      {"wd", "decay"},
      {"power", "exponent"},
      {"q", "quant", "quantized", "quantised"}};
  return groups;
}

std::string one_word(std::string word) {
  for (const auto& group : one_thing())
    if (std::find(group.begin(), group.end(), word) != group.end()) return std::string(group.front());
  return word;
}

/// Whether one word is the other with an ending, or with an `n` before it: shift, shifted; bits, nbits.
bool are_one(const std::string& a, const std::string& b) {
  constexpr std::size_t kFewest = 4, kFewestCounted = 3;
  if (a == b) return true;
  const std::string& shorter = a.size() < b.size() ? a : b;
  const std::string& longer = a.size() < b.size() ? b : a;
  if (shorter.size() >= kFewestCounted && longer == "n" + shorter) return true;
  if (shorter.size() + 1 == longer.size() && longer == shorter + "s") return true;
  return shorter.size() >= kFewest && longer.starts_with(shorter);
}

std::vector<std::string> split_words(const std::string& name) {
  std::vector<std::string> words(1);
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto c = static_cast<unsigned char>(name[i]);
    const bool begins =
        std::isupper(c) != 0 && i > 0 && std::islower(static_cast<unsigned char>(name[i - 1])) != 0;
    if (c == '_' || begins) words.emplace_back();
    if (c != '_') words.back() += static_cast<char>(std::tolower(c));
  }
  std::erase(words, std::string());
  return words;
}

double likeness(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  constexpr double kOfARest = 0.5;
  const auto shared = [](const std::vector<std::string>& of, const std::vector<std::string>& in) {
    return static_cast<std::size_t>(std::count_if(of.begin(), of.end(), [&](const std::string& word) {
      return std::any_of(in.begin(), in.end(), [&](const std::string& each) { return are_one(word, each); });
    }));
  };
  const std::size_t in_a = shared(a, b), in_b = shared(b, a);
  if (a.empty() || b.empty() || (in_a < a.size() && in_b < b.size())) return 0;
  return 2.0 * static_cast<double>(std::min(in_a, in_b)) -
         kOfARest * static_cast<double>(a.size() - in_a + b.size() - in_b);
}

}  // namespace

bool are_one_word(const std::string& one, const std::string& other) { return are_one(one, other); }

std::vector<std::string> words_of_name(const std::string& name) {
  std::vector<std::string> words = split_words(name);
  // qmin is q_min.
  for (std::size_t i = 0; i < words.size(); ++i)
    if (words[i] == "qmin" || words[i] == "qmax") {
      words.insert(words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words[i].substr(1));
      words[i] = "q";
    }
  std::erase_if(words, [](const std::string& word) {
    return word.empty() || std::find(kSayNothing.begin(), kSayNothing.end(), word) != kSayNothing.end();
  });
  for (std::string& word : words) word = one_word(std::move(word));
  return words;
}

bool are_of_the_same_words(const std::string& one, const std::string& other) {
  const std::size_t count = words_of_name(one).size();
  return count > 0 && count == words_of_name(other).size() &&
         likeness_of_names(one, other) >= 2.0 * static_cast<double>(count);
}

double likeness_of_names(const std::string& one, const std::string& other) {
  return likeness(words_of_name(one), words_of_name(other));
}

double shared_words(const std::string& one, const std::string& other) {
  const std::vector<std::string> a = words_of_name(one), b = words_of_name(other);
  const auto shared = std::count_if(a.begin(), a.end(), [&](const std::string& word) {
    return std::any_of(b.begin(), b.end(), [&](const std::string& each) { return are_one(word, each); });
  });
  return a.empty() || b.empty()
             ? 0
             : 2.0 * static_cast<double>(shared) / static_cast<double>(a.size() + b.size());
}

std::vector<std::string> words_of_tensor(const std::string& name) {
  static const std::vector<std::vector<std::string_view>> groups = {
      {"idx", "index", "indices", "ids", "id"},
      {"weight", "w", "wt"},
      {"bias"},
      {"query", "q"},
      {"key", "k"},
      {"value", "v"},
      {"sequence", "seq"},
      {"length", "len"},
      {"label", "target"},
      {"variance", "var"},
      {"offset", "off", "indptr", "rowptr", "start"}};
  constexpr std::array kSilent = {"ptr", "data", "d",   "dev", "buf", "buffer", "tensor", "in",     "input",
                                  "out", "dst",  "src", "the", "of",  "raw",    "output", "result", "host"};
  std::vector<std::string> list = split_words(name);
  std::erase_if(list, [&](const std::string& word) {
    return std::find(kSilent.begin(), kSilent.end(), word) != kSilent.end();
  });
  for (std::string& word : list)
    for (const auto& group : groups)
      for (const std::string_view each : group)
        if (word == each || word == std::string(each) + "s") word = std::string(group.front());
  return list;
}

double likeness_of_tensors(const std::string& one, const std::string& other) {
  return likeness(words_of_tensor(one), words_of_tensor(other));
}

bool names_an_axis(const std::string& name) {
  static const Pattern axis("axis|dim|dims|dimension");
  return axis.is(lower_case(name));
}

bool names_a_size(const std::string& name) {
  static const Pattern size(
      "[a-z]|(?:n|num|nr|total|max|elems?|elements|size|count)_?\\w+|\\w*(?:rows?|cols?|columns|sizes?|count|"
      "len|length|numel|elements|batch|"
      "heads?|dims?|tokens|width|height|stride|channels|groups|blocks?|tiles?|warps|threads|offsets?_[a-z]|"
      "words|classes|vocab|planes|pixels)"
      "|(?:block|tile)_?\\w*|ld[a-z]");
  return size.is(lower_case(name));
}

}  // namespace isomer::lab
