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

constexpr std::size_t kTriedFirst = 10;  ///< that are tried first
constexpr std::size_t kMostNamesTried = 20;
constexpr std::size_t kMostOtherMemory = 8;

constexpr std::array<std::string_view, 13> kWritingOperators = {"=",  "+=", "-=", "*=", "/=",  "++", "--",
                                                                "%=", "|=", "&=", "^=", "<<=", ">>="};

bool is_writing(std::string_view word) {
  return std::find(kWritingOperators.begin(), kWritingOperators.end(), word) != kWritingOperators.end();
}

/// Variables that are read in place of others.
class Names {
 public:
  explicit Names(EditPlaces& places) : places_(places), tokens_(places.tokens()) {}

  void add(std::size_t at) {
    if (!places_.open(at) || places_.functions().is_declared_here(at)) return;
    const CppVariable* own = places_.functions().named(at);
    if (own == nullptr || is_written(at)) return;
    std::vector<const CppVariable*> others = places_.functions().in_scope(at, true);
    std::erase_if(others,
                  [&](const CppVariable* each) { return each->name == own->name || each->declared > at; });
    // Of the others those that are called alike, and then those that are declared nearest.
    std::reverse(others.begin(), others.end());
    std::stable_sort(others.begin(), others.end(), [&](const CppVariable* a, const CppVariable* b) {
      return likeness(a->name, own->name) > likeness(b->name, own->name);
    });
    if (!own->shared) add_same(at, *own, others);
    if (is_read_at(at)) add_memory(at, *own, others);
    if (is_argument(at)) add_place(at, *own, others);
    if (is_whole_type(own->type) && is_operand(at)) add_whole(at, *own, others);
  }

 private:
  /// Whether what stands there is changed, called or asked for its address.
  bool is_written(std::size_t at) const {
    const std::string_view next = tokens_.text(at + 1), before = at > 0 ? tokens_.text(at - 1) : "";
    if (is_writing(next) || before == "++" || before == "--" || next == "(" || next == "::") return true;
    // What a function writes by its address is no constant.
    if (before == "&" && at > 1 && (tokens_.is(at - 2, "(") || tokens_.is(at - 2, ","))) return true;
    // Of what is assigned to, a part of another one of its type may not be written.
    std::size_t behind = at + 1;
    while (tokens_.is(behind, ".") && tokens_.is_name(behind + 1)) behind += 2;
    if (behind > at + 1 && tokens_.is(behind, "[")) behind = tokens_[behind].partner + 1;
    return behind > at + 1 && is_writing(tokens_.text(behind));
  }

  /// Whether it is memory of which one element is read.
  bool is_read_at(std::size_t at) const {
    if (!tokens_.is(at + 1, "[") || tokens_[at + 1].partner <= at + 2) return false;
    if (at > 0 && (tokens_.is(at - 1, "&") || tokens_.is(at - 1, "++") || tokens_.is(at - 1, "--")))
      return false;
    const std::size_t behind = tokens_[at + 1].partner + 1;
    return !is_writing(tokens_.text(behind)) && !tokens_.is(behind, "[") && !tokens_.is(behind, ".");
  }

  /// Whether it is a number that is put together with others, of which no more than its value is taken.
  bool is_operand(std::size_t at) const {
    constexpr std::array<std::string_view, 14> kOperators = {"+", "-", "*", "/",  "%",  "<",  ">",
                                                             "[", "=", "?", "<=", ">=", "==", "!="};
    const auto among = [&](std::string_view word) {
      return std::find(kOperators.begin(), kOperators.end(), word) != kOperators.end();
    };
    const std::string_view before = at > 0 ? tokens_.text(at - 1) : "", next = tokens_.text(at + 1);
    return among(before) || (among(next) && next != "[" && next != "=") || (before == "[" && next == "]");
  }

  void add_same(std::size_t at, const CppVariable& own, const std::vector<const CppVariable*>& others) {
    std::size_t count = 0;
    for (const CppVariable* each : others) {
      if (each->type != own.type || each->shared) continue;
      const int edit =
          places_.add({{at, at, each->name}}, Code::wrong_expression, count < kTriedFirst ? 1 : 2);
      places_.alternative(at, edit, each->name);
      if (++count == kMostNamesTried) return;
    }
  }

  /// Whole numbers of another width.
  void add_whole(std::size_t at, const CppVariable& own, const std::vector<const CppVariable*>& others) {
    std::string before, behind;
    std::size_t count = 0;
    for (const CppVariable* each : others) {
      // What `auto` declares may be one, too.
      const bool whole = is_whole_type(each->type) || each->type == "auto ";
      if (each->type == own.type || !whole || each->shared || count == kTriedFirst) continue;
      const int edit = places_.add({{at, at, each->name}}, Code::wrong_expression, 2);
      before = fmt::format("isomer_edits::swapped({}, ", edit) + before;
      behind += fmt::format(", {})", each->name);
      ++count;
    }
    if (count > 0) places_.surround(at, at, before, behind);
  }

  /// Other memory with elements of that type, wherever it lies.
  void add_memory(std::size_t at, const CppVariable& own, const std::vector<const CppVariable*>& others) {
    const std::string element = element_of_memory(own.type);
    std::string before, behind;
    std::size_t count = 0;
    if (element.empty()) return;
    for (const CppVariable* each : others) {
      if ((each->type == own.type && !own.shared && !each->shared) || count == kMostOtherMemory ||
          element_of_memory(each->type) != element)
        continue;
      const int edit = places_.add({{at, at, each->name}}, Code::wrong_expression, 2);
      before = fmt::format("isomer_edits::memory({}, {}, ", edit, each->name) + before;
      behind += ")";
      ++count;
    }
    if (count > 0) places_.surround(at, at, before, behind);
  }

  /// Whether it is all that a function or a kernel is given there.
  bool is_argument(std::size_t at) const {
    return at > 0 && (tokens_.is(at - 1, "(") || tokens_.is(at - 1, ",")) &&
           (tokens_.is(at + 1, ",") || tokens_.is(at + 1, ")"));
  }

  /// Memory that is given to a function, in place of other memory with such elements that is only read, or
  /// only written.
  void add_place(std::size_t at, const CppVariable& own, const std::vector<const CppVariable*>& others) {
    const std::string element = element_of_memory(own.type);
    if (element.empty() || own.type.find('[') != std::string::npos) return;
    std::string before, behind;
    std::size_t count = 0;
    for (const CppVariable* each : others) {
      if (each->type == own.type || each->shared || each->type.find('[') != std::string::npos ||
          element_of_memory(each->type) != element || count == kMostOtherMemory)
        continue;
      const int edit = places_.add({{at, at, each->name}}, Code::argument_order, 2);
      before = fmt::format("isomer_edits::place({}, {}, ", edit, each->name) + before;
      behind += ")";
      ++count;
    }
    if (count > 0) places_.surround(at, at, before, behind);
  }

  /// The type of its elements, without const; empty where it is no memory, or has more than one dimension.
  static std::string element_of_memory(const std::string& type) {
    const std::size_t end = type.find_first_of("*[");
    if (end == std::string::npos || type.find_first_of("*[", end + 1) != std::string::npos) return {};
    std::string element = type.substr(0, end);
    if (element.starts_with("const ")) element.erase(0, 6);
    while (!element.empty() && element.back() == ' ') element.pop_back();
    return element;
  }

  EditPlaces& places_;
  const CppTokens& tokens_;
};

}  // namespace

void add_names(EditPlaces& places) {
  Names names(places);
  for (std::size_t i = 0; i < places.tokens().size(); ++i) names.add(i);
}

}  // namespace isomer::lab
