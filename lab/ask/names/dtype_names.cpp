#include "lab/ask/names/dtype_names.hpp"

#include "lab/ask/names/stride_names.hpp"

#include <algorithm>
#include <map>

namespace isomer::lab {
namespace {

/// Words that say a type in a function's name.
const std::map<std::string, DType>& types_by_word() {
  static const std::map<std::string, DType> words = [] {
    std::map<std::string, DType> all = {{"int", DType::i32}, {"bool", DType::u8}, {"b8", DType::u8}};
    for (const auto& [dtype, spellings] : dtype_spellings())
      for (const std::string& each : spellings) all.emplace(each, dtype);
    all.erase("single");  // a single pass, a single block
    return all;
  }();
  return words;
}

}  // namespace

const std::map<DType, std::vector<std::string>>& dtype_spellings() {
  static const std::map<DType, std::vector<std::string>> spellings = {
      {DType::f32, {"float", "float32", "fp32", "f32", "single"}},
      {DType::f16, {"half", "__half", "float16", "fp16", "f16"}},
      {DType::bf16, {"bfloat16", "bf16", "__nv_bfloat16", "__hip_bfloat16", "hip_bfloat16"}},
      {DType::f64, {"double", "float64", "fp64", "f64"}},
      {DType::u8, {"uint8_t", "uint8", "u8", "uchar", "byte"}},
      {DType::i8, {"int8_t", "int8", "s8", "i8", "schar"}},
      {DType::i16, {"int16_t", "int16", "s16", "i16", "short"}},
      {DType::i32, {"int32_t", "int32", "s32", "i32"}},
      {DType::i64, {"int64_t", "int64", "s64", "i64", "long"}}};
  return spellings;
}

std::vector<std::string> spellings_of_type(std::string_view word) {
  // Of a finite type (fn), an unsigned zero (uz) and other biases each has a name of its own.
  static const std::vector<std::vector<std::string>> fp8 = {
      {"float8e5", "float8_e5m2", "fp8_e5m2", "f8_e5m2", "float8e5m2", "e5m2", "f8e5m2", "fp8e5m2"},
      {"float8e4nv", "float8_e4m3fn", "fp8_e4m3", "f8_e4m3", "fp8_e4m3fn", "float8e4m3", "e4m3", "e4m3fn",
       "f8e4m3", "fp8e4m3"},
      {"float8e4b8", "float8_e4m3fnuz", "fp8_e4m3_fnuz", "fp8_e4m3fnuz", "e4m3fnuz", "e4m3b8"},
      {"float8e5b16", "float8_e5m2fnuz", "fp8_e5m2_fnuz", "fp8_e5m2fnuz", "e5m2fnuz", "e5m2b16"},
      {"float8e4b15", "fp8_e4m3b15", "e4m3b15"}};
  const std::string own(word.substr(word.rfind('.') == std::string_view::npos ? 0 : word.rfind('.') + 1));
  const auto holds = [&](const std::vector<std::string>& list) {
    return std::find(list.begin(), list.end(), own) != list.end();
  };
  for (const std::vector<std::string>& list : fp8)
    if (holds(list)) return list;
  for (const auto& [dtype, list] : dtype_spellings())
    if (holds(list)) return list;
  return {};
}

DtypeName dtype_name(std::string_view function) {
  DtypeName name;
  std::string whole;
  int types = 0;
  for (const std::string& word : words_of(function)) {
    whole += word;
    const auto type = types_by_word().find(word);
    if (type == types_by_word().end()) {
      name.stem += word;
    } else {
      name.dtype = type->second;
      ++types;
    }
  }
  return types > 1 ? DtypeName{whole, DType::none} : name;
}

}  // namespace isomer::lab
