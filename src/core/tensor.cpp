#include <isomer/tensor.hpp>

#include "core/sentence.hpp"
#include "core/tensor_text.hpp"

#include <algorithm>
#include <span>

namespace isomer {
namespace core {
namespace {

std::string bracketed(std::span<const std::int64_t> numbers, std::string_view between) {
  std::string text = "[";
  for (std::size_t i = 0; i < numbers.size(); ++i) text += say(i > 0 ? between : "", numbers[i]);
  return text + "]";
}

}  // namespace

std::string shape_text(const Tensor& tensor) {
  return bracketed(std::span(tensor.shape).first(static_cast<std::size_t>(tensor.rank)), ", ");
}

std::string strides_text(const Tensor& tensor, std::string_view between) {
  return bracketed(std::span(tensor.strides).first(static_cast<std::size_t>(tensor.rank)), between);
}

}  // namespace core

using core::fail;
using core::say;

std::string to_string(Device device) {
  switch (device.type) {
    case DeviceType::cuda:
      return say("cuda:", device.index);
    case DeviceType::hip:
      return say("hip:", device.index);
    case DeviceType::emulated:
      return say("emulated:", device.index);
    default:
      return "cpu";
  }
}

namespace {

void check_rank(std::size_t rank) {
  if (rank > static_cast<std::size_t>(Tensor::kMaxRank))
    fail(ErrorCode::bad_argument, "tensor: at most ", Tensor::kMaxRank, " dimensions expected, got ", rank);
}

void check_dim(const Tensor& tensor, const char* what, int dim, int limit) {
  if (dim < 0 || dim >= limit)
    fail(ErrorCode::bad_argument, "tensor: ", what, " expects a dimension in [0, ", limit, "), got ", dim,
         " for ", tensor.describe());
}

struct CodeOf {
  DType type;
  isomer_data_type code;
};
constexpr CodeOf kCodes[] = {
    {DType::f64, {2, 64, 1}},  {DType::f32, {2, 32, 1}},      {DType::f16, {2, 16, 1}},
    {DType::bf16, {4, 16, 1}}, {DType::e4m3fn, {10, 8, 1}},   {DType::e4m3fnuz, {11, 8, 1}},
    {DType::e5m2, {12, 8, 1}}, {DType::e5m2fnuz, {13, 8, 1}}, {DType::i8, {0, 8, 1}},
    {DType::i32, {0, 32, 1}},  {DType::i64, {0, 64, 1}},      {DType::u8, {1, 8, 1}},
    {DType::i16, {0, 16, 1}},
};

}  // namespace

Tensor::Tensor(const void* source, DType type, Extents sizes, Device where)
    : data(const_cast<void*>(source)), dtype(type), device(where), rank(static_cast<int>(sizes.size())) {
  check_rank(sizes.size());
  std::copy(sizes.begin(), sizes.end(), shape.begin());
  std::int64_t step = 1;
  for (int i = rank - 1; i >= 0; --i) {
    const auto at = static_cast<std::size_t>(i);
    strides[at] = step;
    // A huge shape is refused later, by whoever uses the tensor; here only the product must not overflow.
    if (__builtin_mul_overflow(step, std::max<std::int64_t>(shape[at], 1), &step)) step = INT64_MAX;
  }
}

Tensor Tensor::strided(const void* source, DType type, Extents sizes, Extents steps, Device where) {
  if (sizes.size() != steps.size())
    fail(ErrorCode::bad_argument, "tensor: as many strides as dimensions expected, got ", steps.size(),
         " strides for ", sizes.size(), " dimensions");
  Tensor tensor(source, type, sizes, where);
  std::copy(steps.begin(), steps.end(), tensor.strides.begin());
  return tensor;
}

Tensor Tensor::from_dlpack(const isomer_tensor& source) {
  if (source.ndim < 0 || source.ndim > kMaxRank)
    fail(ErrorCode::bad_argument, "tensor: at most ", kMaxRank, " dimensions expected, got ndim ",
         source.ndim);
  if (source.ndim > 0 && source.shape == nullptr)
    fail(ErrorCode::bad_argument, "tensor: shape expected, got null");
  Device device;
  switch (source.device.device_type) {
    case 1:   // kDLCPU
    case 3:   // kDLCUDAHost
    case 11:  // kDLROCMHost
      break;
    case 2:   // kDLCUDA
    case 13:  // kDLCUDAManaged
      device = {DeviceType::cuda, source.device.device_id};
      break;
    case 10:  // kDLROCM
      device = {DeviceType::hip, source.device.device_id};
      break;
    case 12:  // kDLExtDev
      device = {DeviceType::emulated, source.device.device_id};
      break;
    default:
      fail(ErrorCode::bad_argument,
           "tensor: a cpu, cuda, hip or emulated device expected, got DLPack device type ",
           source.device.device_type);
  }
  for (const CodeOf& entry : kCodes) {
    if (entry.code.code != source.dtype.code || entry.code.bits != source.dtype.bits ||
        source.dtype.lanes != 1)
      continue;
    const auto rank = static_cast<std::size_t>(source.ndim);
    std::byte* data = static_cast<std::byte*>(source.data);
    if (data != nullptr) data += source.byte_offset;
    Tensor tensor(data, entry.type, Extents(source.shape, rank), device);
    if (source.strides != nullptr) std::copy_n(source.strides, rank, tensor.strides.begin());
    return tensor;
  }
  fail(ErrorCode::bad_argument, "tensor: a dtype of isomer expected, got DLPack code ",
       int{source.dtype.code}, ", ", int{source.dtype.bits}, " bits, ", source.dtype.lanes, " lanes");
}

isomer_tensor Tensor::dlpack() const {
  isomer_tensor out{};
  out.data = data;
  constexpr int kCodeOf[] = {1, 2, 10, 12};  // kDLCPU, kDLCUDA, kDLROCM, kDLExtDev
  out.device.device_type =
      static_cast<decltype(out.device.device_type)>(kCodeOf[static_cast<int>(device.type)]);
  out.device.device_id = device.index;
  out.ndim = rank;
  for (const CodeOf& entry : kCodes)
    if (entry.type == dtype) out.dtype = entry.code;
  out.shape = const_cast<std::int64_t*>(shape.data());
  out.strides = const_cast<std::int64_t*>(strides.data());
  return out;
}

std::int64_t Tensor::numel() const {
  std::int64_t count = 1;
  bool overflow = false;
  for (int i = 0; i < rank; ++i) {
    if (size(i) == 0) return 0;
    overflow |= __builtin_mul_overflow(count, size(i), &count);
  }
  // Nothing that large exists; whoever uses such a tensor refuses it.
  return overflow ? INT64_MAX : count;
}

bool Tensor::is_contiguous() const {
  std::int64_t step = 1;
  for (int i = rank - 1; i >= 0; --i) {
    if (size(i) != 1 && stride(i) != step) return numel() == 0;
    if (__builtin_mul_overflow(step, size(i), &step)) step = INT64_MAX;
  }
  return true;
}

Tensor Tensor::slice(int dim, std::int64_t begin, std::int64_t end) const {
  check_dim(*this, "slice", dim, rank);
  if (begin < 0 || end < begin || end > size(dim))
    fail(ErrorCode::bad_argument, "tensor: slice expects 0 <= begin <= end <= ", size(dim), ", got [", begin,
         ", ", end, ") of ", describe());
  Tensor view = *this;
  if (data != nullptr) view.data = static_cast<std::byte*>(data) + begin * stride(dim) * size_of(dtype);
  view.shape[static_cast<std::size_t>(dim)] = end - begin;
  return view;
}

Tensor Tensor::select(int dim, std::int64_t index) const {
  check_dim(*this, "select", dim, rank);
  if (index < 0 || index >= size(dim))
    fail(ErrorCode::bad_argument, "tensor: select expects an index in [0, ", size(dim), "), got ", index,
         " for ", describe());
  Tensor view = slice(dim, index, index + 1);
  for (int i = dim; i + 1 < rank; ++i) {
    view.shape[static_cast<std::size_t>(i)] = view.shape[static_cast<std::size_t>(i) + 1];
    view.strides[static_cast<std::size_t>(i)] = view.strides[static_cast<std::size_t>(i) + 1];
  }
  view.rank = rank - 1;
  return view;
}

Tensor Tensor::transpose(int dim_a, int dim_b) const {
  check_dim(*this, "transpose", dim_a, rank);
  check_dim(*this, "transpose", dim_b, rank);
  Tensor view = *this;
  std::swap(view.shape[static_cast<std::size_t>(dim_a)], view.shape[static_cast<std::size_t>(dim_b)]);
  std::swap(view.strides[static_cast<std::size_t>(dim_a)], view.strides[static_cast<std::size_t>(dim_b)]);
  return view;
}

Tensor Tensor::unsqueeze(int dim) const {
  check_dim(*this, "unsqueeze", dim, rank + 1);
  check_rank(static_cast<std::size_t>(rank) + 1);
  Tensor view = *this;
  for (int i = rank; i > dim; --i) {
    view.shape[static_cast<std::size_t>(i)] = view.shape[static_cast<std::size_t>(i - 1)];
    view.strides[static_cast<std::size_t>(i)] = view.strides[static_cast<std::size_t>(i - 1)];
  }
  view.shape[static_cast<std::size_t>(dim)] = 1;
  view.strides[static_cast<std::size_t>(dim)] = 1;
  view.rank = rank + 1;
  return view;
}

Tensor Tensor::expand(std::initializer_list<std::int64_t> sizes) const {
  if (static_cast<int>(sizes.size()) != rank)
    fail(ErrorCode::bad_argument, "tensor: expand expects ", rank, " sizes, got ", sizes.size());
  Tensor view = *this;
  int dim = 0;
  for (const std::int64_t want : sizes) {
    const auto at = static_cast<std::size_t>(dim++);
    if (want == shape[at]) continue;
    if (shape[at] != 1 || want < 0)
      fail(ErrorCode::bad_argument, "tensor: expand expects size ", shape[at], " in dimension ", dim - 1,
           ", got ", want);
    view.shape[at] = want;
    view.strides[at] = 0;
  }
  return view;
}

void Tensor::no_dimension(int dim) const {
  if (rank < 0 || rank > kMaxRank)
    fail(ErrorCode::bad_argument, "tensor: rank 0 to ", kMaxRank, " expected, got ", rank);
  if (rank == 0)
    fail(ErrorCode::bad_argument, "tensor: dimension ", dim, " of a tensor of rank 0 (", describe(),
         ") is asked for");
  fail(ErrorCode::bad_argument, "tensor: a dimension in [", -rank, ", ", rank, ") expected, got ", dim,
       " for ", describe());
}

std::string Tensor::describe() const {
  if (!defined()) return "absent";
  if (rank < 0 || rank > kMaxRank) return say(name_of(dtype), " of rank ", rank);
  std::string text = say(name_of(dtype), core::shape_text(*this));
  if (!is_contiguous()) text += " strides " + core::strides_text(*this);
  if (device.type != DeviceType::cpu) text += " on " + to_string(device);
  return text;
}

}  // namespace isomer
