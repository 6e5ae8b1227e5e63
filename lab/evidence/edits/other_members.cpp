#include "lab/evidence/edits/likeness.hpp"
#include "lab/evidence/edits/places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace isomer::lab {
namespace {

constexpr std::size_t kMostMembers = 8, kMostLocals = 4;

/// Members of a structure that are read in each other's place: `s.in.h` for `s.in.w`.
class OtherMembers {
 public:
  explicit OtherMembers(EditPlaces& places) : places_(places), tokens_(places.tokens()) {}

  void add(std::size_t at) {
    if (!tokens_.is_name(at) || !places_.open(at)) return;
    if (at > 0 && (tokens_.is(at - 1, ".") || tokens_.is(at - 1, "->") || tokens_.is(at - 1, "::"))) return;
    const CppVariable* own = places_.functions().named(at);
    if (own == nullptr) return;
    const std::size_t last = places_.structs().end_of(at);
    if (is_written(at, last)) return;
    if (last > at)
      add_members(at, last);
    else if (is_whole_type(own->type) && !places_.functions().is_declared_here(at))
      add_for_name(at, *own);
  }

 private:
  bool is_written(std::size_t at, std::size_t last) const {
    constexpr std::array<std::string_view, 10> kBehind = {
        "=", "+=", "-=", "*=", "/=", "++", "--", "(", "::", "<"};
    for (const std::string_view each : kBehind)
      if (tokens_.is(last + 1, each) && (each != "<" || last > at)) return true;
    return at > 0 &&
           (tokens_.is(at - 1, "++") || tokens_.is(at - 1, "--") ||
            (tokens_.is(at - 1, "&") && at > 1 && !tokens_.is_name(at - 2) && !tokens_.is(at - 2, ")")));
  }

  static std::string kind_of(const std::string& type) {
    if (is_whole_type(type)) return "whole";
    return is_real_type(type) ? "real" : type;
  }

  void put(std::size_t at, std::size_t last, const std::vector<CppMember>& others, std::size_t most,
           int rank) {
    const std::string_view function = tokens_.is(last + 1, "[") ? "memory" : "swapped";
    std::string before, behind;
    std::size_t count = 0;
    for (const CppMember& each : others) {
      if (count++ == most) break;
      const int edit = places_.add({{at, last, each.text}}, Code::wrong_expression, rank);
      if (function == "memory") {
        before = fmt::format("isomer_edits::memory({}, {}, ", edit, each.text) + before;
        behind += ")";
      } else {
        before = fmt::format("isomer_edits::swapped({}, ", edit) + before;
        behind += fmt::format(", {})", each.text);
      }
    }
    if (!before.empty()) places_.surround(at, last, before, behind);
  }

  void add_members(std::size_t at, std::size_t last) {
    std::vector<CppMember> others = places_.structs().of(at);
    const std::string text(tokens_.text(at, last));
    const auto own =
        std::find_if(others.begin(), others.end(), [&](const CppMember& each) { return each.text == text; });
    if (own == others.end()) return;
    const CppMember self = *own;
    const bool read = tokens_.is(last + 1, "[");
    const bool number = is_whole_type(self.type) || is_real_type(self.type);
    if (!number && (!read || assigned_behind(last + 1))) return;
    std::erase_if(others, [&](const CppMember& each) {
      return each.text == text || kind_of(each.type) != kind_of(self.type);
    });
    std::stable_sort(others.begin(), others.end(), [&](const CppMember& a, const CppMember& b) {
      return likeness(a.text, text) > likeness(b.text, text);
    });
    put(at, last, others, kMostMembers, 1);
    if (is_whole_type(self.type)) add_locals(at, last);
  }

  bool assigned_behind(std::size_t open) const {
    const std::size_t behind = tokens_[open].partner + 1;
    for (const std::string_view each : {"=", "+=", "-=", "*=", "/=", "++", "--"})
      if (tokens_.is(behind, each)) return true;
    return tokens_.is(behind, "[") || tokens_.is(behind, ".");
  }

  /// A local whole number for a member.
  void add_locals(std::size_t at, std::size_t last) {
    std::vector<CppMember> others;
    const std::vector<const CppVariable*> scope = places_.functions().in_scope(at);
    for (auto it = scope.rbegin(); it != scope.rend() && others.size() < kMostLocals; ++it)
      if (is_whole_type((*it)->type) && (*it)->declared + 1 < at)
        others.push_back({(*it)->name, (*it)->type, true});
    put(at, last, others, kMostLocals, 3);
  }

  /// A member for a local whole number: those that are called alike, and those that nothing there uses.
  void add_for_name(std::size_t at, const CppVariable& own) {
    std::vector<CppMember> others = places_.structs().in_scope(at);
    std::erase_if(others, [&](const CppMember& each) {
      return !is_whole_type(each.type) || (each.used && likeness(each.text, own.name) == 0);
    });
    put(at, at, others, kMostLocals, 3);
  }

  EditPlaces& places_;
  const CppTokens& tokens_;
};

}  // namespace

void add_other_members(EditPlaces& places) {
  if (places.structs().empty()) return;
  OtherMembers members(places);
  for (std::size_t i = 0; i < places.tokens().size(); ++i) members.add(i);
}

}  // namespace isomer::lab
