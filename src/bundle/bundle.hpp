#pragma once

#include <isomer/bundle.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>

namespace isomer::bundle {

struct BundleContents {
  BundleContents() = default;
  ~BundleContents();
  BundleContents(const BundleContents&) = delete;
  BundleContents& operator=(const BundleContents&) = delete;

  std::vector<NamedTensor> tensors;
  std::map<std::string, std::string> metadata;
  std::byte* memory = nullptr;  ///< one mapping for all tensors: pages that no element lies on cost nothing
  std::size_t bytes = 0;
};

/// Copies that many bytes of a file, from that offset on. Only asked for bytes inside the file.
using ReadAt = std::function<void(std::uint64_t offset, void* to, std::size_t bytes)>;

/// The bundle in a file of `file_bytes` bytes. Throws Error io; sentences begin with "load: `name` ".
Bundle read_bundle(const std::string& name, std::uint64_t file_bytes, const ReadAt& read_at);

/// The safetensors name of a type, and back; "" and none where there is none.
std::string_view format_name(DType type);
DType type_of_format_name(std::string_view name);

/// Bytes that a tensor of these sizes and strides spans; negative where they overflow int64.
std::int64_t span_bytes(const Tensor& tensor);

/// Calls row(first element, stride) for every run of size(-1) elements along the last dimension, in row-major
/// order; a tensor of rank 0 is one run of one.
template <class Row>
void for_each_row(const Tensor& tensor, Row&& row) {
  if (tensor.empty()) return;
  std::array<std::int64_t, Tensor::kMaxRank> at{};
  const int outer = tensor.rank > 0 ? tensor.rank - 1 : 0;
  const std::int64_t element = size_of(tensor.dtype);
  for (;;) {
    std::int64_t offset = 0;
    for (int d = 0; d < outer; ++d) offset += at[static_cast<std::size_t>(d)] * tensor.stride(d);
    row(static_cast<std::byte*>(tensor.data) + offset * element);
    int d = outer - 1;
    while (d >= 0 && ++at[static_cast<std::size_t>(d)] == tensor.size(d))
      at[static_cast<std::size_t>(d--)] = 0;
    if (d < 0) return;
  }
}

}  // namespace isomer::bundle
