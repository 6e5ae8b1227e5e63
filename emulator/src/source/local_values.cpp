// Variables of a device function's own: `a[i]` becomes `a[local_index<decltype(a), …>(i, "a")]`, and beside a
// variable without an initialiser stands another that knows what was written. Where the text does not show
// each of its reads and writes (its address is taken, it is a whole argument, a lambda captures it), it has
// none.
#include <algorithm>
#include <map>
#include <set>

#include "source/locals.hpp"

namespace isomer::emulator::source {
namespace {

using Tokens = std::vector<Token>;

bool joined(const Tokens& t, std::size_t i) { return t[i].end() == t[i + 1].offset; }

/// One past the subscripts behind a name.
std::size_t past_subscripts(const Tokens& t, std::size_t i) {
  while (t[i].is("[")) i = closing(t, i) + 1;
  return i;
}

bool assigns(const Tokens& t, std::size_t i) { return t[i].is("=") && !(joined(t, i) && t[i + 1].is("=")); }

bool is_operator(const Token& t) {
  static const std::set<std::string_view> marks = {"+", "-", "*", "/", "%", "<", ">", "&", "|", "^"};
  return marks.count(t.text) != 0;
}

/// `+=` and its like, `<<=` included.
bool compounds(const Tokens& t, std::size_t i) {
  if (!is_operator(t[i]) || !joined(t, i)) return false;
  if (t[i + 1].is("=")) return !t[i].is("<") && !t[i].is(">");
  return (t[i].is("<") || t[i].is(">")) && t[i + 1].text == t[i].text && joined(t, i + 1) && t[i + 2].is("=");
}

bool steps(const Tokens& t, std::size_t i) {
  return (t[i].is("+") || t[i].is("-")) && joined(t, i) && t[i + 1].text == t[i].text;
}

bool ends_operand(const Token& t) {
  static const std::set<std::string_view> words = {"return", "else", "case", "throw", "and", "or", "not"};
  return t.kind == Token::number || t.is("]") || (t.kind == Token::name && words.count(t.text) == 0);
}

bool takes_address(const Tokens& t, std::size_t i) {
  return t[i - 1].is("&") && !ends_operand(t[i - 2]) && !(t[i - 2].is("&") && joined(t, i - 2));
}

bool is_member(const Tokens& t, std::size_t i) {
  return t[i - 1].is(".") || t[i - 1].is("->") || t[i - 1].is("::");
}

bool follows_type(const Tokens& t, std::size_t i) {
  return t[i - 1].kind == Token::name && ends_operand(t[i - 1]);
}

/// The bracket that stands open at `i`, inside of the function.
std::size_t opening(const Tokens& t, std::size_t i, std::size_t body) {
  int depth = 0;
  while (i > body) {
    --i;
    if (t[i].is(")") || t[i].is("]") || t[i].is("}")) ++depth;
    if ((t[i].is("(") || t[i].is("[") || t[i].is("{")) && depth-- == 0) return i;
  }
  return body;
}

/// Functions that only read what they get.
bool only_reads(std::string_view function) {
  static const std::set<std::string_view> names = {
      "max",   "min",    "fmax",      "fmin",       "fmaxf", "fminf",  "fma",    "fmaf",   "sqrt",
      "sqrtf", "rsqrt",  "rsqrtf",    "exp",        "expf",  "log",    "logf",   "abs",    "fabs",
      "fabsf", "pow",    "powf",      "sin",        "cos",   "sinf",   "cosf",   "tan",    "tanh",
      "tanhf", "floor",  "ceil",      "floorf",     "ceilf", "__expf", "__logf", "printf", "if",
      "while", "switch", "__fmaf_rn", "__fdividef", "exp2f", "log2f",  "int",    "float",  "double"};
  return names.count(function) != 0;
}

enum class Use { reads, writes, copies, hides };

/// What is done with the value that the tokens from `first` to before `last` name.
Use use_of(const Tokens& t, std::size_t first, std::size_t last, std::size_t body) {
  const Token &before = t[first - 1], &behind = t[last];
  if (takes_address(t, first)) return Use::hides;
  const std::size_t open = opening(t, first, body);
  const std::size_t close = closing(t, open);
  // (c ? x : y) = 1
  if (t[open].is("(") && assigns(t, close + 1)) return Use::hides;
  if (assigns(t, last)) return Use::writes;
  if (compounds(t, last) || steps(t, last) || (first >= 2 && steps(t, first - 2))) return Use::reads;
  if (behind.is(".") || behind.is("->") || behind.is("[") || behind.is("(")) return Use::hides;
  if (t[open].is("(") && !t[open - 1].is("for")) {
    const Token& callee = t[open - 1];
    if (callee.is("sizeof") || callee.is("decltype") || callee.is("asm") || callee.is("__asm__"))
      return Use::hides;
    const bool whole = (before.is("(") || before.is(",")) && (behind.is(")") || behind.is(","));
    if (whole) return only_reads(callee.text) ? Use::reads : Use::hides;
  }
  if (t[open].is("[") && (before.is("[") || before.is(",")) && (behind.is("]") || behind.is(",")) &&
      !ends_operand(t[open - 1]) && !t[open - 1].is(")"))
    return Use::hides;  // a lambda's capture
  if (before.is("sizeof")) return Use::hides;
  // The beginning of the statement: a reference may be bound to it.
  std::size_t begin = first;
  while (begin > open && !t[begin - 1].is(";") && !t[begin - 1].is("{") && !t[begin - 1].is("}")) --begin;
  for (std::size_t i = begin; i + 2 < first; ++i)
    if (t[i].is("&") && t[i + 1].kind == Token::name &&
        (t[i + 2].is("=") || t[i + 2].is("{") || t[i + 2].is("(")))
      return Use::hides;
  if (t[open].is("{") && (before.is("{") || before.is(",")) && (behind.is("}") || behind.is(",")))
    return Use::copies;
  if (before.is("return") && behind.is(";")) return Use::copies;
  if (before.is(")") && behind.is(";")) return Use::copies;  // (void)x
  if (before.is("{") || before.is("}") || before.is(";")) {
    if (behind.is(";")) return Use::copies;
  }
  // y = x; of two variables: what matters is whether y is used.
  if (before.is("=") && (behind.is(";") || behind.is(",")) && t[first - 2].kind == Token::name &&
      (t[first - 3].kind == Token::name || t[first - 3].is(";") || t[first - 3].is("{") ||
       t[first - 3].is("}") || t[first - 3].is(")") || t[first - 3].is(",")))
    return Use::copies;
  return Use::reads;
}

/// Whether another of this name may be meant somewhere in the function.
bool is_declared_again(const Tokens& t, const Function& f, const std::vector<Local>& locals,
                       const Local& local) {
  const std::string_view name = t[local.name].text;
  for (const Local& other : locals)
    if (other.name != local.name && t[other.name].text == name) return true;
  for (std::size_t i = f.parameters; i < f.end; ++i)
    if (t[i].is(name) && i != local.name && (i < local.name || follows_type(t, i)) && !is_member(t, i))
      return true;
  return false;
}

using Tracked = std::pair<const std::size_t, Use>;

/// An array and its subscripts.
struct Indexed {
  std::size_t first;       ///< token of what is indexed
  std::size_t subscripts;  ///< token of the first bracket
  std::string name;
  const Tracked* use = nullptr;  ///< of an array whose written elements are known
  std::string object = {};       ///< the pointer behind which it is a member
};
/// What closes two at one place closes the inner one first.
using Closers = std::vector<std::pair<std::size_t, std::string>>;

/// Its uses, where all of them are seen; false where one is not.
bool uses_of(const Tokens& t, const Function& f, const Local& local,
             std::vector<std::pair<std::size_t, Use>>& uses) {
  const std::string_view name = t[local.name].text;
  bool reads = false;
  for (std::size_t i = local.end; i < local.block; ++i) {
    if (t[i].is("goto") || t[i].is("asm") || t[i].is("__asm__")) return false;
    // A jump into its block would leave out what stands beside it.
    if ((t[i].is("case") || t[i].is("default")) && closing(t, opening(t, i, f.body)) == local.block)
      return false;
    if (!t[i].is(name) || is_member(t, i)) continue;
    const std::size_t last = past_subscripts(t, i + 1);
    std::size_t levels = 0;
    for (std::size_t open = i + 1; open < last; open = closing(t, open) + 1) {
      ++levels;
      // With several subscripts, those of one element are noted one by one.
      for (std::size_t k = open; k < closing(t, open) && local.sizes.size() > 1; ++k)
        if (t[k].is(name)) return false;
    }
    if (levels != local.sizes.size()) return false;
    const Use use = use_of(t, i, last, f.body);
    if (use == Use::hides) return false;
    reads |= use == Use::reads;
    uses.emplace_back(i, use);
  }
  // What nothing in the function writes is read where it is returned: no caller can know when to leave it
  // alone.
  const bool written =
      std::any_of(uses.begin(), uses.end(), [](const auto& u) { return u.second == Use::writes; });
  for (auto& [at, use] : uses) {
    if (written || use != Use::copies || !t[at - 1].is("return")) continue;
    use = Use::reads;
    reads = true;
  }
  return reads;
}

void guard_subscripts(Source& s, const Indexed& array, Closers& closers) {
  const Tokens& t = s.text.tokens;
  const std::size_t last = past_subscripts(t, array.subscripts);
  const int what = takes_address(t, array.first) ? 2 : assigns(t, last) || compounds(t, last) ? 1 : 0;
  unsigned level = 0;
  for (std::size_t open = array.subscripts; open < last; open = closing(t, open) + 1, ++level) {
    const std::size_t close = closing(t, open);
    bool list = false;
    for (std::size_t k = open + 1; k < close; ++k) {
      if (t[k].is("(") || t[k].is("[") || t[k].is("{")) k = closing(t, k);
      list |= t[k].is(",");
    }
    if (list || close == open + 1) continue;
    const char* const kind = !array.object.empty()                ? "pointed"
                             : array.subscripts > array.first + 1 ? "member"
                                                                  : "local";
    std::string front = std::string("::isomer::emulator::") + kind + "_index<decltype(" + array.name + "), " +
                        std::to_string(level) + ", " + std::to_string(what) + ">(";
    std::string back = ", " + quoted(array.name) +
                       (array.object.empty() ? "" : ", " + array.object + ", " + array.name) + ")";
    if (array.use != nullptr) {
      const bool writes = array.use->second == Use::writes;
      const std::string written = "isomer_w_" + array.name;
      if (close + 1 < last) {
        front = written + ".template row<" + std::to_string(level) + ">(" + front;
        back += ")";
      } else {
        front = written + (writes ? ".writes(" : ".needs(") + front;
        back += writes ? ")" : ", " + quoted(array.name) + ")";
      }
    }
    s.edits.insert(t[open].end(), front);
    closers.emplace_back(t[close].offset, back);
  }
}

/// The arrays that are members of what begins at `i`: `x.values[i]`, `list[2].parts.values[i]`; and behind a
/// pointer, `p->parts.values[i]`, where nothing in front of the array is computed: it is named twice.
void guard_members(Source& s, std::size_t i, Closers& closers) {
  const Tokens& t = s.text.tokens;
  std::size_t arrow = 0;
  for (std::size_t k = past_subscripts(t, i + 1);
       (t[k].is(".") || t[k].is("->")) && t[k + 1].kind == Token::name; k = past_subscripts(t, k)) {
    if (t[k].is("->")) arrow = k;
    k += 2;
    if (!t[k].is("[")) continue;
    guard_subscripts(s, {i, k, s.written(i, k), nullptr, arrow != 0 ? s.written(i, arrow) : ""}, closers);
    if (arrow != 0) return;
  }
}

}  // namespace

void watch_local_values(Source& s) {
  const Tokens& t = s.text.tokens;
  for (const Function& f : s.outline.functions) {
    if (!f.definition || !(f.global || f.device) || f.constant_expression) continue;
    const std::vector<Local> locals = locals_of(s, f);
    std::map<std::string_view, const Local*> arrays;
    std::set<std::size_t> declared;
    std::map<std::size_t, Use> tracked;  // by the token of the use
    for (const Local& local : locals) {
      declared.insert(local.name);
      if (!local.sizes.empty() && !local.indirect) arrays.emplace(t[local.name].text, &local);
      constexpr std::size_t kMostSubscripts = 4;
      if (local.initialised || local.indirect || local.of_loop || !local.arithmetic ||
          local.sizes.size() > kMostSubscripts)
        continue;
      std::vector<std::pair<std::size_t, Use>> uses;
      if (is_declared_again(t, f, locals, local) || !uses_of(t, f, local, uses)) continue;
      tracked.insert(uses.begin(), uses.end());
      const std::string name(t[local.name].text);
      s.edits.insert(t[local.end].end(), local.sizes.empty()
                                             ? " ::isomer::emulator::Written isomer_w_" + name + ";"
                                             : " ::isomer::emulator::WrittenElements<decltype(" + name +
                                                   ")> isomer_w_" + name + ";");
    }
    Closers closers;
    for (std::size_t i = f.body; i < f.end; ++i) {
      if (t[i].kind != Token::name || declared.count(i) != 0 || is_member(t, i)) continue;
      const auto known = tracked.find(i);
      const std::string name(t[i].text);
      if (t[i + 1].is(".") || t[i + 1].is("[") || t[i + 1].is("->")) guard_members(s, i, closers);
      if (!t[i + 1].is("[")) {
        if (known == tracked.end() || known->second == Use::copies) continue;
        s.edits.insert(t[i].offset, known->second == Use::writes
                                        ? "(isomer_w_" + name + ".now(), "
                                        : "(isomer_w_" + name + ".needed(" + quoted(name) + "), ");
        closers.emplace_back(t[i].end(), ")");
        continue;
      }
      if (arrays.count(t[i].text) != 0 && !follows_type(t, i)) {
        const Tracked* watched = known == tracked.end() || known->second == Use::copies ? nullptr : &*known;
        guard_subscripts(s, {i, i + 1, name, watched}, closers);
      }
    }
    for (auto closer = closers.rbegin(); closer != closers.rend(); ++closer)
      s.edits.insert(closer->first, closer->second);
  }
}

}  // namespace isomer::emulator::source
