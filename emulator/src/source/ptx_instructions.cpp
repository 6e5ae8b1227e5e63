// Inline PTX of the kinds that people write: each instruction becomes C++ (isomer_emulator/ptx.h) by a table.
// What the table lacks is refused by name.
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "source/ptx.hpp"
#include "source/ptx_matrices.hpp"
#include "source/ptx_operands.hpp"
#include "source/ptx_table.hpp"
#include "source/ptx_text.hpp"

namespace isomer::emulator::source {
namespace {

/// One asm statement.
class Assembly {
 public:
  Assembly(std::map<std::string, std::string> operands, bool jumps)
      : operands_(std::move(operands)), jumps_(jumps) {}

  std::string translate(const std::string& text) {
    waits_only_ = only_waits(text);
    std::string out, statement;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      const std::string so_far = trimmed(statement);
      if (so_far.empty() && (c == '{' || c == '}')) {
        out += c;
      } else if (c == ';') {
        out += one(so_far);
        statement.clear();
      } else if (c == ':' && is_label(so_far) && text.compare(i, 2, "::") != 0) {
        labels_.insert(label(so_far));
        out += label(so_far) + ":; ";
        statement.clear();
      } else {
        statement += c;
      }
    }
    out += one(trimmed(statement));
    for (const std::string& each : targets_)
      if (labels_.count(each) == 0) throw Unknown{};
    if (labels_.empty()) return declarations_ + out;
    // Labels of this statement alone, and no declaration between a jump and its label.
    std::string local;
    for (const std::string& each : labels_) local += (local.empty() ? "__label__ " : ", ") + each;
    return "{ " + local + "; " + declarations_ + out + " }";
  }
  const std::string& failed() const { return failed_; }

 private:
  std::string one(std::string statement) {
    if (statement.empty()) return "";
    std::string guard;
    if (statement[0] == '@') {
      const auto end = statement.find_first_of(" \t\n");
      std::string p = statement.substr(1, end - 1);
      const bool negated = p[0] == '!';
      guard = fmt::format("if ({}as<bool>({})) ", negated ? "!" : "", operand(negated ? p.substr(1) : p));
      statement = trimmed(statement.substr(end));
    }
    const auto end = statement.find_first_of(" \t\n{[%");
    const std::string name = statement.substr(0, end);
    failed_ = name.empty() ? statement : name;
    if (name.empty()) throw Unknown{};
    const Words operands = end == std::string::npos ? Words{} : split(statement.substr(end), ',');
    if (name == ".reg") return declared(operands);
    if (name == "bra" || name == "bra.uni") return guard + jump(operands.at(0));
    return guard + "{ " + instruction(name, split(name, '.'), operands) + "; } ";
  }

  /// Who jumps back looks again, and lets other threads run.
  std::string jump(const std::string& to) {
    if (!is_label(to)) throw Unknown{};
    targets_.insert(label(to));
    const bool back = labels_.count(label(to)) != 0;
    return std::string("{ ") + (back ? "::isomer::emulator::patience(); " : "") + "goto " + label(to) +
           "; } ";
  }

  /// `.reg .b32 a, b<4>`
  std::string declared(Words names) {
    const auto blank = names.at(0).find_first_of(" \t");
    const auto type = type_of(names.at(0).substr(1, blank - 1));
    if (!type || blank == std::string::npos) throw Unknown{};
    names[0] = trimmed(names[0].substr(blank));
    std::string out;
    const auto add = [&](const std::string& name) {
      const std::string variable = "isomer_" + name.substr(name[0] == '%');
      const auto before = registers_.find(variable);
      // Of two scopes, in one that jumps.
      if (jumps_ && before != registers_.end() && before->second != *type) throw Unknown{};
      if (!jumps_ || before == registers_.end())
        (jumps_ ? declarations_ : out) += fmt::format("{} {}{{}}; ", *type, variable);
      registers_[variable] = *type;
      operands_.name(name, variable);
    };
    for (const std::string& name : names) {
      const auto many = name.find('<');
      if (many == std::string::npos) {
        add(name);
        continue;
      }
      for (int i = 0; i < std::stoi(name.substr(many + 1)); ++i)
        add(name.substr(0, many) + std::to_string(i));
    }
    return out;
  }

  std::string operand(const std::string& text) const { return operands_.operand(text); }
  Words vector(const std::string& text) const { return operands_.vector(text); }
  std::string address(const std::string& text) const { return operands_.address(text); }

