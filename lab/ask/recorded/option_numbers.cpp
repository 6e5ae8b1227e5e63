#include "lab/ask/recorded/option_numbers.hpp"

#include "lab/ask/names/alike.hpp"
#include "lab/ask/names/bare.hpp"
#include "lab/ask/recorded/flag_bits.hpp"
#include "lab/ask/recorded/label_sizes.hpp"
#include "lab/text/lower_case.hpp"
#include "lab/text/pattern.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace isomer::lab {
namespace {

using Kind = Parameter::Kind;

/// An argument of the label's that is no tensor in the test's calls, and what it is there.
struct LabelOption {
  std::string name;
  bool real = false, integer = false, boolean = false, none = false, list = false, negative = false;
  std::size_t items = 0;
  bool taken = false;
  bool tensor = false;  ///< in some calls, and a number in others
};

/// What the label takes where callers leave an argument out: the recorder's own calls do not say it.
using Defaults = std::shared_ptr<const std::map<std::string, Value>>;

Defaults defaults_of(const std::vector<Replayed>& calls) {
  const auto defaults = std::make_shared<std::map<std::string, Value>>();
  for (const Replayed& call : calls)
    for (const Value& value : call.left_out) defaults->emplace(value.name, value);
  return defaults;
}

/// What a call gives an argument, or leaves to its default; null: None.
const Value* value_in(const Replayed& call, const std::string& option, const Defaults& defaults) {
  for (std::size_t r = 0; r < call.call->before.size() && r < call.values.size(); ++r)
    if (call.roles[r].name == option)
      return call.values[r].kind == Value::Kind::none ? nullptr : &call.values[r];
  const auto left_out = defaults->find(option);
  return left_out == defaults->end() || left_out->second.kind == Value::Kind::none ? nullptr
                                                                                   : &left_out->second;
}

std::optional<double> number_in(const Replayed& call, const std::string& option, const Defaults& defaults) {
  const Value* value = value_in(call, option, defaults);
  if (value == nullptr) return std::nullopt;
  if (value->kind == Value::Kind::real) return value->real;
  if (value->kind == Value::Kind::integer || value->kind == Value::Kind::boolean)
    return static_cast<double>(value->integer);
  return std::nullopt;
}

/// Whether a flag of that option is set: it is true, not zero, or given at all.
bool is_set_in(const Replayed& call, const std::string& option, const Defaults& defaults) {
  const Value* value = value_in(call, option, defaults);
  if (value == nullptr) return false;
  if (value->kind == Value::Kind::real) return value->real != 0;
  return (value->kind != Value::Kind::integer && value->kind != Value::Kind::boolean) || value->integer != 0;
}

std::vector<LabelOption> arguments_in(const std::vector<Replayed>& calls, const LabelFunction* label,
                                      const Defaults& defaults) {
  std::vector<LabelOption> list;
  const auto add = [&](const std::string& name) {
    if (std::any_of(list.begin(), list.end(), [&](const LabelOption& each) { return each.name == name; }))
      return;
    list.emplace_back();
    list.back().name = name;
  };
  if (label != nullptr)
    for (const LabelParameter& each : label->parameters) add(each.name);
  for (const Replayed& call : calls)
    for (std::size_t r = 0; r < call.call->before.size(); ++r) add(call.roles[r].name);
  for (LabelOption& option : list)
    for (const Replayed& call : calls) {
      if (!call.call->asked.empty()) continue;
      const Value* value = value_in(call, option.name, defaults);
      option.none = option.none || value == nullptr;
      if (value == nullptr) continue;
      option.tensor = option.tensor || value->is_tensor();
      option.real = option.real || value->kind == Value::Kind::real;
      option.boolean = option.boolean || value->kind == Value::Kind::boolean;
      option.integer = option.integer || value->kind == Value::Kind::integer;
      option.negative = option.negative || (value->kind == Value::Kind::integer && value->integer < 0);
      if (value->kind == Value::Kind::list && !value->items.empty() &&
          std::all_of(value->items.begin(), value->items.end(), [](const Value& item) {
            return item.kind == Value::Kind::real || item.kind == Value::Kind::integer;
          })) {
        option.list = true;
        option.items = value->items.size();
      }
    }
  return list;
}

bool has_numbers(const LabelOption& option) { return option.real || option.integer || option.boolean; }

OptionCode code_of_number(std::size_t parameter, const Parameter& p, const LabelOption& option,
                          const Defaults& defaults) {
  OptionCode code;
  code.parameter = parameter;
  code.name = p.name;
  // Of a tensor the number beside it is not read.
  code.number = [name = option.name, defaults, both = option.tensor](const Replayed& call) {
    const std::optional<double> number = number_in(call, name, defaults);
    return number || !both ? number : std::optional<double>(0);
  };
  code.real = p.kind == Kind::real;
  code.known = !option.none || option.tensor;
  code.codes = {{"None", 0}};
  code.of = {option.name};
  return code;
}

OptionCode code_of_flag(std::size_t parameter, const Parameter& p, const LabelOption& option,
                        const Defaults& defaults) {
  OptionCode code;
  code.parameter = parameter;
  code.name = p.name;
  code.number = [name = option.name, defaults](const Replayed& call) {
    return std::optional<double>(is_set_in(call, name, defaults) ? 1 : 0);
  };
  code.real = p.kind == Kind::real;
  code.known = true;
  return code;
}

/// Whether a name of a size is said of a tensor of the call's, and not of a tuple or of a word beside it.
bool is_of_a_tensor(const NamedSize& size, const Replayed& call) {
  return std::any_of(call.roles.begin(), call.roles.end(), [&](const Port::Role& role) {
    return role.tensor && (bare(role.name) == bare(size.tensor) || bare(role.called) == bare(size.tensor));
  });
}

bool is_of_a_window(const std::string& option) {
  static const Pattern of_a_window("strides?|pads?|paddings?|dilations?|kernel_?sizes?");
  return of_a_window.is(lower_case(option));
}

/// The parameters that no name of the label's is for, and what becomes of them.
class Matching {
 public:
  Matching(const Entry& entry, const std::vector<Replayed>& calls, const std::string& source,
           const LabelFunction* label, const NamedSizes& sizes)
      : parameters_(entry.parameters),
        calls_(calls),
        source_(source),
        defaults_(defaults_of(calls)),
        options_(arguments_in(calls, label, defaults_)) {
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      const Parameter& parameter = parameters_[p];
      const std::string own = bare(parameter.name);
      if ((parameter.kind != Kind::integer && parameter.kind != Kind::real &&
           parameter.kind != Kind::boolean) ||
          parameter.name.empty())
        continue;
      bool named = false;
      for (LabelOption& option : options_)
        if (bare(option.name) == own) {
          named = option.taken = true;
          if (option.none) take_none(p, option);
        }
      for (const NamedSize& size : sizes)
        named = named || (parameter.kind == Kind::integer && bare(size.name) == own &&
                          is_of_a_tensor(size, calls.front()));
      for (std::size_t v = calls.front().roles.size(); v < calls.front().values.size(); ++v)
        named = named || calls.front().values[v].name == parameter.name;
      if (!named) open_.push_back(p);
    }
  }

