#pragma once

#include <isomer/tensor.hpp>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// Tensors by name in a file that any program can write and read: the safetensors format. The data are
/// row-major whatever the strides; where a tensor's strides are not compact, the metadata key "strides" holds
/// them as JSON,
/// {"name": [strides in elements], …}, and load lays the elements out in memory that way again.
namespace isomer {

namespace bundle {
struct BundleContents;
}

/// A tensor of a file.
struct NamedTensor {
  std::string name;  ///< by which the file has it
  Tensor tensor;     ///< in host memory
};

/// What a file held, in memory that all copies of the bundle share and keep alive. Every tensor begins on 64
/// bytes; what lies between the elements of a strided one is zero.
class ISOMER_API Bundle {
 public:
  /// In the order of the file's header.
  const std::vector<NamedTensor>& tensors() const;
  /// Null where the bundle has no tensor of that name.
  const Tensor* find(std::string_view name) const;
  /// Throws Error bad_argument, naming the tensors there are, where the bundle has none of that name.
  const Tensor& operator[](std::string_view name) const;
  /// The file's text metadata without "strides".
  const std::map<std::string, std::string>& metadata() const;

  /// For load() alone.
  explicit Bundle(std::shared_ptr<const bundle::BundleContents> contents) : contents_(std::move(contents)) {}

 private:
  std::shared_ptr<const bundle::BundleContents> contents_;
};

/// Writes tensors of the CPU and text metadata to a file, which appears whole or not at all. A broadcast
/// tensor is written with every element. Throws Error bad_argument for a tensor that is absent or not on the
/// CPU, for a name that is there twice, and for text that is not UTF-8; Error io where the file cannot be
/// written.
ISOMER_API void save(const std::string& path, const std::vector<NamedTensor>& tensors,
                     const std::map<std::string, std::string>& metadata = {});

/// Reads a file. Throws Error io, with one sentence that says what is wrong, for a file that cannot be read
/// or breaks the format in any way, and for element types that Isomer does not have.
ISOMER_API Bundle load(const std::string& path);

}  // namespace isomer
