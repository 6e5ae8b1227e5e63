#include "lab/ask/adapting/changes.hpp"

#include "lab/ask/adapting/refusal.hpp"
#include "lab/ask/form.hpp"
#include "lab/text/lower_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <numeric>

namespace isomer::lab {
namespace {

using What = Passing::What;

/// How messages of frameworks and of people call a dtype, in lower case.
const std::map<DType, std::vector<std::string>>& spellings() {
  static const std::map<DType, std::vector<std::string>> list = {
      {DType::f32, {"float32", "fp32", "f32", "kfloat32", "float"}},
      {DType::f16, {"float16", "fp16", "f16", "half"}},
      {DType::bf16, {"bfloat16", "bf16"}},
      {DType::f64, {"float64", "double", "fp64"}},
      {DType::i8, {"int8", "char"}},
      {DType::i32, {"int32", "int"}},
      {DType::i64, {"int64", "long"}},
      {DType::u8, {"uint8", "byte"}},
      {DType::i16, {"int16", "short"}},
      {DType::e4m3fn, {"float8_e4m3fn", "e4m3fn", "float8", "fp8", "e4m3"}},
      {DType::e4m3fnuz, {"float8_e4m3fnuz", "e4m3fnuz"}},
  };
  return list;
}

/// Where the word stands by itself in the text, or npos.
std::size_t find_word(const std::string& text, const std::string& word) {
  const auto letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t at = text.find(word); !word.empty() && at != std::string::npos;
       at = text.find(word, at + 1)) {
    const bool begins =
        at == 0 || !letter(text[at - 1]) || (text[at - 1] == 'k' && (at == 1 || !letter(text[at - 2])));
    const bool ends = at + word.size() == text.size() || !letter(text[at + word.size()]);
    if (begins && ends) return at;
  }
  return std::string::npos;
}

bool mentions(const std::string& message, DType dtype) {
  const auto at = spellings().find(dtype);
  return at != spellings().end() &&
         std::any_of(at->second.begin(), at->second.end(),
                     [&](const std::string& word) { return find_word(message, word) != std::string::npos; });
}

const Parameter* parameter(const Form& form, std::size_t i) {
  return i < form.entry->parameters.size() ? &form.entry->parameters[i] : nullptr;
}

std::string name_of_argument(const Form& form, std::size_t i, const std::vector<Port::Role>& roles) {
  const Parameter* p = parameter(form, i);
  if (p != nullptr && !p->name.empty()) return p->name;
  return form.passings[i].role >= 0 ? roles[static_cast<std::size_t>(form.passings[i].role)].name
                                    : std::to_string(i);
}

/// "expected to be in range of [-4, 3]": PyTorch's words for a dimension that a tensor of rank 4 lacks.
bool lacks_dimension(const std::string& message, int rank) {
  return message.find(fmt::format("range of [-{}, {}]", rank, rank - 1)) != std::string::npos;
}

struct Ranked {
  int rank;
  Change change;
};

Change change(Form form, Code code, std::string argument, std::string what, std::string fix) {
  Change made;
  made.form = std::move(form);
  made.finding.code = code;
  made.finding.argument = std::move(argument);
  made.finding.evidence = std::move(what);
  made.finding.fix = std::move(fix);
  return made;
}

}  // namespace

bool is_about_rank(const std::string& said) {
  const std::string message = lower_case(said);
  for (const char* word : {"dim", "rank", "shape", "[", "size"})
    if (message.find(word) != std::string::npos) return true;
  return false;
}

bool is_about_dtype(const std::string& said) {
  const std::string message = lower_case(said);
  return message.find("type") != std::string::npos ||
         std::any_of(spellings().begin(), spellings().end(),
                     [&](const auto& each) { return mentions(message, each.first); });
}

