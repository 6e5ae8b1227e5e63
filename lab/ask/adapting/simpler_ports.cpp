#include "lab/ask/adapting/simpler_ports.hpp"

#include "lab/ask/names/graph_names.hpp"
#include "lab/ask/names/number_words.hpp"
#include "lab/ask/names/stride_names.hpp"
#include "lab/ask/nearness.hpp"
#include "lab/text/lower_case.hpp"
#include "lab/text/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace isomer::lab {
namespace {

Pattern field_of(const std::string& name) { return Pattern("(^|\\s)" + name + "=(\\S*)"); }

/// Changes every line that has a value for the field; those that vary it, which end with it, go.
template <class Change>
void change_lines(oracle::Original& original, const std::string& name, const Change& change) {
  const Pattern field = field_of(name);
  for (std::vector<std::string>* lines : original.all_lines()) {
    std::vector<std::string> kept;
    for (const std::string& line : *lines) {
      const std::optional<Match> match = field.find(line);
      if (match && (*match)[2].empty()) continue;
      std::string changed = match ? change(field, line) : line;
      if (std::find(kept.begin(), kept.end(), changed) == kept.end()) kept.push_back(std::move(changed));
    }
    *lines = std::move(kept);
  }
}

/// Whether a parameter of the entry says it. The place of a query among the keys says how many those are, and
/// who shares heads of keys has as many as he says.
bool says(const Entry& entry, const oracle::Original::Sayable& sayable) {
  if (sayable.field == "sk" && takes_a_position(entry)) return true;
  if (sayable.field == "hkv" && shares_heads(entry)) return true;
  if (has_numbers_of_graph(entry)) return true;
  const Pattern names(sayable.names);
  return std::any_of(entry.parameters.begin(), entry.parameters.end(), [&](const Parameter& p) {
    return p.kind != Parameter::Kind::pointer && names.is(lower_case(p.name));
  });
}

/// Constants of the source that go by one of the field's names, as "#define HEAD_DIM 32", "#define FA_HD 32"
/// and "constexpr int kDim = 32" do: what the source says is tried, and proves nothing.
std::vector<std::string> constants_of(const std::string& source, const oracle::Original::Sayable& each) {
  if (each.names == ".*") return {};
  static const Pattern kConstant(
      "(?:#define\\s+|const(?:expr)?\\s+\\w+\\s+|const(?:expr)?\\s+\\w+\\s+\\w+\\s+)(\\w+)\\s*[=({]?\\s*(\\d+"
      ")\\b"),
      kOfThreads("block|thread|warp|grid|tile|vec|group|max|per");
  const Pattern names(each.names);
  std::vector<std::string> list;
  for (const Match& match : kConstant.all(source)) {
    std::string name = lower_case(match[1]);
    if (name.size() > 1 && match[1][0] == 'k' && std::isupper(static_cast<unsigned char>(match[1][1])) != 0)
      name.erase(0, 1);
    const int value = std::atoi(match[2].c_str());
    // Two or three letters in front set the names of a file apart.
    const std::size_t letters = std::min(name.find('_'), name.size());
    const bool apart = letters < name.size() && letters > 1 && letters <= 3 && !names.is(name.substr(0, letters));
    const bool said = names.is(apart ? name.substr(letters + 1) : name);
    if (value < 8 || value > 256 || value % 8 != 0 || kOfThreads.found_in(name) || !said) continue;
    if (std::find(list.begin(), list.end(), match[2]) == list.end() && list.size() < 2)
      list.push_back(match[2]);
  }
  return list;
}

/// The same of a size that was chosen.
bool is_constant_of(const Named& named, const oracle::Original::Sayable& each, const std::string& value) {
  const std::vector<std::string> list = constants_of(named.source, each);
  return std::find(list.begin(), list.end(), value) != list.end();
}

/// The sizes for which this one is written by its name or its source's constants, and those for which many
/// kernels are.
std::vector<std::string> written_for(const Named& named, const oracle::Original::Sayable& each) {
  if (each.of_who_says_none && says(named.entry, each)) return {};
  if (each.values.empty()) return {};
  std::vector<std::string> list = constants_of(named.source, each);
  for (const std::string& value : each.values)
    if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
  if (!each.word.empty() && named.takes_one(each.word)) list.insert(list.begin(), each.value_of_word);
  return list;
}

/// The form with its lengths of queries as those of the keys: of a kernel that takes one query and one
/// length, that is what the length counts. Nothing where the form has no such length, or has one of keys
/// already.
std::optional<Form> with_length_of_keys(const Form& form, const Port& port) {
  const std::optional<Dimension> keys = dimension_of(port, "Sk");
  if (!keys) return std::nullopt;
  Form turned = form;
  bool found = false;
  for (Passing& passing : turned.passings) {
    if (passing.what != Passing::What::size || passing.with != 0 || passing.dim >= 0) continue;
    const std::vector<std::string> shape = shape_words(port, passing.role);
    const auto at = static_cast<int>(shape.size()) + passing.dim;
    const std::string counts = at >= 0 ? shape[static_cast<std::size_t>(at)] : std::string();
    if (counts == "Sk") return std::nullopt;
    if (counts != "Sq") continue;
    passing.role = keys->role;
    passing.dim = keys->dim;
    found = true;
  }
  return found ? std::optional(turned) : std::nullopt;
}

/// Query heads for each head of keys where the kernel says how many, as many as its block has warps. With one
/// each, who takes a wrong head of keys is right.
constexpr int kRatios[] = {8, 4};

/// Whether a field sizes a leading axis of one of the op's originals.
bool leads(const std::string& op, const std::string& field) {
  return std::any_of(ports().begin(), ports().end(), [&](const Port& port) {
    return port.op == op && port.original != nullptr &&
           std::find(port.original->leading.begin(), port.original->leading.end(), field) !=
               port.original->leading.end();
  });
}

}  // namespace

