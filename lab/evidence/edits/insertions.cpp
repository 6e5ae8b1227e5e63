#include "lab/evidence/edits/operands.hpp"
#include "lab/evidence/edits/places.hpp"
#include "lab/evidence/edits/terms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

namespace isomer::lab {
namespace {

/// What a value may have to be put together with.
struct Beside {
  std::string text;
  std::string element, index;  ///< of an array's element, which is read only where it is asked for
  bool likely = false;         ///< nothing of the function uses it yet
  std::string shown = {};      ///< as the source would have it, where that is another text
};

class Insertions {
 public:
  explicit Insertions(EditPlaces& places) : places_(places), tokens_(places.tokens()) {
    for (std::size_t i = 0; i + 2 < tokens_.size(); ++i) {
      const std::size_t body = tokens_.is(i, "__global__") ? body_behind(i) : 0;
      if (body != 0) launched_[body].insert({"blockIdx.x", "threadIdx.x"});
      if ((tokens_.is(i, "blockIdx") || tokens_.is(i, "threadIdx")) && tokens_.is(i + 1, "."))
        launched_[places.functions().body_of(i)].insert(std::string(tokens_.text(i, i + 2)));
    }
  }

  void add() {
    for (std::size_t i = 0; i < tokens_.size(); ++i) add_operand(i);
    for (std::size_t i = 0; i < tokens_.size(); ++i) add_product(i);
    for (std::size_t i = 0; i < tokens_.size(); ++i) add_bracket(i);
    for (std::size_t i = 0; i < tokens_.size(); ++i)
      if (places_.functions().starts_statement(i)) add_right_side(i);
  }

 private:
  static constexpr std::size_t kMost = 5, kMostWhole = 10;

  bool open(std::size_t first, std::size_t last) const {
    return places_.open_statement(first) && places_.open_statement(last);
  }

  /// Variables, and elements of arrays that nothing else uses, with which a value there may be put together.
  std::vector<Beside> beside(std::size_t at, bool real, const std::set<std::string>& own) const {
    std::vector<Beside> likely, same, other;
    std::vector<std::string> indices;
    const std::vector<const CppVariable*> scope = places_.functions().in_scope(at);
    const auto unused = [&](const CppVariable* each) { return !places_.functions().is_used(*each); };
    for (auto each = scope.rbegin(); each != scope.rend(); ++each)
      if (is_whole_type((*each)->type) && (*each)->declared + 1 < at && !unused(*each) && indices.size() < 3)
        indices.push_back((*each)->name);
    for (auto it = scope.rbegin(); it != scope.rend(); ++it) {
      const CppVariable* each = *it;
      if (each->declared + 1 >= at || own.count(each->name) > 0) continue;
      if (unused(each) && is_memory_of_numbers(each->type)) {
        for (const std::string& index : indices)
          likely.push_back({fmt::format("{}[{}]", each->name, index), each->name, index, true});
        continue;
      }
      const bool whole = is_whole_type(each->type);
      if (!whole && (!real || !is_real_type(each->type))) continue;
      if (unused(each))
        likely.push_back({each->name, {}, {}, true});
      else
        (whole == real ? other : same).push_back({each->name, {}, {}, false});
    }
    if (same.size() > (real ? kMost : kMostWhole)) same.resize(real ? kMost : kMostWhole);
    if (likely.size() > 2 * kMost) likely.resize(2 * kMost);
    likely.insert(likely.end(), same.begin(), same.end());
    if (!real)
      for (const std::string& each : launched_at(at)) likely.push_back({each, {}, {}, false});
    for (Beside& each : members_beside(at, real)) likely.push_back(std::move(each));
    for (const Beside& each : other)
      if (likely.size() < kMost) likely.push_back(each);
    return likely;
  }

  /// Members of structures, those that nothing of the function uses first.
  std::vector<Beside> members_beside(std::size_t at, bool real) const {
    std::vector<Beside> list;
    std::vector<CppMember> members = places_.structs().in_scope(at);
    std::stable_sort(members.begin(), members.end(),
                     [](const CppMember& a, const CppMember& b) { return !a.used && b.used; });
    for (const CppMember& each : members)
      if ((real ? is_real_type(each.type) : is_whole_type(each.type)) && list.size() < kMost)
        list.push_back({each.text, {}, {}, !each.used});
    return list;
  }

  /// The `{` of the kernel that is declared there; 0 where it has none.
  std::size_t body_behind(std::size_t at) const {
    while (at < tokens_.size() && !tokens_.is(at, "{") && !tokens_.is(at, ";")) at = tokens_.behind(at);
    return tokens_.is(at, "{") ? at : 0;
  }

