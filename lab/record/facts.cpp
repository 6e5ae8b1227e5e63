#include "lab/record/facts.hpp"

#include "lab/text/read_json.hpp"

#include <nlohmann/json.hpp>

namespace isomer::lab {
namespace {

using nlohmann::json;

// A recording may come from anywhere: what is of another type than expected counts as absent.
const json& member(const json& object, const char* key) {
  static const json nothing;
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() ? *found : nothing;
}
std::string text_at(const json& object, const char* key) {
  const json& value = member(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}
int number(const json& object, const char* key, int otherwise = 0) {
  const json& value = member(object, key);
  return value.is_number_integer() ? value.get<int>() : otherwise;
}
bool flag(const json& object, const char* key, bool otherwise = false) {
  const json& value = member(object, key);
  return value.is_boolean() ? value.get<bool>() : otherwise;
}
const json& list(const json& object, const char* key) {
  static const json empty = json::array();
  const json& value = member(object, key);
  return value.is_array() ? value : empty;
}

LabelFunction function_of(const json& object) {
  LabelFunction function;
  function.name = text_at(object, "name");
  function.line = number(object, "line");
  function.returns = number(object, "returns");
  for (const json& each : list(object, "parameters"))
    function.parameters.push_back({text_at(each, "name"), flag(each, "default")});
  for (const json& each : list(object, "writes"))
    if (each.is_string()) function.writes.push_back(each.get<std::string>());
  for (const json& each : list(object, "indexes"))
    function.indexes.push_back({text_at(each, "index"), text_at(each, "tensor"), number(each, "dim", -1),
                                text_at(each, "access") == "write"});
  for (const json& each : list(object, "constants")) {
    LabelConstant constant{text_at(each, "name"), {}, number(each, "line")};
    for (const json& value : list(each, "values"))
      if (value.is_number_integer()) constant.values.push_back(value.get<std::int64_t>());
    function.constants.push_back(std::move(constant));
  }
  for (const json& each : list(object, "strides"))
    function.strides.push_back({text_at(each, "name"), text_at(each, "tensor"), number(each, "dim")});
  return function;
}

LabelInfluence influence_of(const json& object) {
  LabelInfluence influence;
  influence.function = text_at(object, "function");
  influence.argument = text_at(object, "argument");
  influence.dim = number(object, "dim");
  influence.rank = number(object, "rank");
  influence.first = flag(object, "first", true);
  influence.last = flag(object, "last", true);
  for (const json& each : list(object, "reach")) {
    LabelInfluence::Reach reach{number(each, "returned", -1), text_at(each, "argument"), {}};
    for (const json& count : list(each, "counts"))
      reach.counts.push_back(count.is_number_integer() ? count.get<std::int64_t>() : 0);
    influence.reach.push_back(std::move(reach));
  }
  return influence;
}

std::vector<Observed> observed_of(const json& all) {
  std::vector<Observed> observed;
  for (const json& each : all)
    observed.push_back({text_at(each, "name"), text_at(each, "text"), flag(each, "observed", true)});
  return observed;
}

TestCall call_of(const json& object) {
  TestCall call;
  call.function = text_at(object, "function");
  call.line = number(object, "line");
  call.open = flag(object, "open");
  call.arguments = observed_of(list(object, "arguments"));
  if (member(object, "returned").is_array()) call.returned = observed_of(list(object, "returned"));
  return call;
}

}  // namespace

const LabelFunction* Facts::function(const std::string& name) const {
  for (const LabelFunction& each : functions)
    if (each.name == name) return &each;
  return nullptr;
}

std::optional<Facts> facts_of(const Recording& recording) {
  const auto found = recording.metadata.find("facts");
  if (found == recording.metadata.end()) return std::nullopt;
  const json all = read_json(found->second);
  if (!all.is_object()) return std::nullopt;
  const json &label = member(all, "label"), &test = member(all, "test");
  Facts facts;
  facts.label_file = text_at(label, "file");
  facts.test_file = text_at(test, "file");
  for (const json& each : list(label, "functions")) facts.functions.push_back(function_of(each));
  for (const json& scope : list(test, "functions"))
    for (const json& each : list(scope, "calls")) facts.calls.push_back(call_of(each));
  facts.has_kernels = flag(label, "has_kernels", true);
  facts.subtracts_maximum = flag(label, "subtracts_maximum");
  facts.observes = flag(test, "observes", true);
  for (const json& each : list(test, "idle"))
    facts.idle.push_back({text_at(each, "text"), text_at(each, "why"), number(each, "line")});
  facts.draws = number(test, "draws");
  facts.seeds = flag(test, "seeds", true);
  const auto said = recording.metadata.find("influence");
  facts.asks_influence = said != recording.metadata.end();
  if (facts.asks_influence)
    if (const json influences = read_json(said->second); influences.is_array())
      for (const json& each : influences) facts.influence.push_back(influence_of(each));
  return facts;
}

}  // namespace isomer::lab