  std::vector<OptionCode> run() {
    take_flags();
    take_given_flags();
    take_sides();
    take_alike(&likeness_of_names);
    take_alike(&shared_words);
    take_in_order(&is_real, [](const Parameter& p) { return p.kind == Kind::real; });
    take_in_order(&is_integer,
                  [](const Parameter& p) { return p.kind == Kind::integer && !names_a_size(p.name); });
    take_in_order(&is_boolean, [](const Parameter& p) {
      return p.kind == Kind::boolean || (p.kind == Kind::integer && !names_a_size(p.name));
    });
    take_items();
    keep_others();
    return std::move(codes_);
  }

 private:
  static bool is_real(const LabelOption& option) { return option.real && !option.list; }
  static bool is_integer(const LabelOption& option) {
    return option.integer && !option.real && !names_an_axis(option.name) && !names_a_size(option.name);
  }
  static bool is_boolean(const LabelOption& option) { return option.boolean; }

  void take(std::size_t p, LabelOption& option) {
    codes_.push_back(code_of_number(p, parameters_[p], option, defaults_));
    option.taken = true;
    std::erase(open_, p);
  }

  /// A whole number that is None in some calls. A window moves on by its own size where no stride is said, as
  /// PyTorch's pools have it; of others a number stands for None.
  void take_none(std::size_t p, const LabelOption& option) {
    if (parameters_[p].kind != Kind::integer) return;
    const auto window = std::find_if(options_.begin(), options_.end(), [](const LabelOption& each) {
      static const Pattern window_size("kernel_?size|window_?size|pool_?size");
      return each.integer && !each.none && window_size.is(lower_case(each.name));
    });
    static const Pattern stride("strides?|hop_?(?:size|length)?");
    const bool moves = window != options_.end() && stride.is(lower_case(option.name));
    if (!moves && (!option.integer || option.real || option.list)) return;
    OptionCode code = code_of_number(p, parameters_[p], option, defaults_);
    if (moves) {
      code.known = true;
      code.number = [name = option.name, by = window->name, defaults = defaults_](const Replayed& call) {
        const std::optional<double> said = number_in(call, name, defaults);
        return said ? said : number_in(call, by, defaults);
      };
    }
    codes_.push_back(std::move(code));
  }