  /// The numbers of threads and blocks that the function there reads, the kernel's first ones in any case.
  std::set<std::string> launched_at(std::size_t at) const {
    const auto found = launched_.find(places_.functions().body_of(at));
    return found == launched_.end() ? std::set<std::string>() : found->second;
  }

  /// Elements of other memory, with an index that the expression has.
  std::vector<Beside> elements_beside(std::size_t first, std::size_t last) const {
    std::vector<std::string> indices;
    std::set<std::string> own;
    for (std::size_t i = first + 1; i <= last; ++i) {
      if (!tokens_.is(i, "[") || !tokens_.is_name(i - 1) || tokens_[i].partner <= i + 1) continue;
      own.insert(std::string(tokens_.text(i - 1)));
      const std::string index(tokens_.text(i + 1, tokens_[i].partner - 1));
      if (std::find(indices.begin(), indices.end(), index) == indices.end()) indices.push_back(index);
    }
    std::vector<Beside> list;
    for (const CppVariable* each : places_.functions().in_scope(first))
      for (const std::string& index : indices)
        if (each->declared < first && own.count(each->name) == 0 && is_memory_of_numbers(each->type) &&
            list.size() < 2 * kMost)
          list.push_back({fmt::format("{}[{}]", each->name, index), each->name, index, false});
    return list;
  }

  /// Elements of memory that is declared before, with the numbers that count there: what a sum may begin
  /// with.
  std::vector<Beside> elements_in_scope(std::size_t at) const {
    constexpr std::size_t kFew = 3;
    std::vector<std::string> counts = places_.functions().counts_and_sizes(at).first;
    if (counts.size() > kFew) counts.resize(kFew);
    std::vector<Beside> list;
    const std::vector<const CppVariable*> scope = places_.functions().in_scope(at);
    for (auto each = scope.rbegin(); each != scope.rend() && list.size() < 2 * kMost; ++each)
      for (const std::string& count : counts)
        if ((*each)->declared + 1 < at && is_memory_of_numbers((*each)->type))
          list.push_back({fmt::format("{}[{}]", (*each)->name, count), (*each)->name, count, false});
    return list;
  }

  /// Numbers that count there, and sizes: what a place in memory is made of.
  std::pair<std::vector<std::string>, std::vector<std::string>> counts_and_sizes(
      std::size_t at, const std::set<std::string>& own) const {
    auto [counts, sizes] = places_.functions().counts_and_sizes(at);
    std::erase_if(counts, [&](const std::string& each) { return own.count(each) > 0; });
    counts.resize(std::min(counts.size(), kMost));
    sizes.resize(std::min(sizes.size(), kMost));
    std::size_t members = 0;
    for (const CppMember& each : places_.structs().in_scope(at))
      if (is_whole_type(each.type) && members++ < kMost) sizes.push_back(each.text);
    return {counts, sizes};
  }

  /// Products of a number that counts there and a size.
  std::vector<Beside> products_beside(std::size_t at, const std::set<std::string>& own) const {
    auto [counts, sizes] = counts_and_sizes(at, own);
    // Of many sizes the nearest: with all of them most of what is compiled is never come to.
    if (sizes.size() > kMost) sizes.resize(kMost);
    for (const std::string& each : launched_at(at)) counts.push_back(each);
    std::vector<Beside> list;
    for (const std::string& count : counts)
      for (const std::string& size : sizes)
        list.push_back({fmt::format("{} * {}", count, size), {}, {}, false});
    return list;
  }

  /// Sizes that are called like the one that stands there: of `x[width]` the height, which makes a plane of
  /// it.
  std::vector<Beside> sizes_beside(std::size_t at) const {
    constexpr std::size_t kFew = 2;
    std::vector<Beside> list;
    const CppVariable* own = places_.functions().named(at);
    if (own == nullptr || !places_.functions().is_parameter(*own) || !is_whole_type(own->type)) return list;
    for (const std::string& each : sizes_near(places_, at, own->name, kFew))
      list.push_back({each, {}, {}, false});
    return list;
  }

  /// What such a number leaves of a size, and how often it has it.
  std::vector<Beside> remainders_beside(std::size_t at) const {
    constexpr std::size_t kFew = 3;
    auto [counts, sizes] = counts_and_sizes(at, {});
    if (counts.size() > kFew) counts.resize(kFew);
    std::vector<Beside> list;
    for (const std::string& count : counts)
      for (const std::string& size : sizes) {
        list.push_back({fmt::format("isomer_edits::remainder({}, {})", count, size),
                        {},
                        {},
                        false,
                        fmt::format("{} % {}", count, size)});
        list.push_back({fmt::format("isomer_edits::quotient({}, {})", count, size),
                        {},
                        {},
                        false,
                        fmt::format("{} / {}", count, size)});
      }
    return list;
  }

