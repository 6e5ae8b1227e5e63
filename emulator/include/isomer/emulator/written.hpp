// Arguments as one writes them on a command line, and results as one reads them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "isomer/emulator/module.hpp"

namespace isomer::emulator {

/// `x=in:f32:1024:randn`, `y=out:f16:1024`, `z=inout:i32:64:zero`, `n=i32:1024`, `s=f32:0.5`: the name may be
/// left out. Types: f64 f32 f16 bf16 e4m3 e5m2 i8 u8 i16 i32 u32 i64 u64. Fills: zero one ramp randn uniform
/// nan.
struct WrittenArgument {
  Argument argument;  ///< its data lies in `memory`
  std::vector<std::byte> memory;
  std::string type;
  std::uint64_t count = 0;  ///< elements of a buffer
};

/// Throws Error with what was expected. `seed` fills randn and uniform; the same seed gives the same values.
ISOMER_EMULATOR_EXPORT WrittenArgument parse_argument(const std::string& text, std::uint64_t seed);

/// The first `most` elements of a buffer as decimal numbers.
ISOMER_EMULATOR_EXPORT std::vector<double> leading_values(const WrittenArgument& argument, std::size_t most);

/// One line for each refusal, failure and report, and a last line with the launches.
ISOMER_EMULATOR_EXPORT std::string to_text(const RunResult& result);
/// Version 1; see docs/emulator.md.
ISOMER_EMULATOR_EXPORT std::string to_json(const RunResult& result,
                                           const std::vector<WrittenArgument>& arguments);

}  // namespace isomer::emulator