  /// Bits of one number.
  void take_flags() {
    static const Pattern flags("(?:\\w+_)?(?:flags?|options|opts|bits|bit_?mask|mode_?bits|feature_?mask)");
    for (const std::size_t p : std::vector<std::size_t>(open_)) {
      if (parameters_[p].kind != Kind::integer || !flags.is(lower_case(parameters_[p].name))) continue;
      std::vector<std::string> names;
      for (const LabelOption& option : options_)
        if (!option.taken) names.push_back(option.name);
      const std::map<std::string, int> bits = flag_bits(source_, parameters_[p].name, names);
      if (bits.empty()) continue;
      OptionCode code;
      code.parameter = p;
      code.name = parameters_[p].name;
      code.known = true;
      code.number = [bits, defaults = defaults_](const Replayed& call) {
        std::int64_t all = 0;
        for (const auto& [name, bit] : bits)
          if (is_set_in(call, name, defaults)) all |= bit;
        return std::optional<double>(static_cast<double>(all));
      };
      for (LabelOption& option : options_)
        if (bits.count(option.name) > 0 && option.boolean) {
          option.taken = true;
          code.of.push_back(option.name);
        }
      codes_.push_back(std::move(code));
      std::erase(open_, p);
    }
  }

  /// `use_limit` says whether the call gives the label a `limit`, which may be None.
  void take_given_flags() {
    static const Pattern flag("(?:has|use|with|have|is|apply|do)_(\\w+)");
    for (const std::size_t p : std::vector<std::size_t>(open_)) {
      const std::string name = lower_case(parameters_[p].name);
      const std::optional<Match> match = flag.whole(name);
      if (!match || parameters_[p].kind == Kind::real) continue;
      for (const LabelOption& option : options_) {
        if (!option.none || option.boolean || bare(option.name) != bare((*match)[1])) continue;
        OptionCode code = code_of_flag(p, parameters_[p], option, defaults_);
        code.number = [option = option.name, defaults = defaults_](const Replayed& call) {
          return std::optional<double>(value_in(call, option, defaults) != nullptr ? 1 : 0);
        };
        codes_.push_back(std::move(code));
        std::erase(open_, p);
        break;
      }
    }
  }

