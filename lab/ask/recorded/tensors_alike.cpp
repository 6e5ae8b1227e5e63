#include "lab/ask/recorded/tensors_alike.hpp"

#include "lab/ask/names/alike.hpp"
#include "lab/text/lower_case.hpp"
#include "lab/text/pattern.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace isomer::lab {
namespace {

bool has_word_of_result(const std::string& name) {
  static const Pattern result("(?:out|output|dst|new|res|result)_\\w+|\\w+_(?:out|output|dst|res|result)");
  return is_of_result(name) || result.is(lower_case(name));
}

bool takes_memory(const Parameter& p) {
  return p.kind == Parameter::Kind::tensor || p.kind == Parameter::Kind::optional_tensor ||
         p.kind == Parameter::Kind::pointer;
}

/// A parameter and a tensor that may be it.
class Names {
 public:
  Names(const std::vector<Parameter>& parameters, const Replayed& replayed, const std::vector<int>& role_at,
        const std::function<bool(std::size_t, std::size_t)>& may)
      : parameters_(parameters), replayed_(replayed) {
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      if (role_at[p] >= 0 || parameters[p].name.empty() || !takes_memory(parameters[p])) continue;
      open_.insert(p);
      for (std::size_t v = 0; v < replayed.values.size(); ++v)
        if (may_be(p, v, may)) fits_.emplace(p, v);
    }
  }

  void take(const std::function<void(std::size_t, std::size_t)>& told) {
    struct Pair {
      double likeness;
      std::size_t p, v;
    };
    std::vector<Pair> pairs;
    for (const auto& [p, v] : fits_)
      if (const double likeness = likeness_of_tensors(parameters_[p].name, name_of_value(v)); likeness > 0)
        pairs.push_back({likeness, p, v});
    std::stable_sort(pairs.begin(), pairs.end(),
                     [](const Pair& a, const Pair& b) { return a.likeness > b.likeness; });
    for (const Pair& pair : pairs) {
      const bool alone = std::none_of(pairs.begin(), pairs.end(), [&](const Pair& each) {
        return each.likeness == pair.likeness && (each.p == pair.p) != (each.v == pair.v) &&
               is_free(each.p, each.v);
      });
      if (is_free(pair.p, pair.v) && alone) take_one(pair.p, pair.v, told);
    }
    std::set<std::string> words;
    for (const std::size_t p : open_)
      for (const std::string& word : words_of_tensor(parameters_[p].name)) words.insert(word);
    for (const std::string& word : words) take_with(word, told);
  }

 private:
  const std::string& name_of_value(std::size_t v) const {
    return v < replayed_.roles.size() ? name_for(replayed_.roles[v]) : replayed_.values[v].name;
  }

  bool is_free(std::size_t p, std::size_t v) const { return open_.count(p) > 0 && taken_.count(v) == 0; }

  /// Tensors that the label makes on its way may be meant as well.
  bool may_be(std::size_t p, std::size_t v, const std::function<bool(std::size_t, std::size_t)>& may) const {
    const bool own = v >= replayed_.roles.size();
    const Value& value = replayed_.values[v];
    if (!value.is_tensor()) return false;
    if (own)
      return parameters_[p].is_const &&
             (parameters_[p].element == DType::none || parameters_[p].element == value.tensor.dtype);
    const Port::Role& role = replayed_.roles[v];
    if (!may(p, v) || (role.returned && role.called.empty())) return false;
    return role.output ? !parameters_[p].is_const
                       : parameters_[p].is_const || !has_word_of_result(parameters_[p].name);
  }

  void take_one(std::size_t p, std::size_t v, const std::function<void(std::size_t, std::size_t)>& told) {
    open_.erase(p);
    taken_.insert(v);
    told(p, v);
  }

  /// `q_len, r_len` of `len_a, len_b`.
  void take_with(const std::string& word, const std::function<void(std::size_t, std::size_t)>& told) {
    const auto has = [&](const std::string& name) {
      const std::vector<std::string> words = words_of_tensor(name);
      return words.size() > 1 && std::find(words.begin(), words.end(), word) != words.end();
    };
    std::vector<std::size_t> places, values;
    for (const std::size_t p : open_)
      if (has(parameters_[p].name)) places.push_back(p);
    for (std::size_t v = 0; v < replayed_.values.size(); ++v)
      if (taken_.count(v) == 0 && replayed_.values[v].is_tensor() && has(name_of_value(v)) &&
          std::any_of(places.begin(), places.end(), [&](std::size_t p) {
            return fits_.count({p, v}) > 0;
          }))
        values.push_back(v);
    if (places.size() != values.size()) return;
    for (std::size_t i = 0; i < places.size(); ++i)
      if (fits_.count({places[i], values[i]}) == 0) return;
    for (std::size_t i = 0; i < places.size(); ++i) take_one(places[i], values[i], told);
  }

  const std::vector<Parameter>& parameters_;
  const Replayed& replayed_;
  std::set<std::size_t> open_, taken_;
  std::set<std::pair<std::size_t, std::size_t>> fits_;
};

}  // namespace

const std::string& name_for(const Port::Role& role) {
  return role.returned && !role.called.empty() ? role.called : role.name;
}

bool is_of_result(const std::string& name) {
  static const Pattern result(
      "(?:d_|p_|h_)?(?:out|outputs?|dst|res|results?|ret)(?:_?(?:ptr|data|tensor|d))?");
  return result.is(lower_case(name));
}

bool is_of_input(const std::string& name) {
  static const Pattern input("(?:in|input|inputs|src)(?:_\\w+)?|\\w+_(?:in|input|src)");
  return input.is(lower_case(name));
}

void take_tensors_alike(const std::vector<Parameter>& parameters, const Replayed& replayed,
                        const std::vector<int>& role_at,
                        const std::function<bool(std::size_t, std::size_t)>& may,
                        const std::function<void(std::size_t, std::size_t)>& take) {
  Names(parameters, replayed, role_at, may).take(take);
}

}  // namespace isomer::lab