  std::string filled(std::string expression, const std::string& type, const Words& operands) const {
    std::string out;
    for (std::size_t i = 0; i < expression.size(); ++i) {
      const char c = expression[i];
      const char next = i + 1 < expression.size() ? expression[i + 1] : ' ';
      if ((c == '$' || c == '%') && std::isdigit(next)) {
        const auto which = static_cast<std::size_t>(next - '0');
        if (which >= operands.size()) throw Unknown{};
        out += c == '$' ? fmt::format("as<T>({})", operand(operands[which])) : operand(operands[which]);
        ++i;
      } else {
        out += c;
      }
    }
    return type.empty() ? out : "using T = " + type + "; " + out;
  }

  std::string instruction(const std::string& name, const Words& parts, const Words& operands) const {
    const std::string& base = parts[0];
    if (base == "ld" || base == "st" || base == "ldu") return moved(parts, operands);
    if (base == "atom" || base == "red") return atomic(parts, operands);
    if (base == "membar") {
      const std::string& reach = parts.at(1);
      return fmt::format("isomer_emulator_fence({})", reach == "cta" ? 0 : reach == "gl" ? 1 : 2);
    }
    if (base == "fence" && !has(parts, "proxy") && !has(parts, "mbarrier_init"))
      return fmt::format("isomer_emulator_fence({})", has(parts, "cta") ? 0 : has(parts, "gpu") ? 1 : 2);
    if (base == "bar" || (base == "barrier" && !has(parts, "cluster"))) {
      if (name == "bar.warp.sync") return filled("__syncwarp(as<u32>(%0))", "", operands);
      const bool arrives = has(parts, "arrive");
      if ((!has(parts, "sync") && !arrives) || operands.empty()) throw Unknown{};
      if (operands.size() == 1 && operands[0] == "0" && !arrives) return "isomer_emulator_barrier(0, 0)";
      return fmt::format("isomer_emulator_named_{}(as<u32>({}), {})", arrives ? "arrive" : "barrier",
                         operand(operands[0]),
                         operands.size() > 1 ? "as<u32>(" + operand(operands[1]) + ")" : "0");
    }
    if (base == "shfl") return shuffle(parts, operands);
    if (base == "vote") return vote(parts, operands);
    if (base == "activemask") return fmt::format("put({}, u32(__activemask()))", operand(operands.at(0)));
    if (base == "cvt") return converted(parts, operands);
    if (base == "setp") return compared(parts, operands);
    if (base == "elect") return elected(operands);
    if (base == "cp" && parts.size() > 4 && parts[1] == "async" && parts[4] == "global" &&
        (parts[3] == "shared" || parts[3] == "shared::cta")) {
      const std::string most = operands.size() > 3 && operands[3][0] != '%' && !std::isdigit(operands[3][0])
                                   ? operands.at(2)
                               : operands.size() > 3 ? operands[3]
                                                     : operands.at(2);
      return fmt::format("copy_to_shared<{}>({}, {}, as<u32>({}))", operand(operands.at(2)),
                         address(operands.at(0)), address(operands.at(1)), operand(most));
    }
    if (const std::string code = ptx_of_matrices(parts, operands, operands_); !code.empty()) return code;
    if (const std::string expression = ptx_of_units(parts, operands.size(), waits_only_); !expression.empty())
      return of_units(expression, operands);
    for (const PtxRow& row : ptx_actions()) {
      if (name == row.name || name.rfind(row.name + std::string("."), 0) == 0) return row.expression;
    }
    return value(parts, operands);
  }
  /// `#1`: a number; `&1`: an address; `@1`: one in shared memory; `=1`: what is written, `_` for nothing.
  std::string of_units(const std::string& expression, const Words& operands) const {
    std::string out, to;
    for (std::size_t i = 0; i < expression.size(); ++i) {
      const char c = expression[i];
      if (c != '#' && c != '&' && c != '@' && c != '=') {
        out += c;
        continue;
      }
      const std::string& text = operands.at(static_cast<std::size_t>(expression[++i] - '0'));
      if (c == '#') out += "as<u32>(" + operand(text) + ")";
      if (c == '&') out += "reinterpret_cast<void*>(" + address(text) + ")";
      if (c == '@') out += "in_shared(" + address(text) + ")";
      if (c == '=' && text != "_") to = operand(text);
    }
    return to.empty() ? "static_cast<void>(" + out + ")" : fmt::format("put({}, {})", to, out);
  }

