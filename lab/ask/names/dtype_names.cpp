#include "lab/ask/names/dtype_names.hpp"

#include "lab/ask/names/stride_names.hpp"

#include <map>

namespace isomer::lab {
namespace {

const std::map<std::string, DType>& types_by_word() {
  static const std::map<std::string, DType> words = {
      {"f64", DType::f64},   {"fp64", DType::f64},      {"float64", DType::f64}, {"double", DType::f64},
      {"f32", DType::f32},   {"fp32", DType::f32},      {"float32", DType::f32}, {"float", DType::f32},
      {"f16", DType::f16},   {"fp16", DType::f16},      {"float16", DType::f16}, {"half", DType::f16},
      {"bf16", DType::bf16}, {"bfloat16", DType::bf16}, {"i64", DType::i64},     {"int64", DType::i64},
      {"s64", DType::i64},   {"long", DType::i64},      {"i32", DType::i32},     {"int32", DType::i32},
      {"s32", DType::i32},   {"int", DType::i32},       {"i8", DType::i8},       {"int8", DType::i8},
      {"s8", DType::i8},     {"u8", DType::u8},         {"uint8", DType::u8},    {"bool", DType::u8},
      {"b8", DType::u8}};
  return words;
}

}  // namespace

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
