#pragma once

#include "gpu/plan.hpp"
#include "oracle/oracle.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace isomer {

/// A case that an implementation takes: what it compiles and runs, and what it shows.
struct Taken {
  std::string line;
  double work = 0;                 ///< bytes and operations, with those of tiles that are not full
  std::set<std::string> programs;  ///< that it compiles
  std::set<std::string> shows;     ///< features, dtype, layout, regime, kernel, and in the second tier each
                                   ///< value of a kernel's variant and each program that `bench` runs
};

/// Every ordinary case, of the first tier a share of them, that it takes and for which its device has
/// memory.
std::vector<Taken> taken_by(const oracle::Oracle& oracle, const gpu::Implementation& implementation,
                            const gpu::Facts& facts);

/// So many of them that cost least, in work and in programs to compile, and still show all that the list
/// shows; in the first tier all that eight programs show, and every kernel.
std::vector<Taken> cheapest(const std::vector<Taken>& list, std::size_t count);

}  // namespace isomer