  /// `stride_h, stride_w` of a stride that callers say with one number for both, or with a list.
  void take_sides() {
    static const Pattern sided("(\\w+?)_?([dhw]|[DHW])|(\\w+?)_([zyx]|[ZYX])");
    for (LabelOption& option : options_) {
      if (option.taken || !option.integer || option.real || option.none) continue;
      std::vector<std::pair<char, std::size_t>> places;
      for (const std::size_t p : open_)
        if (const auto match = sided.whole(parameters_[p].name)) {
          const std::size_t letters = match->has(1) ? 1 : 3;
          const std::string of = (*match)[letters];
          // The depth, the height and the width are z, y and x as well.
          const char side = lower_case((*match)[letters + 1]).front();
          const char which = side == 'z' ? 'd' : side == 'y' ? 'h' : side == 'x' ? 'w' : side;
          if (parameters_[p].kind == Kind::integer &&
              (of.size() == 1
                   ? lower_case(of).front() == lower_case(option.name).front() && is_of_a_window(option.name)
                   : are_of_the_same_words(of, option.name)))
            places.emplace_back(which, p);
        }
      std::sort(places.begin(), places.end());  // the depth, the height, the width
      const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
      if (places.size() < 2 || std::adjacent_find(places.begin(), places.end(), same) != places.end())
        continue;
      for (std::size_t i = 0; i < places.size(); ++i) {
        const std::size_t p = places[i].second;
        OptionCode code = code_of_number(p, parameters_[p], option, defaults_);
        code.number = [name = option.name, i,
                       defaults = defaults_](const Replayed& call) -> std::optional<double> {
          const Value* value = value_in(call, name, defaults);
          if (value == nullptr || value->kind != Value::Kind::list) return number_in(call, name, defaults);
          if (i >= value->items.size()) return std::nullopt;
          return static_cast<double>(value->items[i].integer);
        };
        codes_.push_back(std::move(code));
        std::erase(open_, p);
      }
      option.taken = true;
    }
  }

  bool may_be(const Parameter& p, const LabelOption& option) const {
    if (option.taken || !has_numbers(option) || (names_an_axis(option.name) && !names_an_axis(p.name)))
      return false;
    if (p.kind == Kind::boolean) return option.boolean;
    if (p.kind == Kind::real) return true;
    return !option.real && !(option.boolean && names_a_size(p.name)) &&
           !(option.negative && names_a_size(p.name));
  }

  /// By the words of their names, where no other is as likely.
  void take_alike(double (*likeness_of)(const std::string&, const std::string&)) {
    struct Pair {
      double likeness;
      std::size_t p, option;
    };
    std::vector<Pair> pairs;
    for (const std::size_t p : open_)
      for (std::size_t o = 0; o < options_.size(); ++o)
        if (may_be(parameters_[p], options_[o])) {
          const double likeness = likeness_of(parameters_[p].name, options_[o].name);
          // Of a size each word counts: head_dim is no dim.
          static const Pattern general(
              "(?:\\w*_)?(?:dims?|strides?|len|length|rows|cols|height|width|channels|batch|blocks?|tile|"
              "heads?|step)");
          // `stride` of conv_stride is a window's.
          const bool size = parameters_[p].kind == Kind::integer && names_a_size(parameters_[p].name) &&
                            !is_of_a_window(parameters_[p].name) && general.is(lower_case(options_[o].name));
          // How many indices there are is none of them.
          static const Pattern counted("(?:num|n|nr|no)_\\w+"), index("(?:\\w+_)?(?:idx|index|id)");
          const bool count =
              counted.is(lower_case(parameters_[p].name)) && index.is(lower_case(options_[o].name));
          if (likeness > 0 &&
              ((!size && !count) || are_of_the_same_words(parameters_[p].name, options_[o].name)))
            pairs.push_back({likeness, p, o});
        }
    std::stable_sort(pairs.begin(), pairs.end(),
                     [](const Pair& a, const Pair& b) { return a.likeness > b.likeness; });
    for (const Pair& pair : pairs) {
      if (options_[pair.option].taken || std::find(open_.begin(), open_.end(), pair.p) == open_.end())
        continue;
      const bool alone = std::none_of(pairs.begin(), pairs.end(), [&](const Pair& each) {
        return each.likeness == pair.likeness && (each.p == pair.p) != (each.option == pair.option) &&
               !options_[each.option].taken && std::find(open_.begin(), open_.end(), each.p) != open_.end();
      });
      if (alone) take(pair.p, options_[pair.option]);
    }
  }