  std::set<std::string> names_in(std::size_t first, std::size_t last) const {
    std::set<std::string> names;
    for (std::size_t i = first; i <= last; ++i)
      if (places_.functions().named(i) != nullptr) names.insert(std::string(tokens_.text(i)));
    return names;
  }

  /// Whether it stands in the brackets of an index.
  bool is_index(std::size_t at) const {
    for (std::size_t i = at; i-- > 0;) {
      if (tokens_.is(i, ";") || tokens_.is(i, "{") || tokens_.is(i, "}")) return false;
      if (tokens_.is(i, "[") && tokens_[i].partner > at) return true;
    }
    return false;
  }

  /// An expression with each of the operators and each of the others behind it.
  void put(std::size_t first, std::size_t last, std::string_view operators, const std::vector<Beside>& list,
           bool whole_product) {
    if (list.empty()) return;
    const std::string own(tokens_.text(first, last));
    const std::string inner = last > first && !whole_product ? "(" + own + ")" : own;
    const int number = places_.next();
    // Another element is another matter than an element that is too little.
    const bool index = is_index(first);
    std::string arguments;
    for (const Beside& each : list) {
      const int begin = places_.next();
      for (const char op : operators) {
        const bool sum = op == '+' || op == '-';
        places_.add(
            {{first, last,
              fmt::format("{} {} {}", sum ? own : inner, op, each.shown.empty() ? each.text : each.shown)}},
            index ? Code::wrong_expression
            : sum ? Code::missing_term
                  : Code::missing_scale,
            each.likely ? 1 : 4);
      }
      arguments += each.element.empty() ? ", " + each.text
                                        : fmt::format(", isomer_edits::element({}, {}, {}, {})", begin,
                                                      operators.size(), each.element, each.index);
    }
    places_.surround(first, last, fmt::format("isomer_edits::joined<{}>({}, ", name_of(operators), number),
                     arguments + ")");
  }

  static std::string name_of(std::string_view operators) {
    std::string letters;
    for (const char op : operators) letters += fmt::format("{}'{}'", letters.empty() ? "" : ", ", op);
    return letters;
  }

  /// A variable, or a number of a thread or a block, that is added to something: times another.
  void add_operand(std::size_t at) {
    if (!tokens_.is_name(at) || at == 0 || !open(at, at)) return;
    std::size_t last = at;
    std::vector<Beside> list;
    const bool launch = tokens_.is(at, "blockIdx") || tokens_.is(at, "blockDim");
    if (launch && tokens_.is(at + 1, ".")) last = at + 2;
    const CppVariable* own = places_.functions().named(at);
    if (own == nullptr && last == at) return;
    const auto sums = [&](std::size_t i) { return tokens_.is(i, "+") || tokens_.is(i, "-"); };
    const std::string_view before = tokens_.text(at - 1), behind = tokens_.text(last + 1);
    const bool front = sums(at - 1) || before == "(" || before == "[" || before == "=" || before == "," ||
                       before == ")" || before == "return";
    const bool back = sums(last + 1) || behind == ")" || behind == "]" || behind == ";" || behind == ",";
    if (!front || !back || !(sums(at - 1) || sums(last + 1)) || !open(last, last)) return;
    if (own != nullptr && places_.functions().is_declared_here(at)) return;
    if (own != nullptr && !is_whole_type(own->type) && !is_real_type(own->type)) return;
    if (before == ")" && tokens_[at - 1].partner > 0 && tokens_.is_name(tokens_[at - 1].partner - 1)) return;
    list = beside(at, own != nullptr && is_real_type(own->type), names_in(at, last));
    if (launch)
      list.insert(list.begin(), {fmt::format("{}.{}", tokens_.is(at, "blockIdx") ? "blockDim" : "blockIdx",
                                             tokens_.text(at + 2)),
                                 {},
                                 {},
                                 true});
    put(at, last, "*", list, true);
  }