std::shared_ptr<Simpler> simpler_of(const Port& port) {
  auto copy = std::make_shared<Simpler>(Simpler{*port.original, port});
  copy->port.original = &copy->original;
  return copy;
}

std::shared_ptr<Simpler> copy_of(const Simpler& other) {
  std::shared_ptr<Simpler> copy = simpler_of(other.port);
  copy->chosen = other.chosen;
  copy->said = other.said;
  return copy;
}

void choose(Simpler& simpler, const std::string& name, const std::string& value) {
  simpler.chosen.emplace_back(name, value);
  change_lines(simpler.original, name, [&](const Pattern& field, const std::string& line) {
    return field.replaced(line, fmt::format("$1{}={}", name, value));
  });
}

bool is_made_for(const Simpler& simpler, const Given& given, const Trial& trial) {
  return simpler.said && trial.ok() && !strays(trial) && !leaves_out(given, trial) &&
         trial.answer.refused_launches.empty();
}

bool choose_ratio(Simpler& simpler, int ratio) {
  static const Pattern heads("(^|\\s)hq=(\\d+) hkv=(\\d+)\\b");
  bool any = false;
  for (std::vector<std::string>* lines : simpler.original.all_lines())
    for (std::string& line : *lines)
      if (const std::optional<Match> match = heads.find(line)) {
        const int keys = std::atoi((*match)[3].c_str());
        line = heads.replaced(line, fmt::format("$1hq={} hkv={}", ratio * keys, keys));
        any = true;
      }
  if (any) simpler.chosen.emplace_back("hq / hkv", std::to_string(ratio));
  return any;
}

void add_ratios(std::vector<std::shared_ptr<Simpler>>& list) {
  const std::size_t before = list.size();
  for (const int ratio : kRatios)
    for (std::size_t i = 0; i < before; ++i) {
      std::shared_ptr<Simpler> other = copy_of(*list[i]);
      if (choose_ratio(*other, ratio)) list.push_back(std::move(other));
    }
}

void add_ratios(std::vector<Tried>& list) {
  const std::size_t before = list.size();
  for (const int ratio : kRatios)
    for (std::size_t i = 0; i < before; ++i) {
      Tried other = {copy_of(*list[i].simpler), list[i].form};
      if (choose_ratio(*other.simpler, ratio)) list.push_back(std::move(other));
    }
}

bool asks_whole_tiles(const Simpler& simpler) {
  return std::any_of(simpler.original.sayable.begin(), simpler.original.sayable.end(),
                     [&](const oracle::Original::Sayable& each) {
                       return each.names.empty() &&
                              std::any_of(simpler.chosen.begin(), simpler.chosen.end(),
                                          [&](const auto& chosen) { return chosen.first == each.field; });
                     });
}

bool asks_one_query(const Simpler& simpler) {
  const std::vector<std::string>& probes = simpler.original.probes;
  return !probes.empty() && (" " + probes.front() + " ").find(" sq=1 ") != std::string::npos;
}

bool asks_one_key(const Simpler& simpler) {
  return asks_one_query(simpler) && simpler.original.probes.front().find("sk=") == std::string::npos;
}

bool says_less(const Entry& entry, const oracle::Original& original) {
  return std::any_of(original.sayable.begin(), original.sayable.end(),
                     [&](const oracle::Original::Sayable& each) { return !says(entry, each); });
}

bool Named::takes_one(const std::string& word) const {
  return after(word) || takes_a_position(entry) || counts_keys_alone(entry);
}

