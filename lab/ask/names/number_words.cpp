#include "lab/ask/names/number_words.hpp"

#include "lab/ask/names/size_names.hpp"
#include "lab/ask/names/stride_names.hpp"
#include "lab/text/lower_case.hpp"
#include "lab/text/pattern.hpp"

#include <algorithm>
#include <cctype>
#include <optional>

namespace isomer::lab {
namespace {

using What = Passing::What;

bool is_scale(const std::string& argument) {
  return argument == "s" || argument.ends_with("_s") || argument.find("scale") != std::string::npos;
}

/// "num_q", "query_length" or "num_kv", "current_seq_len", "max_cache_tokens": the word of a length of
/// queries or of keys that the name says; nothing where it says more than that.
std::string length_said(const std::vector<std::string>& words) {
  static const std::vector<std::string> queries = {"q", "query", "queries"},
                                        keys = {"kv",     "k",    "key",     "keys", "cache",
                                                "cached", "past", "current", "cur",  "max"},
                                        counts = {"num",    "n",         "nr",        "count",
                                                  "total",  "of",        "len",       "length",
                                                  "lens",   "seq",       "sequence",  "seqlen",
                                                  "tokens", "rows",      "positions", "valid",
                                                  "actual", "effective", "used",      "context",
                                                  "ctx",    "history",   "capacity",  "allocated",
                                                  "buf",    "buffer"};
  bool query = false, key = false;
  for (const std::string& word : words) {
    query = query || one_of(queries, word);
    key = key || one_of(keys, word);
    if (!one_of(queries, word) && !one_of(keys, word) && !one_of(counts, word)) return {};
  }
  return words.size() < 2 || query == key ? std::string() : query ? "Sq" : "Sk";
}

/// "offset", "causal_shift", "diagonal_offset", "q_offset", "query_start": from which key on the mask of the
/// first query is counted.
bool moves_the_mask(const std::vector<std::string>& words) {
  static const std::vector<std::string> moved = {"causal", "diagonal", "mask",    "q",
                                                 "query",  "queries",  "position"},
                                        by = {"shift", "offset", "start", "off"};
  if (words.size() == 1) return words[0] == "offset";
  return words.size() == 2 && one_of(moved, words[0]) && one_of(by, words[1]);
}

/// "pos", "cur_pos", "token_position": the place of the one query among the keys.
bool is_position(const Parameter& p) {
  static const Pattern kPosition("((cur|current|start|token|query|q|seq|last)_?)?(pos|position)|timestep");
  return p.kind == Parameter::Kind::integer && kPosition.is(lower_case(p.name));
}

/// "past_len", "n_past": how many keys come before the first query's own.
bool is_past(const Parameter& p) {
  static const Pattern kPast("n_past|(num_)?past(_(kv|seq|k))?_?(len(gth)?|tokens)");
  return p.kind == Parameter::Kind::integer && kPast.is(lower_case(p.name));
}

/// "kv_mul", "n_rep", "gqa_ratio", "queries_per_kv": how many heads of queries share one of keys.
bool is_ratio_of_heads(const Parameter& p) {
  static const Pattern kRatio(
      "kv_?(mul|rep|groups?|group_(num|size))|n_?(rep|gqa|groups?)|(gqa|head|heads|q)_?(ratio|factor|"
      "group(s|_size)?|rep)|group_?size|(num_)?(q|queries|q_?heads|heads)_per_(kv|group|kv_?head)");
  return p.kind == Parameter::Kind::integer && kRatio.is(lower_case(p.name));
}

/// "window_size", "sliding_window", "window_left": how many keys a query sees at most. No query of any call
/// has as many as are passed: a negative number, or 0, is no window of some kernels alone.
bool window_of_keys(const Port& port, const Parameter& p, Passing& passing) {
  constexpr double kAllKeys = 1 << 20;
  if (port.op != "attention" || !is_window(p)) return false;
  passing.what = What::constant;
  passing.constant = kAllKeys;
  return true;
}

/// "loff", "layer_offset", "layer": where the keys of a layer begin in a cache of several.
bool is_offset_of_layer(const std::string& name) {
  static const Pattern kLayer("l(ayer)?_?(off|offset)|layer(_?(idx|index|id))?");
  return kLayer.is(lower_case(name));
}

/// "N", "seq_len": where the op's queries have no length, because each entry has one query, that of the keys.
bool length_of_keys_alone(const Port& port, const Parameter& p, Passing& passing) {
  const std::optional<Dimension> keys = dimension_of(port, "Sk");
  if (!keys || dimension_of(port, "Sq") || port.role_of_argument("seqused_k") >= 0 ||
      (lower_case(p.name) != "t" && !one_of(size_names().at("Sq"), lower_case(p.name))))
    return false;
  passing.what = What::size;
  passing.role = keys->role;
  passing.dim = keys->dim;
  return true;
}

/// Sizes of pages and of their table, by the name of a number. How many keys there are at most is left to
/// whoever calls it.
bool number_of_pages(const Port& port, const Parameter& p, Passing& passing) {
  const auto is_table = [](const Port::Role& role) { return role.argument == "page_table"; };
  const auto table = std::find_if(port.roles.begin(), port.roles.end(), is_table);
  const std::optional<Dimension> page = dimension_of(port, "Sk");
  if (table == port.roles.end() || !page) return false;
  static const Pattern kPage("(kv_?)?(block|page)_?(block_?)?size|(tokens|keys)_per_(block|page)"),
      kWidth(
          "max_(num_)?(blocks|pages)(_per_(seq|sequence|request))?|(num_)?(blocks|pages)_per_(seq|sequence|"
          "request)|(block|page)_table_"
          "(stride|width)(_0)?"),
      kPages("(num|n|total)_(kv_)?(blocks|pages)"),
      kMost(
          "max_(kv_|k_)?(seq|context|ctx|kv|cache|num)_?(len(gth)?|tokens)(_k|_kv)?|max_len|max_seqlen(_k)?");
  const std::string name = lower_case(p.name);
  constexpr double kManyKeys = 1024;
  passing.what = What::size;
  passing.role = page->role;
  if (kPage.is(name)) {
    passing.dim = page->dim;
  } else if (kPages.is(name)) {
    passing.dim = page->dim - 1;
  } else if (kWidth.is(name)) {
    passing.role = static_cast<int>(table - port.roles.begin());
    passing.dim = -1;
  } else if (kMost.is(name)) {
    passing.what = What::constant;
    passing.constant = kManyKeys;
  } else {
    passing = Passing();
    return false;
  }
  return true;
}

/// What places the query among the keys, shares the heads of keys or begins a layer, by the name of a number.
bool number_of_cache(const Entry& entry, const Port& port, const Parameter& p, Passing& passing) {
  const std::optional<Dimension> keys = dimension_of(port, "Sk"), queries = dimension_of(port, "Sq"),
                                 heads = dimension_of(port, "Hq"), heads_of_keys = dimension_of(port, "Hkv");
  if (!keys || !queries || !heads || !heads_of_keys) return false;
  const auto of = [&](What what, const Dimension& one, const Dimension& other) {
    passing.what = what;
    passing.role = one.role;
    passing.dim = one.dim;
    passing.less_role = other.role;
    passing.less_dim = other.dim;
    return true;
  };
  passing.counts = is_position(p) || is_past(p);
  if (passing.counts) return of(What::keys_before, *keys, *queries);
  if (is_ratio_of_heads(p)) return of(What::ratio, *heads, *heads_of_keys);
  if (is_offset_of_layer(p.name)) {
    passing.what = What::constant;
    passing.constant = 0;
    return true;
  }
  // Beside the query's place, a length is that of the keys.
  const std::vector<std::string>& lengths = size_names().at("Sq");
  const std::vector<std::string> words = words_of(p.name);
  const bool of_queries = one_of(words, "q") || one_of(words, "query") || one_of(words, "queries");
  if (!takes_a_position(entry) || of_queries || !one_of(lengths, lower_case(p.name))) return false;
  passing.what = What::size;
  passing.role = keys->role;
  passing.dim = keys->dim;
  return true;
}

/// Whether one of the numbers is how many rows, or tokens, there are.
bool counts_rows(const Entry& entry) {
  const std::vector<std::string>&rows = size_names().at("M"), &tokens = size_names().at("S");
  return std::any_of(entry.parameters.begin(), entry.parameters.end(), [&](const Parameter& p) {
    const std::string name = lower_case(p.name);
    return p.kind == Parameter::Kind::integer && (one_of(rows, name) || one_of(tokens, name));
  });
}

/// "out_features" and "in_features": the rows and the columns of a weight, where nothing is multiplied by it.
bool number_of_weight(const Port& port, const Parameter& p, Passing& passing) {
  static const Pattern kRows("out(put)?_(features|dim|size|channels)|d_?out"),
      kColumns("in(put)?_(features|dim|size|channels)|d_?in");
  const bool rows = kRows.is(lower_case(p.name));
  if ((!rows && !kColumns.is(lower_case(p.name))) || dimension_of(port, "K")) return false;
  const std::optional<Dimension> of = dimension_of(port, rows ? "M" : "N");
  if (!of || !dimension_of(port, rows ? "N" : "M")) return false;
  passing.what = What::size;
  passing.role = of->role;
  passing.dim = of->dim;
  return true;
}

/// "prefix_num_tokens": how many tokens have two parts to be merged. All have.
bool tokens_of_first_part(const Port& port, const Parameter& p, Passing& passing) {
  static const Pattern kTokens("(num_)?prefix_(num_)?tokens|num_tokens_with_(prefix|context)");
  if (port.op != "merge_attention" || !kTokens.is(lower_case(p.name))) return false;
  passing.what = What::size;
  passing.role = 0;
  passing.dim = -static_cast<int>(shape_words(port, 0).size());
  return true;
}

/// "row" and "col" of an op of elements, whatever shape they have: how many rows there are, and how long each
/// is.
bool side_of_elements(const Port& port, const Parameter& p, Passing& passing) {
  static const Pattern kRows("rows?|n_?rows?|height"), kColumns("cols?|columns?|n_?cols?|width");
  const bool rows = kRows.is(lower_case(p.name));
  if ((!rows && !kColumns.is(lower_case(p.name))) || port.roles.empty() || !port.roles.front().tensor ||
      shape_words(port, 0) != std::vector<std::string>{"..."})
    return false;
  passing.what = rows ? What::rows : What::size;
  passing.role = 0;
  passing.dim = -1;
  return true;
}

/// "kBlockK" is BlockK, as houses write that name constants with a k in front.
std::string without_letter_of_constants(const std::string& name) {
  const bool constant = name.size() > 2 && name[0] == 'k' &&
                        std::isupper(static_cast<unsigned char>(name[1])) != 0 &&
                        std::islower(static_cast<unsigned char>(name[2])) != 0;
  return constant ? name.substr(1) : name;
}

/// "kv_block_stride", "cache_head_stride", "stride_k_page": a step through caches, however those lie.
bool stride_of_cache(const Port& port, const Parameter& p, Passing& passing) {
  const std::string name = lower_case(p.name);
  const auto step = [&](const char* of) {
    static const std::string caches = "(kv|k|v|key|value)?_?(caches?|pages)?";
    return Pattern(caches + "_" + of + "_stride|stride_" + caches + "_" + of + "|" + caches + "_stride_" + of)
        .is(name);
  };
  const std::optional<Dimension> keys = dimension_of(port, "Sk"), heads = dimension_of(port, "Hkv");
  if (p.kind != Parameter::Kind::integer || !keys || !heads || port.role_of_argument("seqused_k") < 0)
    return false;
  std::optional<Dimension> of;
  if (step("(block|page|batch|seq|b)"))
    of = Dimension{keys->role, 0};
  else if (step("(heads?|h)"))
    of = heads;
  else if (step("(tok(en)?|slot|key|pos|n)"))
    of = keys;
  if (!of) return false;
  const int values = port.role_of_argument("v");
  static const Pattern kValues("(stride_)?v(alue)?_.*");
  passing.what = What::stride;
  passing.role = kValues.is(name) && values >= 0 ? values : of->role;
  passing.dim = of->dim;
  passing.of_the_op = true;
  return true;
}

}  // namespace

std::string without_padding(const std::string& name) {
  static const Pattern kBehind("(\\w+?)_(padded|pad|aligned)"), kBefore("(padded|aligned)_(\\w+)");
  const std::string behind = kBehind.is(name) ? kBehind.replaced(name, "$1") : name;
  return kBefore.is(behind) ? kBefore.replaced(behind, "$2") : behind;
}

bool number_of_experts(const Port& port, const Parameter& p, Passing& passing) {
  static const Pattern kExperts("((num|n)_?)?(local_?)?(experts?|groups?)|(num_)?groups?|e|g"),
      kRows(
          "(max_?m|m_?max|max_?(tokens|rows|num_tokens)(_per_(expert|group))?|m|r|rows_per_(expert|group)|"
          "tokens_per_expert|capacity)");
  const std::string name = lower_case(p.name);
  const int b = port.role_of_argument("b"), a = port.role_of_argument("a");
  if (port.op != "grouped_fp8_gemm" || a < 0 || b < 0) return false;
  passing.what = What::size;
  const bool masked = port.role_of_argument("row_counts") >= 0;
  if (kExperts.is(name)) {
    passing.role = b;
    passing.dim = -3;
  } else if (kRows.is(name) && masked) {
    passing.role = a;
    passing.dim = -2;
  } else {
    passing = Passing();
    return false;
  }
  return true;
}

bool is_window(const Parameter& p) {
  static const Pattern kWindow(
      "((sliding|local|attn|attention|kv)_?)*window(_?(size|len(gth)?|left|width|radius))?|swa(_?size)?");
  return p.kind == Parameter::Kind::integer && kWindow.is(lower_case(p.name));
}

bool is_tile_name(const std::string& name) {
  static const Pattern kTile(
      "b_?[rc]|(block|tile|blk|bk)_?(m|n|q|k|kv|r|c|rows?|cols?|sz|dim|x|y)?|tile_?size(_[a-z]+)?|"
      "(q|kv|k)_?(block|tile)(_?size)?|tile_?(rows?|cols?|len|width)");
  return kTile.is(lower_case(name)) || sizes_launches(name);
}

bool sizes_launches(const std::string& name) {
  static const Pattern kLaunch(
      "(num_?|n_?)?threads(_per_block)?|(threads?_?)?block_?(dim|threads)|(num_?|n_?)?warps|tpb|"
      "(num_?|n_?|grid_?)(blocks|ctas|sms?)|grid(_?(dim|size|x))?|launch_(blocks|threads)");
  return kLaunch.is(lower_case(name));
}

bool is_code_name(const std::string& name) {
  static const Pattern kCode(
      "rule|method|algo(rithm)?|kind|policy|strategy|scheme|impl|"
      "((d|data_?|elem(ent)?_?|scalar_?|in_?|input_?)?type)(_?(code|id|enum|flag))?|(precision|mode|flags?|"
      "layout|version|variant|device(_?id)?|dev)|(is|use)_\\w+");
  return kCode.is(lower_case(name));
}

bool takes_a_position(const Entry& entry) {
  return std::any_of(entry.parameters.begin(), entry.parameters.end(), is_position);
}

bool counts_keys_alone(const Entry& entry) {
  const auto counts = [&](const char* what) {
    return std::any_of(entry.parameters.begin(), entry.parameters.end(), [&](const Parameter& p) {
      return p.kind == Parameter::Kind::integer &&
             (one_of(size_names().at(what), lower_case(p.name)) || length_said(words_of(p.name)) == what);
    });
  };
  return counts("Sk") && !counts("Sq");
}

bool shares_heads(const Entry& entry) {
  return std::any_of(entry.parameters.begin(), entry.parameters.end(), is_ratio_of_heads);
}

bool is_stride_of_cache(const Port& port, const Parameter& p) {
  Passing passing;
  return stride_of_cache(port, p, passing);
}

bool is_step_of_keys(const Port& port, const Parameter& p) {
  static const Pattern kStep("(kv|cache|kv_cache)_stride");
  return port.op == "attention" && p.kind == Parameter::Kind::integer && kStep.is(lower_case(p.name));
}

bool number_by_words(const Entry& entry, const Port& port, const Parameter& p,
                     const std::vector<int>& role_at, Passing& passing) {
  const std::string name = without_letter_of_constants(p.name);
  if (number_of_weight(port, p, passing) || stride_of_cache(port, p, passing) ||
      length_of_keys_alone(port, p, passing) || number_of_pages(port, p, passing) ||
      number_of_cache(entry, port, p, passing) || window_of_keys(port, p, passing) ||
      tokens_of_first_part(port, p, passing) || side_of_elements(port, p, passing))
    return true;
  const std::vector<std::string> words = words_of(name);
  const auto has = [&](const char* word) { return one_of(words, word); };
  static const std::vector<std::string> kSides = {"m", "n", "k", "r", "c", "row", "rows", "col", "cols"};
  const bool side = words.size() == 2 && one_of(kSides, words[1]);
  if ((has("block") || has("group")) && (has("size") || side)) {
    for (int role = 0; role < static_cast<int>(port.roles.size()); ++role) {
      const Port::Role& each = port.roles[static_cast<std::size_t>(role)];
      if (each.tensor || each.argument.find("size") == std::string::npos) continue;
      passing.what = What::role;
      passing.role = role;
      return true;
    }
    return false;
  }
  // Groups that share a scale: as many as there are scales, or, where rows are counted beside, as a row has.
  if (!words.empty() && port.op.find("quant") != std::string::npos && words.back() == "groups" &&
      (words.size() == 1 || (words.size() == 2 && (has("num") || has("n") || has("total")))))
    for (const int role : role_at)
      if (role >= 0 && is_scale(port.roles[static_cast<std::size_t>(role)].argument)) {
        passing.what = counts_rows(entry) && !has("total") ? What::size : What::elements;
        passing.role = role;
        passing.dim = -1;
        return true;
      }
  // In how many parts it goes through the keys is left to whoever calls it.
  if (port.op == "attention" && (has("num") || has("n")) &&
      (has("splits") || has("chunks") || has("partitions"))) {
    passing.what = What::constant;
    passing.constant = 2;
    return true;
  }
  if (moves_the_mask(words)) {
    const std::optional<Dimension> keys = dimension_of(port, "Sk"), queries = dimension_of(port, "Sq");
    if (keys && queries) {
      passing.what = What::keys_before;
      passing.role = keys->role;
      passing.dim = keys->dim;
      passing.less_role = queries->role;
      passing.less_dim = queries->dim;
      return true;
    }
  }
  if (const std::optional<Dimension> length = dimension_of(port, length_said(words))) {
    passing.what = What::size;
    passing.role = length->role;
    passing.dim = length->dim;
    return true;
  }
  // "sk": the columns of scales.
  static const Pattern kScales("s_?k|scales?_?k|k_?scales|(num_)?k_?blocks_of_scales");
  if (kScales.is(lower_case(name)) && port.op.starts_with("weight_"))
    for (const int role : role_at)
      if (role >= 0 && is_scale(port.roles[static_cast<std::size_t>(role)].argument) &&
          shape_words(port, role).size() == 2) {
        passing.what = What::size;
        passing.role = role;
        passing.dim = -1;
        return true;
      }
  // The first tensor that is passed and has rows.
  const auto first = std::find_if(role_at.begin(), role_at.end(), [&](int role) {
    return role >= 0 && !port.roles[static_cast<std::size_t>(role)].output;
  });
  if (words.size() < 2 || first == role_at.end()) return false;
  const std::string& last = words.back();
  // "scale_is_fp32": what the op's scales are.
  if (has("is") && (last == "fp32" || last == "f32" || last == "float" || last == "float32")) {
    passing.what = What::constant;
    passing.constant = 1;
    return true;
  }
  const bool of_scales = has("scale") || has("scales");
  if (of_scales && (last == "rows" || last == "cols" || last == "columns")) {
    const auto scales = std::find_if(role_at.begin(), role_at.end(), [&](int role) {
      return role >= 0 && is_scale(port.roles[static_cast<std::size_t>(role)].argument) &&
             shape_words(port, role).size() == 2;
    });
    if (scales != role_at.end()) {
      passing.what = What::size;
      passing.role = *scales;
      passing.dim = last == "rows" ? -2 : -1;
      return true;
    }
  }
  if (last == "height" || last == "rows" || last == "width" || last == "cols" || last == "columns") {
    passing.what = last == "height" || last == "rows" ? What::rows : What::size;
    passing.role = *first;
    passing.dim = -1;
    return true;
  }
  if (last != "stride") return false;
  if (is_step_of_keys(port, p)) return false;
  // "scale_stride": from one row of the scales to the next; "weight_row_stride": of what it is named after.
  int role = *first;
  for (std::size_t i = 0; i < role_at.size(); ++i) {
    if (role_at[i] < 0) continue;
    const std::string& argument = port.roles[static_cast<std::size_t>(role_at[i])].argument;
    if (is_scale(argument) && of_scales) role = role_at[i];
  }
  if (shape_words(port, role).size() < 2) return false;
  passing.what = What::stride;
  passing.role = role;
  passing.dim = -2;
  return true;
}

}  // namespace isomer::lab
