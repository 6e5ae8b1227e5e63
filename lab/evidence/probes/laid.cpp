#include "lab/evidence/probes/laid.hpp"

#include "lab/ask/trial.hpp"

#include <algorithm>
#include <cstring>

namespace isomer::lab {

Value relaid(const Value& value, const std::vector<std::int64_t>& strides, std::int64_t before,
             std::uint8_t fill) {
  const Tensor& from = value.tensor;
  const std::int64_t size = size_of(from.dtype);
  std::int64_t last = before;
  for (int d = 0; d < from.rank; ++d) last += (from.size(d) - 1) * strides[static_cast<std::size_t>(d)];
  Value laid = tensor_value(value.name, from.dtype, {from.empty() ? 0 : last + 1});
  std::memset(laid.storage.get(), fill, laid.storage_bytes);
  laid.tensor = from;
  laid.tensor.data = static_cast<std::byte*>(laid.storage.get()) + before * size;
  laid.storage_offset = static_cast<std::size_t>(before * size);
  std::copy(strides.begin(), strides.end(), laid.tensor.strides.begin());
  for (std::int64_t flat = 0; flat < from.numel(); ++flat) {
    std::int64_t source = 0, target = 0, index = flat;
    for (int d = from.rank - 1; d >= 0; --d) {
      source += index % from.size(d) * from.stride(d);
      target += index % from.size(d) * laid.tensor.stride(d);
      index /= from.size(d);
    }
    std::memcpy(static_cast<std::byte*>(laid.tensor.data) + target * size,
                static_cast<const std::byte*>(from.data) + source * size, static_cast<std::size_t>(size));
  }
  return laid;
}

Value flat_view(const Value& value, bool from_begin) {
  Value flat = deep_copy(value);
  std::int64_t stride = 1;
  for (int d = flat.tensor.rank - 1; d >= 0; --d) {
    flat.tensor.strides[static_cast<std::size_t>(d)] = stride;
    stride *= flat.tensor.size(d);
  }
  if (from_begin) flat.tensor.data = flat.storage.get();
  return compact_copy(flat);
}

std::vector<Laid> layouts(const Tensor& tensor, oracle::Original::Reads reads) {
  std::vector<Laid> list;
  const auto rank = static_cast<std::size_t>(tensor.rank);
  std::vector<std::int64_t> strides(rank, 1);
  std::int64_t step = 1;
  for (std::size_t d = rank; d-- > 0;) {
    strides[d] = step;
    step *= tensor.size(static_cast<int>(d)) + (d + 1 == rank ? 3 : 1);
  }
  if (rank > 1) list.push_back({"padded", strides});
  if (rank > 2) {
    // The outer dimensions in reverse order, the last contiguous.
    step = tensor.size(-1);
    for (std::size_t d = 0; d + 1 < rank; ++d) {
      strides[d] = step;
      step *= tensor.size(static_cast<int>(d));
    }
    strides[rank - 1] = 1;
    list.push_back({"transposed", strides});
  }
  if (reads == oracle::Original::Reads::every_stride) {
    step = 2;
    for (std::size_t d = rank; d-- > 0;) {
      strides[d] = step;
      step *= tensor.size(static_cast<int>(d));
    }
    list.push_back({"inner stride 2", strides});
  }
  return list;
}

std::vector<std::int64_t> aligned_rows(const Tensor& tensor) {
  constexpr std::int64_t kAtOnce = 16;  // bytes
  const std::int64_t elements = std::max<std::int64_t>(1, kAtOnce / size_of(tensor.dtype));
  std::vector<std::int64_t> strides(static_cast<std::size_t>(tensor.rank), 1);
  std::int64_t step = 1;
  for (std::size_t d = strides.size(); d-- > 0;) {
    strides[d] = step;
    const std::int64_t size = tensor.size(static_cast<int>(d));
    step *= d + 1 == strides.size() ? (size / elements + 2) * elements : size + 1;
  }
  return strides;
}

}  // namespace isomer::lab