  /// A product of whole numbers with one factor more, where it is a term or all that is assigned.
  void add_product(std::size_t at) {
    if (!tokens_.is(at, "*") || at == 0 || !ends_value(places_, at - 1)) return;
    const std::size_t first = begin_of_operand(places_, at - 1, operator_of("*")->binds),
                      last = end_of_operand(tokens_, at + 1, operator_of("*")->binds);
    const std::string_view next = tokens_.text(last + 1);
    const bool called = tokens_.is(first, "(") && first > 0 && tokens_.is(first - 1, ">");
    if (next == "*" || next == "/" || next == "%" || called || !open(first, last)) return;
    for (std::size_t i = first; i <= last; ++i) {
      const CppVariable* named = places_.functions().named(i);
      if ((named != nullptr && !is_whole_type(named->type)) || tokens_.is(i, "[") ||
          (tokens_[i].kind == CppToken::Kind::number && tokens_.text(i).find('.') != std::string_view::npos))
        return;
    }
    put(first, last, "*", beside(at, false, names_in(first, last)), true);
  }

  /// A whole index, what stands in parentheses, and the argument of a function of one number.
  void add_bracket(std::size_t at) {
    const bool index = tokens_.is(at, "["), group = tokens_.is(at, "(");
    const std::size_t close = tokens_[at].partner;
    if ((!index && !group) || at == 0 || close <= at + 1 || !open(at + 1, close - 1)) return;
    bool real = false;
    for (std::size_t i = at + 1; i < close; ++i) {
      if (tokens_.is(i, ",") || tokens_.is(i, ";") || tokens_.is(i, "<") || tokens_.is(i, ">") ||
          tokens_.is(i, "&&") || tokens_.is(i, "||") || tokens_.is(i, "==") || tokens_.is(i, "?") ||
          tokens_.is(i, "&") || tokens_.is(i, "=") || tokens_.is(i, "{") || tokens_.is(i, "!=") ||
          tokens_.is(i, ">=") || tokens_.is(i, "<="))
        return;
      const CppVariable* named = places_.functions().named(i);
      real = real || (named != nullptr && named->type.find("float") != std::string::npos);
    }
    if (index) {
      put(at + 1, close - 1, "+*-", beside(at, false, names_in(at + 1, close - 1)), false);
      if (close == at + 2) put(at + 1, close - 1, "*", sizes_beside(at + 1), false);
      put(at + 1, close - 1, "+", products_beside(at, names_in(at + 1, close - 1)), false);
      return put(at + 1, close - 1, "+", remainders_beside(at), false);
    }
    constexpr std::array<std::string_view, 12> kFunctions = {"expf",  "sqrtf",  "rsqrtf", "logf",
                                                             "exp",   "sqrt",   "rsqrt",  "log",
                                                             "tanhf", "__expf", "__logf", "exp2f"};
    const bool function =
        std::find(kFunctions.begin(), kFunctions.end(), tokens_.text(at - 1)) != kFunctions.end();
    // What begins with a word of a type alone is a cast.
    const bool grouped = !tokens_.is_name(at - 1) && !tokens_.is(at - 1, ")") && !tokens_.is(at - 1, "]") &&
                         !tokens_.is(at - 1, ">") && !tokens_.is(at - 1, ">>>") && close > at + 2 &&
                         (places_.functions().named(at + 1) != nullptr || tokens_.is(at + 1, "(") ||
                          tokens_.is(at + 1, "blockIdx") || tokens_.is(at + 1, "blockDim")) &&
                         !tokens_.is(at + 2, "*");
    if (!function && !grouped) return;
    put(at + 1, close - 1, function ? "+-*/" : "+-", beside(at, real, names_in(at + 1, close - 1)), false);
    if (grouped && !real && tokens_.is(close + 1, "*"))
      put(at + 1, close - 1, "+", products_beside(at, names_in(at + 1, close - 1)), false);
    // What is added to something may have to be multiplied as a whole.
    const auto sums = [&](std::size_t i) { return tokens_.is(i, "+") || tokens_.is(i, "-"); };
    const std::string_view next = tokens_.text(close + 1);
    if (grouped && (sums(close + 1) || (sums(at - 1) && (next == ")" || next == "]" || next == ";"))))
      put(at, close, "*", beside(at, real, names_in(at, close)), true);
  }

