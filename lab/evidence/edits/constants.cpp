#include "lab/evidence/edits/places.hpp"
#include "lab/text/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace isomer::lab {
namespace {

constexpr std::size_t kMostOthers = 4;
constexpr int kRank = 2;

/// Constants of one kind, each of which may have been meant for another, and where they can be named.
struct Constants {
  std::vector<std::string> names;
  std::size_t first = 0, last = 0;  ///< tokens
};

class Exchanging {
 public:
  explicit Exchanging(EditPlaces& places) : places_(places), tokens_(places.tokens()) {}

  void add() {
    std::vector<Constants> all = of_the_source();
    for (std::size_t i = 0; i + 1 < tokens_.size(); ++i)
      if (tokens_.is(i, "template") && tokens_.is(i + 1, "<")) all.push_back(of_template(i + 1));
    for (std::size_t at = 1; at < tokens_.size(); ++at)
      if (tokens_.is_name(at) && places_.open(at) && places_.functions().named(at) == nullptr &&
          !tokens_.is(at - 1, ".") && !tokens_.is(at - 1, "->") && !tokens_.is(at - 1, "::") &&
          !tokens_.is(at + 1, "(") && !tokens_.is(at + 1, "::") && !tokens_.is(at + 1, "<"))
        exchange(at, all);
  }

 private:
  /// Outside of all functions: macros of numbers, and constants that are declared there.
  std::vector<Constants> of_the_source() const {
    Constants whole = {{}, 0, tokens_.size()}, real = whole;
    static const Pattern defined(
        "(?m)^[ \\t]*#[ \\t]*define[ \\t]+(\\w+)[ \\t]+\\(?-?(\\d[\\w.]*)\\)?[ \\t]*(?://.*)?$");
    for (const Match& match : defined.all(places_.source())) {
      const std::string number = match[2];
      const bool is_real = number.find('.') != std::string_view::npos;
      (is_real ? real : whole).names.emplace_back(match[1]);
    }
    std::vector<bool> open;  // braces, and whether each is of a namespace
    for (std::size_t i = 0; i + 3 < tokens_.size(); ++i) {
      if (tokens_.is(i, "{"))
        open.push_back(i > 1 && (tokens_.is(i - 1, "namespace") || tokens_.is(i - 2, "namespace") ||
                                 tokens_[i - 1].kind == CppToken::Kind::quoted));
      if (tokens_.is(i, "}") && !open.empty()) open.pop_back();
      // What a type has is named otherwise.
      if (std::find(open.begin(), open.end(), false) != open.end()) continue;
      // No parameter that has a default.
      const bool parameter = i > 0 && (tokens_.is(i - 1, "(") || tokens_.is(i - 1, ","));
      if ((!tokens_.is(i, "constexpr") && !tokens_.is(i, "const")) || parameter ||
          places_.functions().body_of(i) != 0)
        continue;
      std::string type;
      std::size_t at = i + 1;
      for (; is_number_word(tokens_.text(at)); ++at) type += std::string(tokens_.text(at)) + " ";
      if (type.empty() || !tokens_.is_name(at) || !tokens_.is(at + 1, "=")) continue;
      if (is_whole_type(type)) whole.names.emplace_back(tokens_.text(at));
      if (is_real_type(type)) real.names.emplace_back(tokens_.text(at));
    }
    return {whole, real};
  }

  /// Whole numbers that the template is given: they can be named in the function behind it.
  Constants of_template(std::size_t open) const {
    Constants list;
    std::size_t at = open + 1;
    for (; at < tokens_.size() && !tokens_.is(at, ">"); ++at)
      if (is_number_word(tokens_.text(at)) && tokens_.is_name(at + 1) &&
          (tokens_.is(at + 2, ",") || tokens_.is(at + 2, ">")))
        list.names.emplace_back(tokens_.text(at + 1));
    while (at < tokens_.size() && !tokens_.is(at, "{") && !tokens_.is(at, ";")) ++at;
    list.first = at;
    list.last = tokens_.is(at, "{") ? tokens_[at].partner : at;
    return list;
  }

  void exchange(std::size_t at, const std::vector<Constants>& all) {
    const std::string own(tokens_.text(at));
    std::vector<std::string> others;
    for (const Constants& list : all) {
      if (at < list.first || at > list.last ||
          std::find(list.names.begin(), list.names.end(), own) == list.names.end())
        continue;
      for (const std::string& each : list.names)
        if (each != own && others.size() < kMostOthers &&
            std::find(others.begin(), others.end(), each) == others.end())
          others.push_back(each);
    }
    if (others.empty()) return;
    const int number = places_.next();
    std::string list = own;
    for (const std::string& each : others) {
      places_.add({{at, at, each}}, Code::wrong_expression, kRank);
      list += ", " + each;
    }
    places_.replace(at, fmt::format("isomer_edits::value({}, {})", number, list));
  }

  EditPlaces& places_;
  const CppTokens& tokens_;
};

}  // namespace

void add_constants(EditPlaces& places) { Exchanging(places).add(); }

}  // namespace isomer::lab
