#include "oracle/problem.hpp"
#include "core/ceil_div.hpp"

#include "core/codec.hpp"
#include "core/sentence.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace isomer::oracle {

const std::vector<std::string>& layout_names() {
  static const std::vector<std::string> names = {"contiguous", "padded",    "offset",
                                                 "transposed", "broadcast", "inner"};
  return names;
}

Layout layout_of(std::string_view name) {
  const auto& names = layout_names();
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end())
    core::fail(ErrorCode::bad_argument, "layout expects ", core::either(names), ", got '", name, "'");
  return static_cast<Layout>(at - names.begin());
}

Problem::Problem(const Case& made_from, Contents contents)
    : case_(made_from), contents_(contents), random_(made_from.seed(), made_from.line()) {}

Tensor Problem::make(const std::string& name, DType dtype, const std::vector<std::int64_t>& shape,
                     Layout layout) {
  const auto rank = shape.size();
  check_span(name, shape, std::vector<std::int64_t>(rank, 1));
  std::vector<std::int64_t> strides(rank, 1);
  std::vector<std::size_t> order(rank);  // innermost first
  for (std::size_t i = 0; i < rank; ++i) order[i] = rank - 1 - i;
  if (layout == Layout::transposed && rank > 2) std::reverse(order.begin() + 1, order.end());
  std::int64_t step = layout == Layout::inner ? 2 : 1;
  bool broadcast = layout == Layout::broadcast;
  std::size_t repeated = rank;
  for (std::size_t i = 0; broadcast && i + 1 < rank; ++i)
    if (shape[i] > 1) {
      repeated = i;
      break;
    }
  for (const std::size_t dim : order) {
    strides[dim] = dim == repeated ? 0 : step;
    if (dim == repeated) continue;
    step *= std::max<std::int64_t>(shape[dim], 1);
    // 3 elements of padding: rows are no longer aligned to anything.
    if (layout == Layout::padded) step += 3;
  }
  return place(name, dtype, shape, strides, layout == Layout::offset ? 3 : 0);
}

Tensor Problem::make_strided(const std::string& name, DType dtype, const std::vector<std::int64_t>& shape,
                             const std::vector<std::int64_t>& strides) {
  return place(name, dtype, shape, strides, 0);
}

void Problem::check_span(const std::string& name, const std::vector<std::int64_t>& shape,
                         const std::vector<std::int64_t>& strides) const {
  // Doubles cannot overflow; what is compared is far from where they round.
  constexpr double kMost = 0x1p56;
  double elements = 1, span = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    elements *= static_cast<double>(std::max<std::int64_t>(shape[i], 1)) + 3;
    span += static_cast<double>(shape[i]) * static_cast<double>(strides[i]);
  }
  if (elements > kMost || span > kMost)
    core::fail(ErrorCode::out_of_memory, case_.schema().op, ": no memory for ", name,
               ", which spans more than 2^56 elements");
}

std::byte* Problem::reserve(const std::string& name, std::size_t bytes) {
  if (contents_ == Contents::none) return map(name, bytes, PROT_NONE);
  void* memory = std::calloc(1, bytes + 64);
  if (memory == nullptr)
    core::fail(ErrorCode::out_of_memory, case_.schema().op, ": no memory for ", name, " of ", bytes,
               " bytes");
  storage_.emplace_back(memory, &std::free);
  const auto past = reinterpret_cast<std::uintptr_t>(memory) % 64;
  return static_cast<std::byte*>(memory) + (past == 0 ? 0 : 64 - past);
}

std::byte* Problem::map(const std::string& name, std::size_t bytes, int protection) {
  void* memory = ::mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    core::fail(ErrorCode::out_of_memory, case_.schema().op, ": no address space for ", name, " of ", bytes,
               " bytes");
  storage_.emplace_back(memory, [bytes](void* mapped) { ::munmap(mapped, bytes); });
  return static_cast<std::byte*>(memory);
}