  /// What is assigned to a number, and the first values of those that are declared.
  void add_right_side(std::size_t first) {
    std::size_t end = first;
    while (end < tokens_.size() && !tokens_.is(end, ";") && !tokens_.is(end, "{") && !tokens_.is(end, "}"))
      end = tokens_.behind(end);
    std::size_t at = first;
    while (at < end && tokens_.text(at).back() != '=') at = tokens_.behind(at);
    if (!tokens_.is(end, ";") || at + 1 >= end) return;
    if (!places_.functions().begins_declaration(first)) {
      const CppVariable* left = places_.functions().named(first);
      const std::string type = left != nullptr ? left->type : std::string();
      const bool element = type.find('*') != std::string::npos || type.find('[') != std::string::npos;
      if (!element || tokens_.is(first + 1, "[")) add_value(first, at + 1, end - 1, type, false);
      return;
    }
    std::string type;
    bool memory = false;
    for (std::size_t i = first; i < at; ++i) {
      if (is_number_word(tokens_.text(i))) type = std::string(tokens_.text(i)) + " ";
      memory = memory || tokens_.is(i, "*");
    }
    // A template's argument, or another name of a type.
    const CppVariable* declared = at > first ? places_.functions().declared_at(at - 1) : nullptr;
    if (type.empty() && declared != nullptr && !tokens_.is(at - 2, "&") &&
        (is_real_type(declared->type) || is_whole_type(declared->type)))
      type = declared->type;
    while (at < end) {
      std::size_t last = at + 1;
      while (last < end && !tokens_.is(last, ",")) last = tokens_.behind(last);
      if (tokens_.is(at, "=")) add_value(first, at + 1, last - 1, memory ? "*" : type, true);
      for (at = last; at < end && !tokens_.is(at, "=");) at = tokens_.behind(at);
    }
  }

  void add_value(std::size_t statement, std::size_t first, std::size_t last, const std::string& type,
                 bool declares) {
    if (last < first || last >= tokens_.size() || !open(first, last)) return;
    const bool sums = tokens_.is(first - 1, "=") && !declares && tokens_.is(statement + 1, "[");
    const std::set<std::string> own = names_in(declares ? first - 2 : sums ? first : statement, last);
    // A place in memory, whose beginning may be left out.
    if (type == "*") {
      if (tokens_.is(first, "0") || tokens_.is(first, "nullptr") || tokens_.is(first, "NULL")) return;
      std::vector<Beside> list = beside(statement, false, own);
      for (Beside& each : products_beside(statement, own)) list.push_back(std::move(each));
      return put(first, last, "+", list, false);
    }
    const bool real = type.find("float") != std::string::npos || type.find("double") != std::string::npos;
    const bool whole = is_whole_type(type) || type == "auto " || type.find("int") != std::string::npos;
    if (first == last && tokens_[last].kind == CppToken::Kind::number)
      return real && declares ? put(first, last, "+", elements_in_scope(first), false) : void();
    if (!real && !whole) return;
    std::vector<Beside> list = beside(statement, real, own);
    if (real) {
      for (Beside& each : elements_beside(first, last)) list.push_back(std::move(each));
      // A square.
      constexpr std::size_t kShort = 4;
      if (last - first < kShort && !tokens_.is(last, ")"))
        list.push_back({std::string(tokens_.text(first, last)), {}, {}, false});
    }
    put(first, last, real ? "*/+-" : "*+-", list, false);
    if (!real && declares) put(first, last, "+", products_beside(statement, own), false);
    if (real) add_clamps(first, last);
    if (real) add_functions(first, last);
  }

  /// The same between bounds: 0, 1, and those that the label names.
  void add_clamps(std::size_t first, std::size_t last) {
    const std::string own(tokens_.text(first, last));
    const int number = places_.next();
    std::string list;
    for (const std::string& bound : places_.label().bounds) {
      places_.add({{first, last, fmt::format("fmaxf({}, {})", own, bound)}}, Code::clamp, 3);
      places_.add({{first, last, fmt::format("fminf({}, {})", own, bound)}}, Code::clamp, 3);
      list += ", " + bound;
    }
    if (!list.empty())
      places_.surround(first, last, fmt::format("isomer_edits::bounded({}, ", number), list + ")");
  }

  /// The same as the argument of a function that the label has.
  void add_functions(std::size_t first, std::size_t last) {
    const std::string own(tokens_.text(first, last));
    const int number = places_.next();
    std::string list;
    for (const std::string& function : places_.label().functions) {
      places_.add({{first, last, fmt::format("{}({})", function, own)}},
                  function == "fabsf" ? Code::missing_absolute : Code::wrong_expression, 3);
      list += fmt::format(", [](float v) {{ return {}(v); }}", function);
    }
    if (!list.empty())
      places_.surround(first, last, fmt::format("isomer_edits::through({}, ", number), list + ")");
  }

  EditPlaces& places_;
  const CppTokens& tokens_;
  std::map<std::size_t, std::set<std::string>> launched_;  ///< by the function's body
};

}  // namespace

void add_insertions(EditPlaces& places) { Insertions(places).add(); }

}  // namespace isomer::lab