namespace {

/// A number where the original has a tensor, or the other way round.
void add_kinds(const Form& form, const std::vector<Port::Role>& roles, const std::vector<Value>& values,
               std::vector<Ranked>& list) {
  using Kind = Parameter::Kind;
  for (std::size_t i = 0; i < form.passings.size(); ++i) {
    const Parameter* p = parameter(form, i);
    if (p == nullptr || form.passings[i].what != What::role || values[i].kind == Value::Kind::none) continue;
    const std::string name = name_of_argument(form, i, roles);
    if (values[i].is_tensor() &&
        (p->kind == Kind::integer || p->kind == Kind::real || p->kind == Kind::boolean)) {
      Form first = form;
      first.passings[i].what = What::first;
      list.push_back(
          {-1, change(std::move(first), Code::argument_kind, name,
                      fmt::format("callers pass {} as a tensor ({}), but the parameter is a number ({})",
                                  name, describe(values[i]), p->type),
                      fmt::format("take a tensor for {}", name))});
    } else if (!values[i].is_tensor() && values[i].kind != Value::Kind::list &&
               (p->kind == Kind::tensor || p->kind == Kind::optional_tensor || p->kind == Kind::pointer)) {
      Form boxed = form;
      boxed.passings[i].boxed = true;
      boxed.passings[i].cast = p->element;
      list.push_back(
          {-1, change(std::move(boxed), Code::argument_kind, name,
                      fmt::format("callers pass {} as a number ({}), but the parameter is a tensor ({})",
                                  name, describe(values[i]), p->type),
                      fmt::format("take a number for {}", name))});
    }
  }
}

}  // namespace

namespace {

/// Several tensors of a dtype that is refused in words that name none of them, as PyTorch's data_ptr<float>()
/// does: of one line, cast alone, they are refused with the same words.
void add_casts_of_several(const Form& form, const std::vector<Port::Role>& roles,
                          const std::vector<Value>& values, const std::string& said,
                          std::vector<Ranked>& list) {
  const std::string message = lower_case(said);
  for (const auto& [wanted, wanted_as] : spellings())
    for (const auto& [given, given_as] : spellings()) {
      if (wanted == given || is_float(wanted) != is_float(given) || !mentions(message, wanted) ||
          !may_be_meant(said, given, wanted))
        continue;
      Form cast = form;
      std::string names;
      int count = 0;
      for (std::size_t i = 0; i < form.passings.size(); ++i) {
        if (form.passings[i].what != What::role || !values[i].is_tensor() || values[i].tensor.dtype != given)
          continue;
        cast.passings[i].cast = wanted;
        ++count;
        names += (names.empty() ? "" : ", ") + name_of_argument(form, i, roles);
      }
      if (count < 2) continue;
      list.push_back(
          {mentions(message, given) ? 3 : 5, change(std::move(cast), Code::dtype_refused, names,
                                                    fmt::format("{} are given as {}", names, name_of(given)),
                                                    fmt::format("take {} for {}", name_of(given), names))});
    }
}

}  // namespace

std::vector<Change> changes(const Form& form, const Port& port, const Given& given,
                            const std::string& message) {
  return changes(form, port.roles, given.values, message);
}