  /// As many as there are options of the kind, in their order.
  void take_in_order(bool (*is)(const LabelOption&), bool (*may)(const Parameter&)) {
    std::vector<std::size_t> places, options;
    for (const std::size_t p : open_)
      if (may(parameters_[p])) places.push_back(p);
    for (std::size_t o = 0; o < options_.size(); ++o)
      if (!options_[o].taken && is(options_[o])) options.push_back(o);
    if (places.size() != options.size()) return;
    for (std::size_t i = 0; i < places.size(); ++i) {
      take(places[i], options_[options[i]]);
      codes_.back().by_order = true;
    }
  }

  /// Whole numbers that no parameter is for by its name stand behind the values, where sizes are looked for.
  void keep_others() {
    for (const LabelOption& option : options_) {
      if (option.taken || !option.integer || option.real || option.negative || names_an_axis(option.name))
        continue;
      OptionCode code;
      code.parameter = OptionCode::kOfNone;
      code.name = option.name;
      code.known = true;
      code.number = [name = option.name, defaults = defaults_](const Replayed& call) {
        return std::optional<double>(number_in(call, name, defaults).value_or(0));
      };
      codes_.push_back(std::move(code));
    }
  }

  /// `lx, ly, lz` of a box, and a flag that says whether there is one.
  void take_items() {
    std::vector<std::size_t> places, flags;
    for (const std::size_t p : open_)
      if (parameters_[p].kind == Kind::real) places.push_back(p);
    LabelOption* list = nullptr;
    for (LabelOption& option : options_)
      if (!option.taken && option.list && option.items == places.size())
        list = list == nullptr ? &option : list;
    if (list == nullptr || places.back() - places.front() + 1 != places.size()) return;
    for (std::size_t i = 0; i < places.size(); ++i) {
      OptionCode code = code_of_number(places[i], parameters_[places[i]], *list, defaults_);
      code.number = [name = list->name, i,
                     defaults = defaults_](const Replayed& call) -> std::optional<double> {
        const Value* value = value_in(call, name, defaults);
        if (value == nullptr || i >= value->items.size()) return std::nullopt;
        const Value& item = value->items[i];
        return item.kind == Value::Kind::real ? item.real : static_cast<double>(item.integer);
      };
      codes_.push_back(std::move(code));
      std::erase(open_, places[i]);
    }
    list->taken = true;
    for (const std::size_t p : open_)
      if (parameters_[p].kind != Kind::real && !names_a_size(parameters_[p].name)) flags.push_back(p);
    if (!list->none || flags.size() != 1) return;
    codes_.push_back(code_of_flag(flags.front(), parameters_[flags.front()], *list, defaults_));
    std::erase(open_, flags.front());
  }

  const std::vector<Parameter>& parameters_;
  const std::vector<Replayed>& calls_;
  const std::string& source_;
  Defaults defaults_;
  std::vector<LabelOption> options_;
  std::vector<std::size_t> open_;
  std::vector<OptionCode> codes_;
};

}  // namespace

std::vector<OptionCode> option_numbers(const Entry& entry, const std::vector<Replayed>& calls,
                                       const std::string& source, const LabelFunction* label,
                                       const NamedSizes& sizes) {
  const bool tensors = std::any_of(entry.parameters.begin(), entry.parameters.end(), [](const Parameter& p) {
    return p.kind == Kind::tensor || p.kind == Kind::optional_tensor;
  });
  if (entry.form == Entry::Form::extension || tensors || calls.empty()) return {};
  return Matching(entry, calls, source, label, sizes).run();
}

}  // namespace isomer::lab