Tensor Problem::place(const std::string& name, DType dtype, const std::vector<std::int64_t>& shape,
                      const std::vector<std::int64_t>& strides, std::int64_t offset) {
  check_span(name, shape, strides);
  std::int64_t span = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) span += std::max<std::int64_t>(shape[i] - 1, 0) * strides[i];
  Buffer buffer;
  buffer.name = name;
  const std::size_t payload = static_cast<std::size_t>((span + offset) * size_of(dtype));
  buffer.bytes = core::align_up(payload, core::kAlignment) + 2 * kGuard;
  buffer.base = reserve(name, buffer.bytes);
  std::byte* data = buffer.base + kGuard + offset * size_of(dtype);
  buffer.tensor = Tensor::strided(data, dtype, shape, strides);
  buffers_.push_back(buffer);
  return buffer.tensor;
}

Tensor Problem::make(const std::string& name, DType dtype, const std::vector<std::int64_t>& shape,
                     Layout layout, Regime regime, double scale) {
  const Tensor tensor = make(name, dtype, shape, layout);
  if (!drawn()) return tensor;
  Random random(case_.seed(), name);
  if (distinct_ == 0 || tensor.numel() <= distinct_ || !tensor.is_contiguous()) {
    fill(tensor, regime, random, scale);
    return tensor;
  }
  fill(Tensor(tensor.data, dtype, {distinct_}), regime, random, scale);
  auto* bytes = static_cast<std::byte*>(tensor.data);
  const std::int64_t size = size_of(dtype), drawn = distinct_ * size, all = tensor.numel() * size;
  if (regime == Regime::normal) {
    for (std::int64_t done = drawn; done < all; done += size)
      std::memcpy(bytes + done, bytes + random.below(distinct_) * size, static_cast<std::size_t>(size));
    return tensor;
  }
  for (std::int64_t done = drawn; done < all;) {
    const std::int64_t count = std::min(done, all - done);
    std::memcpy(bytes + done, bytes, static_cast<std::size_t>(count));
    done += count;
  }
  return tensor;
}

Tensor Problem::make(const std::string& name, DType dtype, const std::vector<std::int64_t>& shape,
                     const std::vector<std::int64_t>& values) {
  const Tensor tensor = make(name, dtype, shape);
  if (!drawn()) return tensor;
  if (static_cast<std::int64_t>(values.size()) != tensor.numel())
    core::fail(ErrorCode::internal, case_.schema().op, ": ", name, " expects ", tensor.numel(),
               " values, got ", values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    core::encode(dtype, static_cast<double>(values[i]),
                 static_cast<std::byte*>(tensor.data) + i * static_cast<std::size_t>(size_of(dtype)));
  return tensor;
}

Tensor Problem::make_sparse(const std::string& name, DType dtype, const std::vector<std::int64_t>& shape,
                            std::int64_t stride) {
  Tensor tensor(nullptr, dtype, shape);
  const auto slice = static_cast<std::size_t>(tensor.stride(0) * size_of(dtype));
  const auto apart = static_cast<std::size_t>(stride * size_of(dtype)) / 64 * 64;
  const std::size_t guarded = core::align_up(slice, core::kAlignment) + 2 * kGuard;
  const std::size_t bytes =
      static_cast<std::size_t>(std::max<std::int64_t>(shape[0] - 1, 0)) * apart + guarded;
  std::byte* memory = map(name, bytes, drawn() ? PROT_READ | PROT_WRITE : PROT_NONE);
  tensor.data = memory + kGuard;
  tensor.strides[0] = static_cast<std::int64_t>(apart) / size_of(dtype);
  for (std::int64_t i = 0; i < shape[0]; ++i)
    buffers_.push_back(
        {name, tensor.slice(0, i, i + 1), memory + static_cast<std::size_t>(i) * apart, guarded});
  return tensor;
}

bool Problem::spans(const Tensor& tensor, const Buffer& buffer) {
  std::int64_t last = 0;
  for (int i = 0; i < tensor.rank; ++i)
    last += std::max<std::int64_t>(tensor.size(i) - 1, 0) * tensor.stride(i);
  const auto* begin = static_cast<const std::byte*>(tensor.data);
  return begin < buffer.base + buffer.bytes && begin + last * size_of(tensor.dtype) >= buffer.base;
}

const Problem::Buffer* Problem::buffer_of(const Tensor& tensor) const {
  for (const Buffer& buffer : buffers_)
    if (tensor.data >= buffer.base && tensor.data < buffer.base + buffer.bytes) return &buffer;
  return nullptr;
}

}  // namespace isomer::oracle