std::vector<Change> changes(const Form& form, const std::vector<Port::Role>& roles,
                            const std::vector<Value>& originals, const std::string& said) {
  const std::string message = lower_case(said);
  std::vector<Ranked> list;
  const std::vector<Value> values = passed(form, originals);
  add_kinds(form, roles, values, list);
  for (std::size_t i = 0; i < form.passings.size(); ++i) {
    const Passing& passing = form.passings[i];
    if (passing.what != What::role || !values[i].is_tensor()) continue;
    const std::string name = name_of_argument(form, i, roles);
    const Port::Role& role = roles[static_cast<std::size_t>(passing.role)];
    const bool named = find_word(message, lower_case(name)) != std::string::npos ||
                       find_word(message, lower_case(role.name)) != std::string::npos;
    const Tensor& tensor = values[i].tensor;
    const DType original = originals[static_cast<std::size_t>(passing.role)].tensor.dtype;
    const Parameter* p = parameter(form, i);
    for (const auto& [dtype, spelling] : spellings()) {
      if (dtype == tensor.dtype ||
          (p != nullptr && p->kind == Parameter::Kind::pointer && p->element != DType::none))
        continue;
      if (is_float(dtype) != is_float(tensor.dtype) && !mentions(message, dtype)) continue;
      Form cast = form;
      cast.passings[i].cast = dtype;
      const bool meant = may_be_meant(said, tensor.dtype, dtype);
      list.push_back({(named ? 0 : 2) + (mentions(message, dtype) ? 0 : 4) + (meant ? 0 : 8),
                      change(std::move(cast), Code::dtype_refused, name,
                             fmt::format("{} is given as {}", name, name_of(original)),
                             fmt::format("take {} for {}", name_of(original), name))});
    }
    const bool about_rank = is_about_rank(message);
    const bool of_this_rank = lacks_dimension(message, tensor.rank);
    for (const auto& [drop, inner] : {std::pair(1, false), std::pair(-1, false), std::pair(-1, true)}) {
      if (drop == 1 && (tensor.rank < 2 || tensor.size(-1) != 1)) continue;
      Form reshaped = form;
      reshaped.passings[i].drop += drop;
      reshaped.passings[i].inner = inner;
      list.push_back({(named ? 1 : 3) + (about_rank ? 0 : 4) - (of_this_rank && drop < 0 ? 4 : 0),
                      change(std::move(reshaped), Code::rank_refused, name,
                             fmt::format("{} is given as {}", name,
                                         originals[static_cast<std::size_t>(passing.role)].tensor.describe()),
                             fmt::format("take {} with {} dimensions", name,
                                         originals[static_cast<std::size_t>(passing.role)].tensor.rank))});
    }
    if (!passing.compact && !tensor.is_contiguous()) {
      Form compact = form;
      compact.passings[i].compact = true;
      list.push_back({message.find("contiguous") != std::string::npos ? 0 : 6,
                      change(std::move(compact), Code::assumes_contiguous, name,
                             fmt::format("{} is given as {}", name, tensor.describe()),
                             fmt::format("address {} by its strides", name))});
    }
    if (tensor.rank == 4 && !role.output && passing.axes.empty()) {
      // [B, S, H, D] or [B, H, S, D], of all tensors of that rank at once.
      Form turned = form;
      for (std::size_t j = 0; j < turned.passings.size(); ++j)
        if (turned.passings[j].what == What::role && values[j].is_tensor() && values[j].tensor.rank == 4)
          turned.passings[j].axes = {0, 2, 1, 3};
      list.push_back({5, change(std::move(turned), Code::layout_convention, name,
                                fmt::format("{} is given as {}, and taken, as all tensors of four "
                                            "dimensions, with the second and the third exchanged",
                                            name, tensor.describe()),
                                "keep the callers' order of axes, the second before the third")});
    }
  }
  // Two tensors of one rank that lack one dimension each are refused with the same words.
  Form together = form;
  std::string names;
  int count = 0;
  for (std::size_t i = 0; i < form.passings.size(); ++i) {
    if (form.passings[i].what != What::role || !values[i].is_tensor() ||
        !lacks_dimension(message, values[i].tensor.rank))
      continue;
    --together.passings[i].drop;
    ++count;
    names += (names.empty() ? "" : ", ") + name_of_argument(form, i, roles);
  }
  if (count > 1)
    list.push_back({1, change(std::move(together), Code::rank_refused, names,
                              fmt::format("{} have the dimensions that the original takes", names),
                              "read only dimensions that the tensors have")});
  add_casts_of_several(form, roles, values, said, list);
  for (std::size_t i = 0; i < form.passings.size(); ++i)
    for (std::size_t j = i + 1; j < form.passings.size(); ++j) {
      if (form.passings[i].what != What::role || form.passings[j].what != What::role) continue;
      Form swapped = form;
      std::swap(swapped.passings[i], swapped.passings[j]);
      list.push_back({7, change(std::move(swapped), Code::argument_order, name_of_argument(form, i, roles),
                                fmt::format("arguments {} and {} are exchanged", i + 1, j + 1),
                                "take the arguments in the original's order")});
    }
  std::stable_sort(list.begin(), list.end(),
                   [](const Ranked& a, const Ranked& b) { return a.rank < b.rank; });
  std::vector<Change> all;
  for (Ranked& ranked : list) all.push_back(std::move(ranked.change));
  return all;
}

}  // namespace isomer::lab
