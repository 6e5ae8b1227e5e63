#pragma once

#include "lab/binary/binary.hpp"

#include <utility>
#include <vector>

namespace isomer::lab {

/// Which kernel of one build belongs to which of another.
struct PairedKernels {
  std::vector<std::pair<const BinaryKernel*, const BinaryKernel*>> pairs;  ///< in the order of A
  std::vector<const BinaryKernel*> only_a, only_b;
};

/// Equal names and machine code of one architecture, whatever folder and number of closures a name holds;
/// then equal names; then equal names of architectures that stand on one side only; then the nearest of one
/// family, as long as more than a third of their parameters agree or only one does not; then the same of
/// families that differ in their namespace alone.
PairedKernels pair_kernels(const std::vector<const BinaryKernel*>& a,
                           const std::vector<const BinaryKernel*>& b);

/// In how many parameters two names differ.
std::size_t distance(const KernelName& a, const KernelName& b);

}  // namespace isomer::lab
