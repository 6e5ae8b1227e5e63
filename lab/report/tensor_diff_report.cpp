#include "lab/report/tensor_diff_report.hpp"

#include "lab/report/terminal.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <cmath>

namespace isomer::lab {
namespace {

std::string verdict_cell(const TensorDifference& tensor) {
  if (!tensor.comparable) return Terminal::red("shapes differ");
  if (tensor.dtype_a != tensor.dtype_b) return Terminal::red("dtypes differ");
  if (tensor.beyond > 0) return Terminal::red(fmt::format("{} beyond", tensor.beyond));
  return Terminal::green(tensor.unequal == 0 ? "equal" : "within");
}

nlohmann::ordered_json finite_number(double value) {
  if (!std::isfinite(value)) return nullptr;
  return value;
}

}  // namespace

std::string tensor_diff_text(const TensorDiff& diff) {
  std::string text;
  if (!diff.tensors.empty()) {
    Table table("lllrrrrrl");
    table.row({"tensor", "dtype", "shape", "max abs", "max rel", "ULP", "tolerance", "", "at"});
    table.rule();
    for (const TensorDifference& tensor : diff.tensors) {
      const auto both = [](const std::string& a, const std::string& b) { return a == b ? a : a + " / " + b; };
      table.row({tensor.name, both(tensor.dtype_a, tensor.dtype_b), both(tensor.shape_a, tensor.shape_b),
                 fmt::format("{:.3g}", tensor.max_abs), fmt::format("{:.3g}", tensor.max_rel),
                 std::to_string(tensor.max_ulp), fmt::format("{:g}", tensor.tolerance), verdict_cell(tensor),
                 tensor.unequal == 0 ? "" : fmt::format("{} {:g} / {:g}", tensor.where, tensor.a, tensor.b)});
    }
    text += table.text() + "\n";
  }
  for (const std::string& name : diff.only_a) text += Terminal::red("only in A ") + name + "\n";
  for (const std::string& name : diff.only_b) text += Terminal::red("only in B ") + name + "\n";
  text += diff.same() ? Terminal::green("the same numbers, within the tolerance") + "\n"
                      : Terminal::red("other numbers") + "\n";
  return text;
}

std::string tensor_diff_json(const TensorDiff& diff) {
  nlohmann::ordered_json json;
  json["version"] = 1;
  json["verdict"] = diff.same() ? "same" : "different";
  json["tensors"] = nlohmann::ordered_json::array();
  for (const TensorDifference& tensor : diff.tensors)
    json["tensors"].push_back({{"name", tensor.name},
                               {"dtype", {tensor.dtype_a, tensor.dtype_b}},
                               {"shape", {tensor.shape_a, tensor.shape_b}},
                               {"same", tensor.same()},
                               {"elements", tensor.elements},
                               {"unequal", tensor.unequal},
                               {"beyond", tensor.beyond},
                               {"tolerance", tensor.tolerance},
                               {"max_abs", finite_number(tensor.max_abs)},
                               {"max_rel", finite_number(tensor.max_rel)},
                               {"max_ulp", tensor.max_ulp},
                               {"at", tensor.where},
                               {"a", finite_number(tensor.a)},
                               {"b", finite_number(tensor.b)}});
  json["pairs"] = nlohmann::ordered_json::array();
  json["only_a"] = diff.only_a;
  json["only_b"] = diff.only_b;
  return json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace isomer::lab