Named named_of(const Candidate& candidate, const Entry& entry) {
  std::ifstream in(candidate.path(), std::ios::binary);
  const bool text = candidate.path().extension() != ".so";
  return {entry, candidate.path().filename().string(),
          text ? std::string(std::istreambuf_iterator<char>(in), {}) : std::string()};
}

std::vector<std::shared_ptr<Simpler>> simpler_ports(const Named& named, std::shared_ptr<Simpler> first,
                                                    const std::vector<std::string>& settled) {
  const std::vector<oracle::Original::Sayable> sayable = first->original.sayable;
  std::vector<std::shared_ptr<Simpler>> list = {std::move(first)};
  for (const oracle::Original::Sayable& each : sayable) {
    if ((each.values.empty() && says(named.entry, each)) ||
        std::find(settled.begin(), settled.end(), each.field) != settled.end())
      continue;
    const std::size_t before = list.size();
    for (std::size_t i = 0; i < before; ++i) {
      if (each.values.empty())
        change_lines(list[i]->original, each.field,
                     [](const Pattern& field, const std::string& line) { return field.replaced(line, ""); });
      for (const std::string& value : written_for(named, each)) {
        list.push_back(copy_of(*list[i]));
        choose(*list.back(), each.field, value);
        list.back()->said = list.back()->said || is_constant_of(named, each, value);
      }
    }
  }
  // One key alone has all the weight, whatever is wrong with it.
  std::erase_if(list, [&](const std::shared_ptr<Simpler>& each) { return asks_one_key(*each); });
  return list;
}

std::vector<Tried> tried_ways(const Named& named, const Port& port, const Form& form) {
  std::vector<Tried> list;
  for (std::shared_ptr<Simpler>& simpler : simpler_ports(named, simpler_of(port)))
    list.push_back({std::move(simpler), form});
  const auto queries = std::find_if(port.original->sayable.begin(), port.original->sayable.end(),
                                    [](const oracle::Original::Sayable& each) { return each.field == "sq"; });
  const std::optional<Form> of_keys = with_length_of_keys(form, port);
  if (queries == port.original->sayable.end() || !of_keys) return list;
  const std::shared_ptr<Simpler> one = simpler_of(port);
  choose(*one, queries->field, "1");
  std::vector<Tried> of_one_query;
  for (std::shared_ptr<Simpler>& simpler : simpler_ports(named, one, {"sq", "sk"}))
    of_one_query.push_back({std::move(simpler), *of_keys});
  list.insert(named.takes_one(queries->word) ? list.begin() : list.end(), of_one_query.begin(),
              of_one_query.end());
  return list;
}

std::vector<std::string> common_sizes(const Named& named, const oracle::Original::Sayable& each) {
  std::vector<std::string> list = written_for(named, each);
  if (each.values.size() == 1 && !each.of_who_says_none)
    list.push_back(std::to_string(2 * std::stoi(each.values.front())));
  return list;
}

std::vector<std::shared_ptr<Simpler>> narrower_ports(const Named& named, const Port& port) {
  std::vector<std::string> optional;
  std::vector<std::shared_ptr<Simpler>> sized = {simpler_of(port)};
  for (const oracle::Original::Sayable& each : port.original->sayable) {
    if (each.values.empty() && !leads(port.op, each.field)) optional.push_back(each.field);
    const std::size_t before = sized.size();
    for (const std::string& value : common_sizes(named, each))
      for (std::size_t i = 0; i < before; ++i) {
        sized.push_back(copy_of(*sized[i]));
        choose(*sized.back(), each.field, value);
        sized.back()->said = sized.back()->said || is_constant_of(named, each, value);
      }
  }
  std::vector<std::shared_ptr<Simpler>> list;
  // One of each of a leading size, which has no axis then.
  const auto of_one = [](const Simpler& other, const std::string& field) {
    std::shared_ptr<Simpler> one = copy_of(other);
    change_lines(one->original, field, [&](const Pattern& of, const std::string& line) {
      return of.replaced(line, fmt::format("$1{}=1", field));
    });
    one->original.drops_leading_ones = true;
    one->original.empties.clear();
    return one;
  };
  for (const std::shared_ptr<Simpler>& size : sized) {
    list.push_back(size);
    // Of one query all keys: without their length there is one, and no axis of them.
    if (asks_one_query(*size) && !port.original->leading.empty())
      list.push_back(of_one(*size, port.original->leading.front()));
    std::shared_ptr<Simpler> less = size;
    for (const std::string& field : optional) {
      less = copy_of(*less);
      change_lines(less->original, field,
                   [](const Pattern& of, const std::string& line) { return of.replaced(line, ""); });
      list.push_back(less);
    }
    for (const std::string& field : port.original->leading) {
      less = of_one(*less, field);
      list.push_back(less);
    }
  }
  return list;
}

}  // namespace isomer::lab
