// Device sources with one fault each, made of the library's own by replacing one piece of text.
#pragma once

#include "gpu/plan.hpp"
#include "gpu/sources.hpp"
#include "lab/check/outcome.hpp"

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace isomer::planted {

/// The library's device sources and those of planted/: written by the build.
std::span<const gpu::Source> embedded();

struct Fault {
  std::string_view name, file;      ///< of the library: "ops/attention/kernels/attention_sm90.cu"
  std::string_view find, replace;   ///< the first occurs once in the file
  std::string_view says;            ///< what a check of the kernel has to say of it
  std::string_view line = {};       ///< the case that shows it; the kernel's ordinary one where empty
  std::string_view candidate = {};  ///< of the plan's, that is taken; the plan's own choice where empty
};

/// A kernel of the library and the faults that are planted in it, or in a file that it includes.
struct Planted {
  std::string_view kernel;          ///< "ops/attention/kernels/attention_sm90.cu"
  std::string_view implementation;  ///< that runs it: "emulated/sm90"
  std::string_view line;            ///< the ordinary case
  std::span<const Fault> faults;
};

/// What the first tier plants: of each kind, which is what is said of it, and of each file the first.
std::vector<Fault> first_of_each_kind(const Planted& planted);
/// What it leaves to the second tier.
std::vector<Fault> others(const Planted& planted);

/// Where the file with that fault lies among the sources.
std::string place_of(const Fault& fault);
/// Where the kernel that has the fault lies: the same file, or one that includes it.
std::string path_of(const Fault& fault);
/// How often the text that is replaced occurs.
int occurrences(const Fault& fault);

/// The Hopper kernels of attention and of block-scaled products.
Planted attention_faults();
/// Attention's for wide values and queries of v.
Planted attention_wide_faults();
/// Of its kernel for pieces, of the launch that combines parts of the keys, and of the one that appends.
Planted attention_piece_faults();
Planted attention_combine_faults();
Planted attention_append_faults();
/// The mma.sync kernel of attention.
Planted attention_sm80_faults();
/// The one for few queries, over bytes.
Planted attention_decode_faults();
Planted fp8_gemm_faults();

/// What is done to each step of a plan before it runs.
using ChangeOfStep = std::function<void(gpu::Step&)>;
/// What a check says of the plan of a case with its steps changed.
lab::Outcome checked(const Planted& planted, const ChangeOfStep& change, std::string_view line = {},
                     std::string_view candidate = {});
/// Fails the test that asks, unless the check names the fault.
void expect_named(const Planted& planted, const Fault& fault);
/// Fails the test that asks, unless the kernel itself passes in each case that shows a fault, of which there
/// are so many; the first tier runs every third of them.
void expect_right(const Planted& planted, std::size_t cases);

/// Prints its name.
void PrintTo(const Fault& fault, std::ostream* out);

}  // namespace isomer::planted