  /// The longest name of the table with which the instruction begins; what stands between it and the type is
  /// a rounding or a hint.
  std::string value(const Words& parts, const Words& operands) const {
    const PtxRow* row = nullptr;
    std::size_t longest = 0;
    for (const PtxRow& r : ptx_values()) {
      const Words of = split(r.name, '.');
      if (of.size() > parts.size() || of.size() < longest) continue;
      bool same = true;
      for (std::size_t i = 0; i < of.size(); ++i) same &= of[i] == parts[i];
      if (same) row = &r, longest = of.size();
    }
    static const std::set<std::string> modifiers = {"rn",     "approx", "ftz",   "full",  "sat", "to",
                                                    "global", "shared", "local", "const", "lo",  "b32"};
    const auto type = type_of(parts.back());
    if (row == nullptr || !type || operands.empty()) throw Unknown{};
    for (std::size_t i = longest; i + 1 < parts.size(); ++i)
      if (modifiers.count(parts[i]) == 0) throw Unknown{};
    // From a pointer to the 32-bit address of shared memory.
    const bool saturates = has(parts, "sat") && (*type == "f32" || *type == "f64");
    if (has(parts, "sat") && !saturates) throw Unknown{};
    if (parts[0] == "cvta" && has(parts, "shared")) {
      if (!has(parts, "to"))
        return fmt::format("put({}, as<u64>(at<u8>(true, as<u64>({}))))", operand(operands.at(0)),
                           operand(operands.at(1)));
      return fmt::format("put({}, u64(isomer_emulator_shared_address(as<void*>({}))))",
                         operand(operands.at(0)), operand(operands.at(1)));
    }
    const Words to = vector(operands[0]);
    if (to.size() > 1 || operands.at(1)[0] == '{') return packed(*type, operands);
    Words shifted = operands;
    std::string e = filled(row->expression, "", shifted);
    e = saturates ? fmt::format("least<T>(T(1), greatest<T>(T(0), {}))", e) : e;
    const bool keeps =
        std::string_view(row->expression).substr(0, 4) == "mul_" || parts[0] == "popc" || parts[0] == "clz" ||
        parts[0] == "bfind" ||
        row->expression == std::string_view("mul_wide<T>($1, $2) + as<typename Wide<T>::type>(%3)");
    return fmt::format("using T = {}; put({}, {})", *type, to[0], keeps ? e : "static_cast<T>(" + e + ")");
  }
  /// `mov.b32 {lo, hi}, x` and back.
  std::string packed(const std::string& type, const Words& operands) const {
    const Words to = vector(operands[0]), from = vector(operands.at(1));
    if (to.size() == from.size()) throw Unknown{};
    const Words& parts = to.size() > from.size() ? to : from;
    const std::string whole = to.size() > from.size() ? from[0] : to[0];
    const std::string part = fmt::format("isomer_part_t<{}, {}>", type, parts.size());
    std::string out = fmt::format("Several<{}, {}> isomer_all; ", part, parts.size());
    if (to.size() > from.size()) {
      out += fmt::format(
          "const {0} isomer_whole = as<{0}>({1}); __builtin_memcpy(&isomer_all, &isomer_whole, "
          "sizeof isomer_whole); ",
          type, whole);
      for (std::size_t i = 0; i < parts.size(); ++i)
        out += fmt::format("put({}, isomer_all.v[{}]); ", parts[i], i);
    } else {
      for (std::size_t i = 0; i < parts.size(); ++i)
        out += fmt::format("isomer_all.v[{}] = as<{}>({}); ", i, part, parts[i]);
      out += fmt::format("put({}, as<{}>(isomer_all))", whole, type);
    }
    return out;
  }

