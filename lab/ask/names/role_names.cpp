#include "lab/ask/names/role_names.hpp"

#include "lab/ask/names/stride_names.hpp"
#include "lab/text/lower_case.hpp"
#include "lab/text/pattern.hpp"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <string>
#include <string_view>

namespace isomer::lab {
namespace {

using Kind = Parameter::Kind;

enum class Side : std::uint8_t { none, first, second };

/// What a name says of a tensor, or what a role is.
struct Said {
  bool output = false, input = false, scale = false, lse = false;
  Side side = Side::none;
};

/// The words of prefix_output, outScale or B_s, in lower case.
std::vector<std::string> words_said(const std::string& name) {
  std::string apart;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool upper = std::isupper(static_cast<unsigned char>(name[i])) != 0;
    if (i > 0 && upper && std::islower(static_cast<unsigned char>(name[i - 1])) != 0) apart += '_';
    apart += name[i];
  }
  return words_of(apart);
}

bool holds_any(const std::vector<std::string>& words, std::initializer_list<std::string_view> wanted) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return std::find(wanted.begin(), wanted.end(), word) != wanted.end();
  });
}

Said said_by_role(const Port::Role& role) {
  Said said;
  const std::string argument = lower_case(role.argument);
  said.output = role.output;
  said.input = !role.output;
  said.lse = argument.find("lse") != std::string::npos;
  said.scale = argument == "s" || argument.ends_with("_s") || argument.find("scale") != std::string::npos;
  if (argument.ends_with("_a") || argument == "a" || argument.starts_with("a_")) said.side = Side::first;
  if (argument.ends_with("_b") || argument == "b" || argument.starts_with("b_")) said.side = Side::second;
  return said;
}

Said said_by_name(const std::string& name, bool op_has_lse) {
  const std::vector<std::string> words = words_said(name);
  Said said;
  said.output = holds_any(words, {"out", "output", "outputs", "o", "y", "c", "dst", "result", "res", "ret",
                                  "merged", "combined", "quantized", "quant", "xq", "yq", "dequantized"});
  said.input = holds_any(words, {"in", "input", "inputs", "x", "src", "prefix", "suffix"});
  const bool s = holds_any(words, {"s"});
  said.lse = op_has_lse && (s || holds_any(words, {"lse", "lses", "logsumexp", "logexpsum", "se", "lsed"}));
  said.scale = !op_has_lse && (s || holds_any(words, {"scale", "scales", "sf", "sfs", "scaling", "sfa", "sfb",
                                                      "as", "bs", "ws", "xs", "inv"}));
  if (holds_any(words, {"a", "prefix", "left", "first", "lhs", "act", "activation", "activations", "as",
                        "sfa", "1", "0", "xs", "x", "p"}))
    said.side = Side::first;
  if (holds_any(words, {"b", "suffix", "right", "second", "rhs", "w", "weight", "weights", "other", "bs",
                        "sfb", "2", "ws"}))
    said.side = Side::second;
  return said;
}

/// dQ or d_weight, as host code calls memory of the device: what stands behind the d. Itself where none does.
std::string without_device(const std::string& name) {
  if (name.size() < 2 || name[0] != 'd') return name;
  if (name[1] == '_' && name.size() > 2) return name.substr(2);
  return std::isupper(static_cast<unsigned char>(name[1])) != 0 ? name.substr(1) : name;
}

/// "key_cache" or "v_pages": the role that the first words of a name are called by; −1 where they are none.
int role_of_first_words(const Port& port, const std::string& name) {
  std::string joined;
  int role = -1;
  for (const std::string& word : words_said(name)) {
    joined += word;
    if (const int found = port.role_of(joined); found >= 0) role = found;
  }
  return role;
}

double agreement(bool of_role, bool of_name) { return of_role && of_name ? 3 : of_role != of_name ? -4 : 0; }

/// What the type of its elements says of a parameter being that role.
double fit_of_element(const Port& port, std::size_t role, const Parameter& p) {
  const int at = port.oracle->contract->index_of(port.roles[role].argument);
  if (at < 0 || p.element == DType::none) return 0;
  const auto& dtypes = port.oracle->contract->args[static_cast<std::size_t>(at)].dtypes;
  if (std::find(dtypes.begin(), dtypes.end(), p.element) != dtypes.end()) return 1;
  const bool wide = std::any_of(dtypes.begin(), dtypes.end(),
                                [&](DType dtype) { return size_of(dtype) == size_of(p.element); });
  return wide ? 0 : -4;
}

/// What speaks for a parameter being that role; not above 0 where nothing does.
double fit(const Port& port, std::size_t role, const Parameter& p, bool op_has_lse, bool op_has_sides) {
  double score = 0;
  const Port::Role& of = port.roles[role];
  if (is_of_no_op(port, p) || is_cleared_room(port, p)) return -10;
  if (p.is_const && p.kind == Kind::pointer && of.output) return -10;
  const double held = fit_of_element(port, role, p);
  if (port.role_of(p.name) == static_cast<int>(role) ||
      port.role_of(without_device(p.name)) == static_cast<int>(role))
    // The op's name on memory of other elements, such as the weight that a weight is spread into.
    score += held < 0 && !p.is_const ? 0 : 10;
  else if (role_of_first_words(port, p.name) == static_cast<int>(role))
    score += 5;
  const Said wanted = said_by_role(of), got = said_by_name(p.name, op_has_lse);
  // "output" beside "output_q": the plain word is the first of the outputs, whichever it is.
  if (got.output != got.input || of.output != got.output)
    score += of.output ? (got.output ? 3 : got.input ? -4 : 0) : got.output && !got.input ? -4 : 0;
  if (!of.output && got.input) score += 1;
  score += agreement(wanted.scale, got.scale) + agreement(wanted.lse, got.lse);
  if (op_has_sides && wanted.side != Side::none)
    score += got.side == wanted.side ? 3 : got.side == Side::none ? -1 : -4;
  return score + held;
}

