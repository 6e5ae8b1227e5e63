#include "lab/ask/names/dtype_names.hpp"

#include "lab/ask/names/stride_names.hpp"

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
