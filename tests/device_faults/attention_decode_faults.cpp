#include "planted.hpp"

namespace isomer::planted {
namespace {

constexpr std::string_view kKernel = "ops/attention/kernels/attention_decode.cu";
constexpr std::string_view kWalk = "ops/attention/kernels/attention_decode_walk.cuh";
constexpr std::string_view kDivision = "ops/attention/kernels/attention_stream_k.cuh";
constexpr std::string_view kRows = "ops/attention/kernels/attention_decode_rows.cuh";
/// Bytes under 16 bits: pages, a tail, several tiles of a warp, and keys with room behind them.
constexpr std::string_view kCase =
    "attention b=2 sq=1 sk=420 hq=8 hkv=1 d=128 page=16 lse descale kv=e4m3fn num_splits=1 seed=7";
/// A value of the first key is NaN, which three of the rows see.
constexpr std::string_view kNan =
    "attention sq=16 sk=16 hq=1 d=64 left=2 right=0 kv=e4m3fn num_splits=1 regime=nan seed=7";
/// A plain call: two entries over workers, and entries of lengths that differ.
constexpr std::string_view kPlain =
    "attention b=2 sq=1 sk=420 hq=8 hkv=1 d=128 page=16 lengths=full lse kv=e4m3fn seed=7";
constexpr std::string_view kRagged = "attention b=5 sq=1 sk=900 hq=4 hkv=1 d=64 page=16 lse kv=e4m3fn seed=7";

}  // namespace

Planted attention_decode_faults() {
  static constexpr Fault kFaults[] = {
      {"keys_of_the_same_tile_again", kWalk,
       "load_keys(shared.places[warp()][turn ^ 1]);\n    else\n      load_values(",
       "load_keys(shared.places[warp()][turn]);\n    else\n      load_values(", "expected"},
      {"place_not_counted_in_sixteens", kRows, "static_cast<u64>(place) << 4", "static_cast<u64>(place) << 3",
       "expected"},
      {"pair_of_columns_twice", kRows, "pair % 2 == 0 ? low_bytes_of", "true ? low_bytes_of", "expected"},
      {"queries_of_other_columns", kRows, "i / kOfPiece * 4) + i % kOfPiece * 8;\n  }\n  /// s[n]",
       "i / kOfPiece * 4);\n  }\n  /// s[n]", "expected"},
      {"bytes_that_are_not_finite_kept", kRows, "noted |= non_finite_bytes(word);", "noted |= 0 * word;",
       "expected", kNan},
      {"part_of_another_entry", kKernel, "shared.worker - static_cast<Count>(first_worker)", "shared.worker",
       "uninitialised-read", kPlain},
      {"first_task_before_its_places", kKernel, "                      rows[i]);\n  }\n  __syncthreads();",
       "                      rows[i]);\n  }", "race", kPlain},
      {"second_tile_where_the_first_is", kKernel, "(Walk::first_of(task)) ^ i]", "(Walk::first_of(task))]",
       "uninitialised-read", kPlain},
      {"entry_that_begins_with_a_worker", kDivision, "from <= mine", "from < mine", "uninitialised-read",
       kRagged},
  };
  return {kKernel, "emulated/portable", kCase, kFaults};
}

}  // namespace isomer::planted