  std::string moved(const Words& parts, const Words& operands) const {
    const auto type = type_of(parts.back());
    if (!type || operands.size() < 2) throw Unknown{};
    const bool loads = parts[0] != "st",
               shared = has(parts, "shared") || has(parts, "shared::cta") || has(parts, "shared::cluster");
    if (has(parts, "param") || has(parts, "async")) throw Unknown{};
    const std::string order = has(parts, "volatile")                           ? "is_volatile"
                              : has(parts, "acquire") || has(parts, "release") ? "ordered"
                              : has(parts, "relaxed") || has(parts, "mmio")    ? "relaxed"
                                                                               : "plain";
    const std::string at = address(operands[loads ? 1 : 0]);
    const Words values = vector(operands[loads ? 0 : 1]);
    const std::string where = fmt::format("{}, {}", shared, at);
    const std::string reach = has(parts, "cta") && order != "plain" ? "const Reach_block isomer_reach; " : "";
    if (values.size() == 1) {
      if (loads)
        return fmt::format("{}put({}, load<{}, Order::{}>({}))", reach, values[0], *type, order, where);
      return fmt::format("{}store<{}, Order::{}>({}, as<{}>({}))", reach, *type, order, where, *type,
                         values[0]);
    }
    std::string out = fmt::format("Several<{}, {}> isomer_all", *type, values.size());
    if (loads) out += fmt::format(" = load_several<{}, {}>({})", *type, values.size(), where);
    for (std::size_t i = 0; i < values.size(); ++i)
      out += loads ? fmt::format("; put({}, isomer_all.v[{}])", values[i], i)
                   : fmt::format("; isomer_all.v[{}] = as<{}>({})", i, *type, values[i]);
    if (!loads) out += fmt::format("; store_several<{}, {}>({}, isomer_all)", *type, values.size(), where);
    return out;
  }

  std::string atomic(const Words& parts, const Words& operands) const {
    static const std::map<std::string, std::string> names = {
        {"add", "Add"}, {"min", "Min"}, {"max", "Max"}, {"and", "And"},   {"or", "Or"},
        {"xor", "Xor"}, {"inc", "Inc"}, {"dec", "Dec"}, {"exch", "Exch"}, {"cas", "CAS"}};
    const auto type = type_of(parts.back());
    const bool gives = parts[0] == "atom";
    if (!type || operands.size() < (gives ? 3u : 2u)) throw Unknown{};
    std::string call;
    for (const std::string& part : parts)
      if (const auto found = names.find(part); found != names.end()) call = found->second;
    if (call.empty()) throw Unknown{};
    const std::size_t first = gives ? 1 : 0;
    std::string arguments;
    for (std::size_t i = first + 1; i < operands.size(); ++i)
      arguments += fmt::format(", as<{}>({})", *type, operand(operands[i]));
    const char* scope = has(parts, "cta") ? "_block" : has(parts, "sys") ? "_system" : "";
    std::string e = fmt::format("atomic{}{}(at<{}>({}, {}){})", call, scope, *type, has(parts, "shared"),
                                address(operands[first]), arguments);
    const bool before = has(parts, "release") || has(parts, "acq_rel"),
               behind = has(parts, "acquire") || has(parts, "acq_rel");
    const std::string fence = fmt::format("isomer_emulator_fence({})", has(parts, "cta") ? 0 : 1);
    if (gives) e = fmt::format("put({}, {})", operand(operands[0]), e);
    return (before ? fence + "; " : "") + e + (behind ? "; " + fence : "");
  }

  std::string shuffle(const Words& parts, const Words& operands) const {
    if (parts.size() < 4 || parts[1] != "sync" || operands.size() < 5) throw Unknown{};
    const char mode = parts[2] == "up" ? 'u' : parts[2] == "down" ? 'd' : parts[2] == "bfly" ? 'b' : 'i';
    const auto bar = operands[0].find('|');
    std::string out = fmt::format(
        "bool isomer_in = false; put({}, shfl('{}', as<u32>({}), as<u32>({}), as<u32>({}), as<u32>({}), "
        "isomer_in))",
        operand(trimmed(operands[0].substr(0, bar))), mode, operand(operands[1]), operand(operands[2]),
        operand(operands[3]), operand(operands[4]));
    if (bar != std::string::npos)
      out += fmt::format("; put({}, isomer_in)", operand(trimmed(operands[0].substr(bar + 1))));
    return out;
  }
  /// `elect.sync d|p, mask`: the first of the lanes.
  std::string elected(const Words& operands) const {
    const auto bar = operands.at(0).find('|');
    if (bar == std::string::npos || operands.size() != 2) throw Unknown{};
    const std::string lane = trimmed(operands[0].substr(0, bar));
    std::string out = "const u32 isomer_first = u32(__builtin_ctz(as<u32>(" + operand(operands[1]) + ")))";
    if (lane != "_") out += fmt::format("; put({}, isomer_first)", operand(lane));
    return out + fmt::format("; put({}, isomer_emulator_lane() == isomer_first)",
                             operand(trimmed(operands[0].substr(bar + 1))));
  }
  std::string vote(const Words& parts, const Words& operands) const {
    // The assembler takes both orders: vote.sync.ballot and vote.ballot.sync.
    if (parts.size() < 4 || (parts[1] != "sync" && parts[2] != "sync") || operands.size() < 3)
      throw Unknown{};
    static const std::map<std::string, const char*> calls = {
        {"ballot", "__ballot_sync"}, {"any", "__any_sync"}, {"all", "__all_sync"}};
    const auto found = calls.find(parts[parts[1] == "sync" ? 2 : 1]);
    if (found == calls.end()) throw Unknown{};
    return fmt::format("put({}, {}(as<u32>({}), as<bool>({})))", operand(operands[0]), found->second,
                       operand(operands[2]), operand(operands[1]));
  }