/// The assignment with the highest sum, by going through all of them; few enough, for ops have few tensors.
struct Assignment {
  const std::vector<std::vector<double>>& scores;  ///< by parameter and role
  std::vector<int> best, now;
  std::vector<bool> used;
  double most = -1;

  void from(std::size_t at, double sum) {
    if (at == scores.size()) {
      if (sum <= most) return;
      most = sum;
      best = now;
      return;
    }
    for (std::size_t role = 0; role < used.size(); ++role) {
      if (used[role] || scores[at][role] <= 0) continue;
      used[role] = true;
      now[at] = static_cast<int>(role);
      // Of two that fit as well, the original's order.
      from(at + 1, sum + scores[at][role] - 0.01 * static_cast<double>(role) / static_cast<double>(at + 1));
      used[role] = false;
    }
    now[at] = -1;
    from(at + 1, sum);
  }
};

}  // namespace

bool is_of_no_op(const Port& port, const Parameter& parameter) {
  return is_lent_room(port, parameter) ||
         (port.role_of(parameter.name) < 0 &&
          holds_any(words_said(parameter.name), {"mask", "masks", "bias", "alibi", "workspace", "scratch",
                                                 "ms", "temp", "tmp", "score", "scores", "probs"}));
}

bool is_lent_room(const Parameter& parameter) {
  return parameter.kind == Kind::pointer && !parameter.is_const &&
         holds_any(words_said(parameter.name),
                   {"workspace", "scratch", "temp", "tmp", "work", "ws", "wrk", "work0", "work1", "tmp0",
                    "tmp1", "buf0", "buf1", "scratch0", "scratch1"});
}

bool is_lent_room(const Port& port, const Parameter& parameter) {
  if (parameter.kind != Kind::pointer || parameter.is_const || port.role_of(parameter.name) >= 0)
    return false;
  const std::vector<std::string> words = words_said(parameter.name);
  return is_lent_room(parameter) || holds_any(words, {"score", "scores", "probs"}) ||
         (port.op == "attention" &&
          (holds_any(words, {"partial", "partials", "buf", "buffer"}) ||
           (holds_any(words, {"att", "satt", "attn"}) && !said_by_name(parameter.name, false).output)));
}

bool is_cleared_room(const Port& port, const Parameter& parameter) {
  return port.role_of(parameter.name) < 0 && is_cleared_room(parameter);
}

bool is_cleared_room(const Parameter& parameter) {
  if (parameter.kind != Kind::pointer || parameter.is_const || parameter.has_default ||
      is_float(parameter.element))
    return false;
  return holds_any(
      words_said(parameter.name),
      {"flag",      "flags",      "status", "error",    "errors",  "err",     "counter", "counters",
       "semaphore", "semaphores", "lock",   "locks",    "ticket",  "tickets", "barrier", "barriers",
       "sync",      "overflow",   "done",   "finished", "arrived", "nan",     "nans",    "invalid"});
}

std::string pages_of(const Entry& entry, const Port& port) {
  static const Pattern kPages(
      "(block|page)_?(tables?|indices|list|map|ids)(_ptr)?|kv_(indices|indptr|page_indices)");
  for (const Parameter& p : entry.parameters)
    if (kPages.is(lower_case(p.name)) && port.role_of(p.name) < 0) return p.name;
  return {};
}

std::vector<int> roles_by_words(const Entry& entry, const Port& port) {
  std::vector<int> role_at(entry.parameters.size(), -1);
  bool lse = false, first = false, second = false;
  for (const Port::Role& role : port.roles) {
    if (!role.tensor) continue;
    const Said said = said_by_role(role);
    lse = lse || said.lse;
    first = first || said.side == Side::first;
    second = second || said.side == Side::second;
  }
  std::vector<std::size_t> memory;
  for (std::size_t i = 0; i < entry.parameters.size(); ++i) {
    const Parameter& p = entry.parameters[i];
    const bool takes = p.kind == Kind::tensor || p.kind == Kind::optional_tensor || p.kind == Kind::pointer;
    if (takes && !p.name.empty() && array_name(p).what == Passing::What::none) memory.push_back(i);
  }
  constexpr std::size_t kMost = 9;  // more parameters than any op has tensors: their order says more
  if (memory.empty() || memory.size() > kMost) return role_at;
  std::vector<std::vector<double>> scores;
  for (const std::size_t i : memory) {
    scores.emplace_back();
    for (std::size_t role = 0; role < port.roles.size(); ++role)
      scores.back().push_back(
          port.roles[role].tensor ? fit(port, role, entry.parameters[i], lse, first && second) : -10);
  }
  Assignment assignment{
      scores, {}, std::vector<int>(memory.size(), -1), std::vector<bool>(port.roles.size())};
  assignment.from(0, 0);
  for (std::size_t i = 0; i < memory.size(); ++i) role_at[memory[i]] = assignment.best[i];
  return role_at;
}

}  // namespace isomer::lab
