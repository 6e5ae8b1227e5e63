#pragma once

#include <isomer/isomer.h>
#include <isomer/dtype.hpp>
#include <isomer/error.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>

namespace isomer {

/// `emulated`: GPU kernels on the CPU, in programs that link isomer_emulated; emulated:0 has warps of 32
/// lanes, emulated:1 of 64. DLPack's kDLExtDev.
enum class DeviceType : std::uint8_t { cpu, cuda, hip, emulated };

/// A device of this machine.
struct Device {
  DeviceType type = DeviceType::cpu;  ///< whose it is
  int index = 0;                      ///< which of that type's; 0 on the CPU
  /// Whether type and index are equal.
  friend bool operator==(const Device& a, const Device& b) { return a.type == b.type && a.index == b.index; }
  /// Whether type or index differ.
  friend bool operator!=(const Device& a, const Device& b) { return !(a == b); }
};

/// "cpu", "cuda:0", "hip:1", "emulated:0".
ISOMER_API std::string to_string(Device device);

/// Sizes or strides as a call takes them: a view of an array, std::array, std::vector or std::span of
/// std::int64_t, which must outlive the call.
class Extents {
 public:
  /// `count` numbers from `first` on.
  Extents(const std::int64_t* first, std::size_t count) : data_(first), size_(count) {}
  /// All numbers of an array.
  template <std::size_t N>
  Extents(const std::int64_t (&numbers)[N]) : Extents(numbers, N) {}
  /// All numbers of a list that has data() and size().
  template <class List, class = std::enable_if_t<std::is_convertible_v<
                            decltype(std::declval<const List&>().data()), const std::int64_t*>>>
  Extents(const List& numbers) : Extents(numbers.data(), numbers.size()) {}

  const std::int64_t* data() const { return data_; }                 ///< the first number
  std::size_t size() const { return size_; }                         ///< how many there are
  const std::int64_t* begin() const { return data_; }                ///< the first number
  const std::int64_t* end() const { return data_ + size_; }          ///< one past the last
  std::int64_t operator[](std::size_t i) const { return data_[i]; }  ///< unchecked

 private:
  const std::int64_t* data_;
  std::size_t size_;
};

/// A non-owning view of strided memory. Strides are in elements and may be zero (broadcast) or larger than
/// compact. A default-constructed Tensor is absent: an optional argument that is not given. The library never
/// writes through a tensor whose role in the op's contract is `in`.
struct ISOMER_API Tensor {
  static constexpr int kMaxRank = 8;  ///< the most dimensions that a tensor may have

  void* data = nullptr;                          ///< the first element, in the device's memory
  DType dtype = DType::none;                     ///< none where the tensor is absent
  Device device{};                               ///< whose memory it is
  int rank = 0;                                  ///< how many dimensions
  std::array<std::int64_t, kMaxRank> shape{};    ///< the size of each dimension; 0 past the rank
  std::array<std::int64_t, kMaxRank> strides{};  ///< in elements; 0 past the rank

  Tensor() = default;  ///< an absent tensor

  /// A compact row-major view. Throws bad_argument for more than kMaxRank dimensions.
  Tensor(const void* memory, DType type, Extents sizes, Device where = {});
  /// The same of sizes in braces.
  Tensor(const void* memory, DType type, std::initializer_list<std::int64_t> sizes, Device where = {})
      : Tensor(memory, type, Extents(sizes.begin(), sizes.size()), where) {}

  /// A view with the given strides in elements; both lists have the same length.
  static Tensor strided(const void* memory, DType type, Extents sizes, Extents steps, Device where = {});
  /// The same of sizes and strides in braces.
  static Tensor strided(const void* memory, DType type, std::initializer_list<std::int64_t> sizes,
                        std::initializer_list<std::int64_t> steps, Device where = {}) {
    return strided(memory, type, Extents(sizes.begin(), sizes.size()), Extents(steps.begin(), steps.size()),
                   where);
  }

  /// A view of a DLPack tensor (isomer_tensor is layout-identical to DLTensor). Null strides mean compact;
  /// byte_offset is honoured. Throws bad_argument for a dtype or a device that Isomer does not have.
  static Tensor from_dlpack(const isomer_tensor& source);

  /// The DLPack form; its shape and strides point into this Tensor, which must outlive it.
  isomer_tensor dlpack() const;

  bool defined() const { return dtype != DType::none; }  ///< whether it is given at all
  /// Of dimension `dim`; negative ones count from the last. Throws bad_argument where there is none such.
  std::int64_t size(int dim) const { return shape[index_of(dim)]; }
  /// In elements, of dimension `dim` as in size().
  std::int64_t stride(int dim) const { return strides[index_of(dim)]; }
  std::int64_t numel() const;                  ///< the number of elements
  bool empty() const { return numel() == 0; }  ///< whether it has no element
  bool is_contiguous() const;                  ///< whether it is compact in row-major order

  /// Pointer to an element by its index in each of the dimensions, unchecked.
  template <class T = std::byte, class... Index>
  T* at(Index... index) const {
    static_assert(sizeof...(Index) <= kMaxRank);
    std::int64_t offset = 0;
    int dim = 0;
    ((offset += static_cast<std::int64_t>(index) * strides[static_cast<std::size_t>(dim++)]), ...);
    return reinterpret_cast<T*>(static_cast<std::byte*>(data) + offset * size_of(dtype));
  }

  /// Elements [begin, end) of that dimension. This view and those below share the data; arguments out of
  /// range throw bad_argument.
  Tensor slice(int dim, std::int64_t begin, std::int64_t end) const;
  Tensor select(int dim, std::int64_t index) const;  ///< one index of that dimension, which is then gone
  Tensor transpose(int dim_a, int dim_b) const;      ///< the two dimensions exchanged
  Tensor unsqueeze(int dim) const;                   ///< with a dimension of size 1 before `dim`
  /// Repeats dimensions of size 1 with stride 0.
  Tensor expand(std::initializer_list<std::int64_t> shape) const;

  /// "f16[2, 128]" or "f16[2, 128] strides [256, 1]" where not compact.
  std::string describe() const;

 private:
  std::size_t index_of(int dim) const {
    const std::int64_t at = dim < 0 ? std::int64_t{rank} + dim : dim;
    if (at < 0 || at >= rank || rank > kMaxRank) no_dimension(dim);
    return static_cast<std::size_t>(at);
  }
  [[noreturn]] void no_dimension(int dim) const;
};

}  // namespace isomer
