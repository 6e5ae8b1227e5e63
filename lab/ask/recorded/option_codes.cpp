#include "lab/ask/recorded/option_codes.hpp"

#include "lab/ask/names/alike.hpp"
#include "lab/ask/names/bare.hpp"
#include "lab/ask/names/dtype_names.hpp"
#include "lab/ask/recorded/kind_words.hpp"
#include "lab/ask/recorded/option_words.hpp"
#include "lab/text/lower_case.hpp"
#include "lab/text/pattern.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace isomer::lab {
namespace {

using Kind = Parameter::Kind;

const std::vector<OptionWord>& dtype_words() {
  static const std::vector<OptionWord> words = [] {
    std::vector<OptionWord> all;
    for (const auto& [dtype, spellings] : dtype_spellings())
      all.push_back({std::string(name_of(dtype)), spellings});
    return all;
  }();
  return words;
}

bool is_coded(const Parameter& p) { return p.kind == Kind::integer || p.kind == Kind::boolean; }

constexpr std::string_view kDtypeOf = "dtype of ";  ///< no argument of a label is called so

constexpr std::string_view kKindOf = "kind of ";  ///< nor so: an argument that is of several kinds

std::string dtype_word(const Value& value) {
  return value.is_tensor() && dtype_spellings().count(value.tensor.dtype) > 0
             ? std::string(name_of(value.tensor.dtype))
             : std::string();
}

/// The dtype of the first real numbers that a call is given, or gives.
std::string dtype_of(const Replayed& call) {
  for (std::size_t r = 0; r < call.roles.size(); ++r)
    if (call.values[r].is_tensor() && is_float(call.values[r].tensor.dtype))
      if (const std::string word = dtype_word(call.values[r]); !word.empty()) return word;
  return {};
}

/// `in_type`, `x_dtype`: the tensor that the first word of a name of a dtype says, where a call has one of
/// that name, or the result; empty: it says none.
std::string tensor_of_type(const std::string& parameter, const std::vector<Replayed>& calls) {
  static const Pattern of_type("(\\w+?)_?(?:d(?:ata_?)?)?type(?:_(?:id|code|enum))?"),
      of_result("out|outputs?|dst|res|results?|ret");
  const std::string lower = lower_case(parameter);
  const auto match = of_type.whole(lower);
  if (!match) return {};
  const Replayed& call = calls.front();
  for (const bool returned : {false, true})
    for (const Port::Role& role : call.roles)
      if (role.tensor && role.returned == returned &&
          bare(returned && !role.called.empty() ? role.called : role.name) == bare((*match)[1]))
        return std::string(kDtypeOf) + role.name;
  for (const Replayed::Output& output : call.outputs)
    if (of_result.is((*match)[1]))
      return std::string(kDtypeOf) + call.roles[static_cast<std::size_t>(output.role)].name;
  return {};
}

/// The first tensor that some calls are given in another dtype than others; empty: none.
std::string argument_of_dtypes(const std::vector<Replayed>& calls) {
  for (const Port::Role& role : calls.front().roles) {
    if (!role.tensor || role.returned) continue;
    std::set<std::string> dtypes;
    for (const Replayed& call : calls)
      for (std::size_t r = 0; r < call.call->before.size(); ++r)
        if (call.roles[r].name == role.name && call.values[r].is_tensor())
          dtypes.insert(dtype_word(call.values[r]));
    if (dtypes.size() > 1) return std::string(kDtypeOf) + role.name;
  }
  return {};
}

bool is_word(const Value& value) {
  return value.kind == Value::Kind::text || value.kind == Value::Kind::dtype;
}

constexpr const char* kNone = "None";
constexpr double kVeryLarge = 1e30;

/// Numbers that stand for None, the likeliest first.
double for_none(const OptionCode& option, int code) {
  static const std::vector<double> reals = {INFINITY, -1, 0, kVeryLarge, 1}, whole = {-1, 0, 1 << 30, 1, 2};
  const std::vector<double>& list = option.real ? reals : whole;
  return list[static_cast<std::size_t>(std::clamp(code, 0, static_cast<int>(list.size()) - 1))];
}

/// As whole as it may be: the largest numbers of 64 bits are none of a double's.
std::int64_t whole_number(double number) {
  constexpr double kMost = 9.2e18;
  return static_cast<std::int64_t>(std::clamp(number, -kMost, kMost));
}

/// What a call says of an option: a word, "None", or nothing of a number.
std::string said_by(const Replayed& call, const OptionCode& option);

/// The word that a call says for an argument, or leaves to the label's default; empty where it says none.
std::string word_of(const Replayed& call, const std::string& option) {
  if (option.empty()) return dtype_of(call);
  if (option.starts_with(kKindOf)) return kind_word(call, option.substr(kKindOf.size()));
  if (option.starts_with(kDtypeOf)) {
    for (std::size_t r = 0; r < call.roles.size(); ++r)
      if (call.roles[r].name == option.substr(kDtypeOf.size())) return dtype_word(call.values[r]);
    return dtype_of(call);
  }
  const auto text = [](const Value& value) { return is_word(value) ? value.text : std::string(); };
  for (std::size_t r = 0; r < call.roles.size() && r < call.values.size(); ++r)
    if (call.roles[r].name == option) return text(call.values[r]);
  for (const Value& value : call.left_out)
    if (value.name == option) return text(value);
  return {};
}

std::string said_by(const Replayed& call, const OptionCode& option) {
  if (option.number) return option.number(call) ? std::string() : std::string(kNone);
  return word_of(call, option.option);
}

/// Arguments of the label that are words, or dtypes.
std::set<std::string> options_in(const std::vector<Replayed>& calls) {
  std::set<std::string> names;
  for (const Replayed& call : calls) {
    for (std::size_t r = 0; r < call.roles.size() && r < call.values.size(); ++r)
      if (is_word(call.values[r])) names.insert(call.roles[r].name);
    for (const Value& value : call.left_out)
      if (is_word(value)) names.insert(value.name);
  }
  return names;
}

std::vector<std::string> words_in(const std::vector<Replayed>& calls, const std::string& option) {
  std::vector<std::string> words;
  for (const Replayed& call : calls)
    if (const std::string word = word_of(call, option);
        !word.empty() && std::find(words.begin(), words.end(), word) == words.end())
      words.push_back(word);
  return words;
}

/// The tensor of which a flag says the dtype, `out_is_double` the result's, as `word_of` is asked for it;
/// empty: it says none.
std::string tensor_of_flag(const std::string& parameter, const Replayed& call) {
  static const Pattern of_result("(?:out|output|dst|res|result|ret)_\\w+");
  const bool is = of_result.is(lower_case(parameter)) && !call.outputs.empty();
  if (is) return std::string(kDtypeOf) + call.roles[static_cast<std::size_t>(call.outputs.front().role)].name;
  // `cache_is_uint8` of k_caches and v_caches.
  static const Pattern of_tensor("(\\w+)_is_\\w+");
  const std::string lower = lower_case(parameter);
  if (const std::optional<Match> match = of_tensor.whole(lower))
    for (const Port::Role& role : call.roles)
      if (role.tensor && likeness_of_tensors((*match)[1], role.name) > 0)
        return std::string(kDtypeOf) + role.name;
  return {};
}

/// `is_half`, `use_bf16`, `out_is_double`: true for one dtype.
std::optional<std::string> dtype_of_flag(const std::string& parameter) {
  static const Pattern flag(
      "((?:\\w+_is_)|(?:(?:in|input|io|x|q|data|src|dst|y|w|out|output|res|result|act)_)?(?:is_|use_|as_)?)("
      "\\w+)"),
      also_size("half|single|double");
  const std::string lower = lower_case(parameter);
  const auto match = flag.whole(lower);
  // Half of a size is a number as well.
  if (!match || ((*match)[1].empty() && also_size.is((*match)[2]))) return std::nullopt;
  for (const OptionWord& each : dtype_words())
    if (std::find(each.spellings.begin(), each.spellings.end(), (*match)[2]) != each.spellings.end())
      return each.word;
  return std::nullopt;
}

/// What the label takes where callers leave an argument out; the recorder's own calls do not say it.
std::string default_of(const std::vector<Replayed>& calls, const std::string& option) {
  for (const Replayed& call : calls)
    for (const Value& value : call.left_out)
      if (is_word(value) && value.name == option) return value.text;
  return {};
}

/// Codes of words that frameworks have in this order; those of `words` alone in the order of the calls.
std::map<std::string, int> usual_codes(const std::vector<std::string>& words) {
  static const std::vector<std::vector<std::string>> orders = {
      {"none", "mean", "sum"}, {"bilinear", "nearest", "bicubic"},   {"zeros", "border", "reflection"},
      {"none", "tanh"},        {"no value", "a number", "a tensor"}, {"f32", "f16", "bf16", "f64"}};
  std::map<std::string, int> codes;
  for (const std::vector<std::string>& order : orders) {
    codes.clear();
    for (const std::string& each : words)
      if (const auto at = std::find(order.begin(), order.end(), each); at != order.end())
        codes[each] = static_cast<int>(at - order.begin());
    if (codes.size() == words.size()) return codes;
  }
  codes.clear();
  for (const std::string& each : words) codes.emplace(each, static_cast<int>(codes.size()));
  return codes;
}

OptionCode coded(std::size_t parameter, const Parameter& p, std::string option,
                 const std::vector<std::string>& words, const std::string& source) {
  OptionCode code;
  code.parameter = parameter;
  code.name = p.name;
  code.option = std::move(option);
  std::vector<OptionWord> spelled;
  for (const std::string& each : words) {
    OptionWord word = {each, {each}};
    for (const std::vector<OptionWord>* list : {&dtype_words(), &kind_words()})
      for (const OptionWord& of : *list)
        if (of.word == each) word = of;
    if (std::vector<std::string> types = spellings_of_type(each);
        word.spellings.size() == 1 && !types.empty())
      word.spellings = std::move(types);
    spelled.push_back(std::move(word));
  }
  code.codes = codes_in_source(source, p.name, spelled);
  code.known = code.codes.size() == words.size();
  if (code.known) return code;
  code.codes = usual_codes(words);
  // `approximate_tanh` is true of "tanh".
  constexpr std::size_t kFewest = 3;
  const auto named = [&](const std::string& each) {
    return each.size() >= kFewest && lower_case(p.name).ends_with("_" + lower_case(each));
  };
  if (std::count_if(words.begin(), words.end(), named) == 1) {
    for (const std::string& each : words) code.codes[each] = named(each);
    code.known = true;
  }
  return code;
}

/// Whether both names are of one option: mode and interpolation_mode, reduction and reduce.
bool is_same_option(const std::string& parameter, const std::string& option) {
  constexpr std::size_t kFewest = 4;
  const std::string a = bare(parameter), b = bare(option);
  if (a == b) return true;
  if (std::min(a.size(), b.size()) < kFewest) return false;
  std::size_t alike = 0;
  while (alike < std::min(a.size(), b.size()) && a[alike] == b[alike]) ++alike;
  return a.ends_with(b) || b.ends_with(a) || alike >= kFewest + 1;
}

}  // namespace