  std::string converted(const Words& parts, const Words& operands) const {
    const std::string &from = parts.back(), &to = parts.at(parts.size() - 2);
    std::string way = "n";
    bool integer = to[0] != 'f' && from[0] == 'f';
    if (integer) way = "z";
    for (const std::string& part : parts) {
      if (part == "rn" || part == "rni") way = part == "rni" && from == to ? "i" : "n";
      if (part == "rz" || part == "rzi") way = "z";
      if (part == "rm" || part == "rmi") way = "m";
      if (part == "rp" || part == "rpi") way = "p";
      // What has a floating value becomes the nearest that the integer holds, with .sat and without.
      if (part == "sat" && integer) continue;
      if (part == "sat" || part == "relu" || part == "satfinite") throw Unknown{};
    }
    const std::string out = operand(operands.at(0));
    if (operands.size() == 3 && from == "f32" && (to == "f16x2" || to == "bf16x2") && way == "n")
      return fmt::format("put({0}, u32({1}(as<f32>({2}))) << 16 | {1}(as<f32>({3})))", out,
                         to == "f16x2" ? "f16_of" : "bf16_of", operand(operands[1]), operand(operands[2]));
    const std::string in = operand(operands.at(1));
    if (from == "f32" && (to == "f16" || to == "bf16") && way == "n")
      return fmt::format("put({}, {}_of(as<f32>({})))", out, to, in);
    if (to == "f32" && (from == "f16" || from == "bf16"))
      return fmt::format("put({}, of_{}(as<u16>({})))", out, from, in);
    if (to == "tf32" && from == "f32") {
      // To nearest, ties away from zero.
      return fmt::format("put({}, (as<u32>({}) + 0x1000u) & 0xffffe000u)", out, in);
    }
    const auto t = type_of(to), f = type_of(from);
    if (!t || !f) throw Unknown{};
    return fmt::format("put({}, cvt<{}, {}>(as<{}>({}), '{}'))", out, *t, *f, *f, in, way);
  }
  std::string compared(const Words& parts, const Words& operands) const {
    static const std::map<std::string, const char*> marks = {
        {"eq", "=="}, {"ne", "!="}, {"lt", "<"},  {"le", "<="}, {"gt", ">"},
        {"ge", ">="}, {"lo", "<"},  {"ls", "<="}, {"hi", ">"},  {"hs", ">="}};
    const auto type = type_of(parts.back());
    const auto mark = marks.find(parts.at(1));
    if (!type || mark == marks.end() || parts.size() != 3 || operands.size() != 3) throw Unknown{};
    const auto bar = operands[0].find('|');
    std::string out = fmt::format("const bool isomer_is = as<{0}>({1}) {2} as<{0}>({3}); put({4}, isomer_is)",
                                  *type, operand(operands[1]), mark->second, operand(operands[2]),
                                  operand(trimmed(operands[0].substr(0, bar))));
    if (bar != std::string::npos)
      out += fmt::format("; put({}, !isomer_is)", operand(trimmed(operands[0].substr(bar + 1))));
    return out;
  }

  PtxOperands operands_;
  std::map<std::string, std::string> registers_;
  std::set<std::string> labels_, targets_;
  std::string declarations_;  ///< of one that jumps
  bool jumps_, waits_only_ = false;
  std::string failed_;
};

}  // namespace

PtxAsCpp translated_ptx(const std::string& text, std::map<std::string, std::string> operands) {
  Assembly assembly(std::move(operands), text.find("bra") != std::string::npos);
  try {
    return {qualified(assembly.translate(text)), ""};
  } catch (const Unknown&) {
  } catch (const std::exception&) {
    // An operand that is missing, or a number that is none.
  }
  return {"", assembly.failed()};
}

}  // namespace isomer::emulator::source
