#pragma once

#include <isomer/tensor.hpp>

#include "core/contract.hpp"
#include "oracle/case.hpp"
#include "oracle/values.hpp"

#include <any>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace isomer::oracle {

/// How a tensor of a problem lies in memory.
///   contiguous  compact row-major
///   padded      every dimension but the last has a larger stride than compact
///   offset      compact, beginning an odd number of elements into its buffer (breaks 16-byte alignment)
///   transposed  the outer dimensions lie in reverse order; the last stays contiguous
///   broadcast   the first dimension of size > 1 (not the last) has stride 0; outputs stay contiguous
///   inner       the last dimension has stride 2 (only for ops that take any strides)
enum class Layout { contiguous, padded, offset, transposed, broadcast, inner };
const std::vector<std::string>& layout_names();
Layout layout_of(std::string_view name);

/// What a problem's tensors hold. Planning looks at shapes, strides, dtypes, options and addresses alone, so
/// it is asked with `none`: address space is reserved, and nobody may read or write it.
enum class Contents { drawn, none };

/// One case made concrete: typed args and options of the op, every tensor in a buffer of its own between
/// guard zones.
class Problem {
 public:
  explicit Problem(const Case& made_from, Contents contents = Contents::drawn);
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;

  const Case& made_from() const { return case_; }
  Random& random() { return random_; }
  /// False where tensors must not be touched: an op's make() then fills nothing.
  bool drawn() const { return contents_ == Contents::drawn; }

  /// The op's argument and option structs, made on first use; they live as long as the problem.
  template <class Args>
  Args& args() {
    if (!args_.has_value()) args_ = std::make_shared<Args>();
    return *std::any_cast<std::shared_ptr<Args>&>(args_);
  }
  template <class Options>
  Options& options() {
    if (!options_.has_value()) options_ = std::make_shared<Options>();
    return *std::any_cast<std::shared_ptr<Options>&>(options_);
  }

  /// A new tensor in a buffer of its own. Contents are zero until filled; outputs are poisoned by whoever
  /// runs the problem.
  Tensor make(const std::string& name, DType dtype, const std::vector<std::int64_t>& shape,
              Layout layout = Layout::contiguous);
  /// The same with these strides in elements, none of them negative.
  Tensor make_strided(const std::string& name, DType dtype, const std::vector<std::int64_t>& shape,
                      const std::vector<std::int64_t>& strides);
  /// A tensor whose slices along the first dimension lie `stride` (and more than a slice with guard zones)
  /// elements apart, each between guard zones in a buffer of its own; what lies between them is reserved and
  /// never touched: what 64-bit offsets need, without the memory.
  Tensor make_sparse(const std::string& name, DType dtype, const std::vector<std::int64_t>& shape,
                     std::int64_t stride);
  /// make() and fill().
  Tensor make(const std::string& name, DType dtype, const std::vector<std::int64_t>& shape, Layout layout,
              Regime regime, double scale = 1.0);
  /// From now on make() draws only so many elements of a compact tensor, for benches; 0: all. Each further
  /// one is one of these, chosen at random: rows that repeat would spare an attention kernel most of its new
  /// maxima. Regimes whose rows have a form are repeated.
  void reuse_after(std::int64_t elements) { distinct_ = elements; }
  /// A compact integer tensor with these values, which may be missing where nothing is drawn.
  Tensor make(const std::string& name, DType dtype, const std::vector<std::int64_t>& shape,
              const std::vector<std::int64_t>& values);

  /// Says what the call is; the tensors of the call must be those of args().
  void bind(core::Call call) { call_ = call; }
  const core::Call& call() const { return call_; }

  /// A buffer: guard zone, the tensor's span, guard zone.
  struct Buffer {
    std::string name;
    Tensor tensor;  ///< the view that the call sees
    std::byte* base = nullptr;
    std::size_t bytes = 0;  ///< guards included
  };
  static constexpr std::size_t kGuard = 4096;
  const std::vector<Buffer>& buffers() const { return buffers_; }
  const Buffer* buffer_of(const Tensor& tensor) const;
  /// Whether the memory that the tensor spans meets the buffer. A sparse tensor spans several.
  static bool spans(const Tensor& tensor, const Buffer& buffer);

 private:
  /// Throws Error out_of_memory for a shape that a case asks for in jest, before its size overflows.
  void check_span(const std::string& name, const std::vector<std::int64_t>& shape,
                  const std::vector<std::int64_t>& strides) const;
  /// A view `offset` elements into a new buffer.
  Tensor place(const std::string& name, DType dtype, const std::vector<std::int64_t>& shape,
               const std::vector<std::int64_t>& strides, std::int64_t offset);

  /// Zeroed memory, or address space alone; 64-byte aligned. It lives as long as the problem.
  std::byte* reserve(const std::string& name, std::size_t bytes);
  std::byte* map(const std::string& name, std::size_t bytes, int protection);

  Case case_;
  Contents contents_;
  Random random_;
  std::any args_, options_;
  core::Call call_;
  std::int64_t distinct_ = 0;
  std::vector<Buffer> buffers_;
  std::vector<std::shared_ptr<void>> storage_;
};

}  // namespace isomer::oracle