std::vector<OptionCode> option_codes(const Entry& entry, const std::vector<Replayed>& calls,
                                     const std::string& source, const NamedSizes& sizes) {
  std::vector<OptionCode> list;
  const std::set<std::string> options = options_in(calls);
  std::set<std::string> roles;
  for (const Replayed& call : calls)
    for (std::size_t r = 0; r < call.roles.size() && r < call.values.size(); ++r)
      if (call.values[r].kind != Value::Kind::text && call.values[r].kind != Value::Kind::dtype)
        roles.insert(bare(call.roles[r].name));
  const std::string of_which = argument_of_dtypes(calls);
  // Beside `mode` and `padding_mode` each parameter is the one of its own name.
  const auto is_another = [&](const std::string& name, const std::string& option) {
    return bare(name) != bare(option) &&
           (std::any_of(options.begin(), options.end(),
                        [&](const std::string& each) { return bare(each) == bare(name); }) ||
            std::any_of(entry.parameters.begin(), entry.parameters.end(),
                        [&](const Parameter& each) { return bare(each.name) == bare(option); }));
  };
  // What one parameter is called is no other one's.
  const auto is_taken = [&](const std::string& option) {
    return std::any_of(entry.parameters.begin(), entry.parameters.end(), [&](const Parameter& each) {
      return is_coded(each) && !each.name.empty() && is_same_option(each.name, option);
    });
  };
  const auto is_called_a_size = [&](const std::string& name) {
    return std::any_of(sizes.begin(), sizes.end(),
                       [&](const NamedSize& each) { return bare(each.name) == bare(name); });
  };
  for (std::size_t p = 0; p < entry.parameters.size(); ++p) {
    const Parameter& parameter = entry.parameters[p];
    // An extension is passed the words themselves, unless it takes a number in their place.
    const bool extension = entry.form == Entry::Form::extension;
    if (!is_coded(parameter) || parameter.name.empty() || roles.count(bare(parameter.name)) > 0) continue;
    const std::string lower = lower_case(parameter.name);
    if (const std::string of = extension ? std::string() : argument_of_kind(parameter.name, calls);
        !of.empty()) {
      const std::string option = std::string(kKindOf) + of;
      list.push_back(coded(p, parameter, option, words_in(calls, option), source));
      if (auto codes = codes_of_kind_flag(parameter.name)) {
        list.back().codes = std::move(*codes);
        list.back().known = true;
      }
      continue;
    }
    bool taken = false;
    for (const std::string& option : options) {
      if (extension ? parameter.kind != Kind::integer || bare(parameter.name) != bare(option)
                    : !is_same_option(parameter.name, option) || is_another(parameter.name, option))
        continue;
      list.push_back(coded(p, parameter, option, words_in(calls, option), source));
      list.back().left_out = default_of(calls, option);
      taken = true;
      break;
    }
    static const Pattern of_flag("(?:is|use|do|with|has|apply)_\\w+");
    static const Pattern dtype(
        "(?:\\w+_)?d(?:ata_?)?type(?:_(?:id|code|enum))?|scalar_type|"
        "(?:in|input|src|raw|x|elem|element|io|value|img|image|out|output|dst|res|result)_?type"
        "(?:_(?:id|code|enum))?");
    if (!taken && !extension && !names_a_size(parameter.name) && options.size() == 1 && !dtype.is(lower) &&
        !is_taken(*options.begin()) && !is_called_a_size(parameter.name) &&
        std::none_of(list.begin(), list.end(),
                     [&](const OptionCode& each) { return each.option == *options.begin(); })) {
      // One word of the label's, and a number that its source says for each.
      OptionCode code = coded(p, parameter, *options.begin(), words_in(calls, *options.begin()), source);
      code.left_out = default_of(calls, *options.begin());
      if (code.known) {
        list.push_back(std::move(code));
        taken = true;
      }
    }
    if (taken || extension) continue;
    const std::string of_name = dtype.is(lower) ? tensor_of_type(parameter.name, calls) : std::string();
    const std::string& of_tensor = of_name.empty() ? of_which : of_name;
    if (const std::vector<std::string> words = words_in(calls, of_tensor);
        dtype.is(lower) && !words.empty()) {
      list.push_back(coded(p, parameter, of_tensor, words, source));
    } else if (const std::optional<std::string> of = dtype_of_flag(parameter.name); of && !words.empty()) {
      const std::string tensor = tensor_of_flag(parameter.name, calls.front());
      OptionCode flag = {p, parameter.name, tensor.empty() ? of_which : tensor, {}, "", true};
      for (const std::string& each : words_in(calls, flag.option)) flag.codes[each] = each == *of;
      list.push_back(std::move(flag));
    } else if (parameter.kind == Kind::boolean || of_flag.is(lower)) {
      // `use_tanh`, of what callers say as approximate="tanh".
      for (const std::string& option : options) {
        const std::vector<std::string> said = words_in(calls, option);
        OptionCode flag = {p, parameter.name, option, {}, default_of(calls, option), true};
        bool named = false;
        for (const std::string& each : said) {
          const bool is = each.size() > 2 && lower.find(lower_case(each)) != std::string::npos;
          flag.codes[each] = is;
          named = named || is;
        }
        if (!named) continue;
        list.push_back(std::move(flag));
        break;
      }
    }
  }
  return list;
}

