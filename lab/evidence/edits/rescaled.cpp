#include "lab/evidence/edits/places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace isomer::lab {
namespace {

constexpr std::size_t kNear = 40;  ///< tokens between a sum and the maximum that it is made under

/// A variable or a member of one: `sum`, `mine.sum`.
struct Named {
  std::size_t first = 0, last = 0;  ///< tokens; the same where there is none
  std::string text, object, member;
  bool found() const { return !text.empty(); }
};

/// Sums of exponentials that are made under a maximum: multiplied where a larger one is taken, or where two
/// are put together.
class Rescaled {
 public:
  explicit Rescaled(EditPlaces& places) : places_(places), tokens_(places.tokens()) {}

  void add() {
    for (std::size_t i = 1; i + 2 < tokens_.size(); ++i) {
      if (!places_.functions().starts_statement(i) || !places_.open_rewrites(i)) continue;
      const Named target = named(i);
      if (!target.found()) continue;
      if (!tokens_.is(target.last + 1, "=") && !tokens_.is(target.last + 1, "+=")) continue;
      add_before(target);
      add_terms(target);
    }
  }

 private:
  Named named(std::size_t at) const {
    Named name;
    if (!tokens_.is_name(at) || places_.functions().begins_declaration(at)) return name;
    const CppVariable* variable = places_.functions().named(at);
    name.first = name.last = at;
    if (tokens_.is(at + 1, ".") && tokens_.is_name(at + 2) && !tokens_.is(at + 3, "(")) {
      name.last = at + 2;
      name.object = tokens_.text(at);
      name.member = tokens_.text(at + 2);
    } else if (variable != nullptr ? !is_real_type(variable->type) : !is_real_member(tokens_.text(at))) {
      return {};
    }
    name.text = tokens_.text(name.first, name.last);
    return name;
  }

  /// Of a function of the object itself.
  bool is_real_member(std::string_view name) const {
    for (std::size_t i = 1; i < tokens_.size(); ++i)
      if (tokens_.is(i, name) && (tokens_.is(i - 1, "float") || tokens_.is(i - 1, "double"))) return true;
    return false;
  }

  std::size_t end_of(std::size_t at) const {
    while (at < tokens_.size() && !tokens_.is(at, ";") && !tokens_.is(at, "}")) at = tokens_.behind(at);
    return at;
  }

  /// `sum += 1`, `sum = sum + 1`: what is in it stays.
  bool goes_on(const Named& sum) const {
    if (tokens_.is(sum.last + 1, "+=")) return true;
    const std::size_t end = end_of(sum.last);
    for (std::size_t at = sum.last + 2; at < end; ++at)
      if (tokens_.text(at) == tokens_.text(sum.first)) return true;
    return false;
  }

  /// `sum = sum + 1; top = v;` lacks `sum *= expf(top - v);` in front.
  void add_before(const Named& sum) {
    const std::size_t before = sum.first - 1;
    if (!tokens_.is(before, "{") && !tokens_.is(before, ";") && !tokens_.is(before, "}")) return;
    if (!goes_on(sum)) return;
    for (std::size_t at = end_of(sum.first) + 1; at < tokens_.size() && at < sum.first + kNear;
         at = end_of(at) + 1) {
      // What comes behind the block is of another sum, and may name what is not declared yet.
      if (tokens_.is(at, "}") || !places_.functions().starts_statement(at)) return;
      const Named top = named(at);
      if (!top.found() || top.text == sum.text || !tokens_.is(top.last + 1, "=")) continue;
      const CppVariable* variable = places_.functions().named(at);
      if (variable != nullptr && variable->declared > sum.first) continue;
      const std::size_t end = end_of(top.last);
      if (!tokens_.is(end, ";") || end < top.last + 3 || end - top.last > 6) continue;
      const std::string larger(tokens_.text(top.last + 2, end - 1));
      const std::string made = fmt::format("{} *= expf({} - ({}));", sum.text, top.text, larger);
      const int edit = places_.add(
          {{sum.first, sum.first,
            fmt::format("{} *= expf({} - {}); {}", sum.text, top.text, larger, tokens_.text(sum.first))}},
          Code::missing_rescale, 1);
      places_.surround(before, before, "", fmt::format(" if (isomer_edits::chosen({})) {}", edit, made));
      return;
    }
  }

  /// `a.sum += b.sum;` lacks `* expf(b.top - a.top)`.
  void add_terms(const Named& sum) {
    if (sum.object.empty()) return;
    const std::size_t end = end_of(sum.last);
    for (std::size_t at = sum.last + 2; at < end; ++at) {
      if (!tokens_.is(at + 1, ".") || !tokens_.is_name(at + 2) || tokens_.is(at - 1, ".")) continue;
      const std::string other(tokens_.text(at));
      if (tokens_.text(at + 2) != sum.member || !tokens_.is_name(at) || other == sum.object) continue;
      for (const std::string& top : members_of(other, sum.member, at)) {
        const std::string factor = fmt::format("expf({0}.{2} - {1}.{2})", other, sum.object, top);
        const int edit = places_.add({{at, at + 2, fmt::format("{} * {}", tokens_.text(at, at + 2), factor)}},
                                     Code::missing_rescale, 1);
        places_.surround(at, at + 2, "(",
                         fmt::format(" * (isomer_edits::chosen({}) ? {} : 1.0f))", edit, factor));
      }
    }
  }

  /// Others that the object has, named before or behind.
  std::vector<std::string> members_of(const std::string& object, const std::string& but,
                                      std::size_t round) const {
    std::vector<std::string> list;
    const std::size_t first = round > 4 * kNear ? round - 4 * kNear : 0;
    for (std::size_t i = first; i + 2 < std::min(tokens_.size(), round + 4 * kNear); ++i) {
      if (!tokens_.is(i, object) || !tokens_.is(i + 1, ".") || !tokens_.is_name(i + 2)) continue;
      const std::string member(tokens_.text(i + 2));
      if (member != but && !tokens_.is(i + 3, "(") &&
          std::find(list.begin(), list.end(), member) == list.end())
        list.push_back(member);
    }
    return list;
  }

  EditPlaces& places_;
  const CppTokens& tokens_;
};

}  // namespace

void add_rescaled(EditPlaces& places) { Rescaled(places).add(); }

}  // namespace isomer::lab
