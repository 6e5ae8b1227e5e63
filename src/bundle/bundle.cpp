#include "bundle/bundle.hpp"

#include "core/sentence.hpp"

#include <sys/mman.h>

#include <utility>

namespace isomer {

const std::vector<NamedTensor>& Bundle::tensors() const { return contents_->tensors; }

const std::map<std::string, std::string>& Bundle::metadata() const { return contents_->metadata; }

const Tensor* Bundle::find(std::string_view name) const {
  for (const NamedTensor& each : contents_->tensors)
    if (each.name == name) return &each.tensor;
  return nullptr;
}

const Tensor& Bundle::operator[](std::string_view name) const {
  if (const Tensor* tensor = find(name)) return *tensor;
  std::string names;
  for (const NamedTensor& each : contents_->tensors) names += (names.empty() ? "" : ", ") + each.name;
  core::fail(ErrorCode::bad_argument, "bundle: no tensor ", name, "; there ",
             names.empty() ? "is none at all" : "are " + names);
}

namespace bundle {

BundleContents::~BundleContents() {
  if (memory != nullptr) munmap(memory, bytes);
}

namespace {

constexpr std::pair<DType, std::string_view> kFormatNames[] = {
    {DType::f64, "F64"},
    {DType::f32, "F32"},
    {DType::f16, "F16"},
    {DType::bf16, "BF16"},
    {DType::e4m3fn, "F8_E4M3"},
    {DType::e5m2, "F8_E5M2"},
    {DType::e4m3fnuz, "F8_E4M3FNUZ"},
    {DType::e5m2fnuz, "F8_E5M2FNUZ"},
    {DType::i8, "I8"},
    {DType::i32, "I32"},
    {DType::i64, "I64"},
    {DType::u8, "U8"},
    {DType::i16, "I16"},
};

}  // namespace

std::string_view format_name(DType type) {
  for (const auto& [each, name] : kFormatNames)
    if (each == type) return name;
  return {};
}

DType type_of_format_name(std::string_view name) {
  for (const auto& [type, each] : kFormatNames)
    if (each == name) return type;
  return DType::none;
}

std::int64_t span_bytes(const Tensor& tensor) {
  if (tensor.empty()) return 0;
  std::int64_t last = 0, reach = 0, bytes = 0;
  for (int d = 0; d < tensor.rank; ++d)
    if (__builtin_mul_overflow(tensor.size(d) - 1, tensor.stride(d), &reach) ||
        __builtin_add_overflow(last, reach, &last))
      return -1;
  if (__builtin_add_overflow(last, std::int64_t{1}, &last) ||
      __builtin_mul_overflow(last, static_cast<std::int64_t>(size_of(tensor.dtype)), &bytes))
    return -1;
  return bytes;
}

}  // namespace bundle
}  // namespace isomer