void put_codes(const std::vector<OptionCode>& options, std::vector<Replayed>& calls) {
  for (Replayed& call : calls) call.values.resize(call.values.size() + options.size());
  change_codes(options, calls);
}

bool are_known(const std::vector<OptionCode>& options) {
  return std::all_of(options.begin(), options.end(), [](const OptionCode& each) { return each.known; });
}

void change_codes(const std::vector<OptionCode>& options, std::vector<Replayed>& calls) {
  for (Replayed& call : calls)
    for (std::size_t i = 0; i < options.size(); ++i) {
      const std::string said = said_by(call, options[i]);
      const auto code = options[i].codes.find(said.empty() ? options[i].left_out : said);
      const int own = code == options[i].codes.end() ? 0 : code->second;
      Value& value = call.values[call.values.size() - options.size() + i];
      if (!options[i].number) {
        value = integer_value("option " + options[i].name, own);
        continue;
      }
      const double number = options[i].number(call).value_or(for_none(options[i], own));
      value = options[i].real ? real_value("option " + options[i].name, number)
                              : integer_value("option " + options[i].name, whole_number(number));
    }
}

bool settle_codes(std::vector<OptionCode>& options, const std::vector<Replayed>& calls,
                  const std::function<bool(const Replayed&)>& right) {
  constexpr int kMostCode = 4;
  constexpr std::size_t kMostCalls = 2;  ///< of one word
  bool all = true;
  for (OptionCode& option : options)
    for (auto& [word, code] : option.codes) {
      std::vector<Replayed> those;
      for (const Replayed& call : calls)
        if (said_by(call, option) == word && those.size() < kMostCalls) those.push_back(call);
      if (option.known || those.empty()) continue;
      const int usual = code;
      bool found = false;
      for (int i = -1; i <= kMostCode && !found; ++i) {
        code = i < 0 ? usual : i;
        change_codes(options, those);
        found = std::all_of(those.begin(), those.end(), right);
      }
      if (!found) code = usual;
      all = all && found;
    }
  return all;
}

std::vector<int> parameters_of(const std::vector<OptionCode>& options) {
  std::vector<int> list;
  for (const OptionCode& each : options)
    if (each.number && !each.left_alone && each.parameter != OptionCode::kOfNone)
      list.push_back(static_cast<int>(each.parameter));
  return list;
}

std::set<std::string> arguments_of(const std::vector<OptionCode>& options) {
  std::set<std::string> names;
  for (const OptionCode& each : options)
    if (!each.left_alone) names.insert(each.of.begin(), each.of.end());
  return names;
}

void take_codes(const std::vector<OptionCode>& options, const Replayed& call, Bound& bound) {
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (options[i].parameter >= bound.form.passings.size() || options[i].left_alone) continue;
    Passing passing;
    passing.what = Passing::What::computed;
    passing.computed = static_cast<int>(call.values.size() - options.size() + i);
    bound.form.passings[options[i].parameter] = passing;
    std::erase(bound.unsure, static_cast<int>(options[i].parameter));
    std::erase(bound.alike, static_cast<int>(options[i].parameter));
  }
}

}  // namespace isomer::lab
