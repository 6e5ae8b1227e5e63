#include "kernel_table.hpp"

#include <bit>

namespace isomer::emulator::tests {
namespace {

using U = std::uint64_t;

U full(unsigned lanes) { return lanes == 64 ? ~U{0} : 0xffffffffull; }

// What shuffles of this width give thread t, by the programming guide.
U shuffles(unsigned t, unsigned lanes, unsigned width) {
  const unsigned lane = t % lanes, warp = t - lane, segment = lane / width * width;
  const unsigned up = lane - segment >= 1 ? lane - 1 : lane,
                 down = lane + 2 < segment + width ? lane + 2 : lane;
  const unsigned turned = (lane ^ 1) < segment + width ? lane ^ 1 : lane;
  U r = warp + segment + (1 & (width - 1));
  r = r * 131 + warp + up;
  r = r * 131 + warp + down;
  return r * 131 + warp + turned;
}
template <unsigned W>
U shuffles_of(unsigned t, unsigned lanes, unsigned) {
  return shuffles(t, lanes, W == 0 ? lanes : W);
}

U bits_where(unsigned lanes, bool (*yes)(unsigned)) {
  U b = 0;
  for (unsigned l = 0; l < lanes; ++l) b |= yes(l) ? U{1} << l : 0;
  return b;
}

U fibonacci(unsigned n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

U diverged_loop(unsigned lane, unsigned lanes) {
  U seen = 0;
  for (unsigned i = 0; i <= lane % 4; ++i) seen = seen * 100 + lanes / 4 * (4 - i);
  return seen * 1000 + lanes;
}

U fp8_round_trip(unsigned t) { return 1 + t % 7 + 300 + 10000 + 20000 + 40000; }

U bits_kernel(unsigned t) {
  const unsigned v = t + 1;
  unsigned reversed = 0;
  for (int i = 0; i < 32; ++i) reversed |= (v >> i & 1) << (31 - i);
  return std::popcount(v) + 100 * std::countl_zero(v) + 10000 * (std::countr_zero(v) + 1) +
         1000000ull * (reversed >> 20) + static_cast<U>(std::popcount(~U{0} << v % 64)) * 10000000000ull;
}

U rounding(unsigned t) {
  const int f = static_cast<int>(t % 4);
  const U nearest = f % 2 == 0 ? 2 + f : 3 + f;  // ties to even
  const int truncated = static_cast<int>(-(2.5f + static_cast<float>(f)) + 100.0f);
  return nearest + 100 * truncated + 10000 * (3 + f) + 1000000 * (2 + f) + 300000000ull;
}

U local_array(unsigned t) {
  U s = 0;
  for (int i = 0; i < 64; ++i) s += static_cast<U>(i) * t;
  return s;
}

const Row kRows[] = {
    {"warp.cu", "shfl_broadcast", 2, 128, [](unsigned t, unsigned w, unsigned) -> U { return t / w * w + 5; }},
    {"warp.cu", "shfl_wraps", 2, 128, [](unsigned t, unsigned w, unsigned) -> U { return t / w * w + (t % w + 3) % w; }},
    {"warp.cu", "shuffles_width_2", 1, 128, shuffles_of<2>},
    {"warp.cu", "shuffles_width_4", 1, 128, shuffles_of<4>},
    {"warp.cu", "shuffles_width_8", 1, 128, shuffles_of<8>},
    {"warp.cu", "shuffles_width_16", 1, 128, shuffles_of<16>},
    {"warp.cu", "shuffles_width_32", 1, 128, shuffles_of<32>},
    {"warp.cu", "shuffles_width_warp", 1, 128, shuffles_of<0>},
    {"warp.cu", "shfl_xor_past_segment", 1, 64,
     [](unsigned t, unsigned w, unsigned) -> U {
       const unsigned lane = t % w, source = lane ^ 12;
       return t - lane + (source < lane / 8 * 8 + 8 ? source : lane);
     }},
    {"warp.cu", "shfl_double", 1, 64, [](unsigned t, unsigned w, unsigned) -> U { return (t / w * w + 7) / 2 * 2; }},
    {"warp.cu", "shfl_u64", 1, 64, [](unsigned t, unsigned, unsigned) -> U { return t ^ 1; }},
    {"warp.cu", "shfl_struct", 1, 64,
     [](unsigned t, unsigned w, unsigned) -> U { const U s = t % w == w - 1 ? t : t + 1; return s * 60 + 15; }},
    {"warp.cu", "butterfly_sum", 1, 128, [](unsigned, unsigned w, unsigned) -> U { return w * (w + 1) / 2; }},
    {"warp.cu", "inclusive_scan", 1, 128, [](unsigned t, unsigned w, unsigned) -> U { return t % w + 1; }},
    {"warp.cu", "ballot_odd", 1, 128, [](unsigned, unsigned w, unsigned) -> U { return 0xaaaaaaaaaaaaaaaaull & full(w); }},
    {"warp.cu", "ballot_after_exit", 1, 64, [](unsigned t, unsigned w, unsigned) -> U { return t % w < 20 ? 0xfffff : 0; }},
    {"warp.cu", "any_all_uni", 1, 64, [](unsigned, unsigned, unsigned) -> U { return 1 + 4 + 16; }},
    {"warp.cu", "votes_in_halves", 1, 64,
     [](unsigned t, unsigned w, unsigned) -> U {
       const U thirds = bits_where(w, [](unsigned l) { return l % 3 == 0; });
       return t % w < 16 ? thirds & 0xffff : thirds & ~U{0xffff};
     }},
    {"warp.cu", "divergent_shuffles", 1, 64, [](unsigned t, unsigned, unsigned) -> U { return t % 2 == 0 ? 4 : 7; }},
    {"warp.cu", "match_any", 1, 64, [](unsigned t, unsigned w, unsigned) -> U { return U{15} << (t % w / 4 * 4); }},
    {"warp.cu", "match_all", 1, 64, [](unsigned, unsigned w, unsigned) -> U { return full(w) * 4 + 2; }},
    {"warp.cu", "reduce_sync", 1, 64,
     [](unsigned, unsigned w, unsigned) -> U { return U{w} * (w - 1) / 2 * 1000000 + (w - 6) * 1000 + 0 + 8 + 1 + 0; }},
    {"warp.cu", "activemask_full", 1, 64, [](unsigned, unsigned w, unsigned) -> U { return full(w); }},
    {"warp.cu", "syncwarp_order", 2, 256, [](unsigned t, unsigned, unsigned) -> U { return t; }},
    {"warp.cu", "partial_last_warp", 1, 72,
     [](unsigned t, unsigned w, unsigned n) -> U {
       const unsigned lanes = std::min(w, n - t / w * w);
       return lanes == 64 ? ~U{0} : (U{1} << lanes) - 1;
     }},

    {"language.cu", "static_shared", 3, 256, [](unsigned t, unsigned, unsigned n) -> U { return n - 1 - t % n; }},
    {"language.cu", "shared_several", 2, 256, [](unsigned t, unsigned, unsigned n) -> U { return (t % n + 1) % n + 5; }},
    {"language.cu", "shared_two_dimensional", 2, 256, [](unsigned t, unsigned, unsigned n) -> U { t %= n; return t % 16 * 16 + t / 16; }},
    {"language.cu", "shared_struct", 1, 64, [](unsigned, unsigned, unsigned) -> U { return 34; }},
    {"language.cu", "shared_union_aligned", 1, 64, [](unsigned, unsigned, unsigned) -> U { return 10; }},
    {"language.cu", "dynamic_shared", 2, 128, [](unsigned t, unsigned, unsigned n) -> U { return (t % n + 1) % n * 3; }, 0, false, false, false, 512},
    {"language.cu", "dynamic_shared_carved", 1, 128, [](unsigned t, unsigned, unsigned n) -> U { return 2 * (n - 1 - t); }, 0, false, false, false, 1280},
    {"language.cu", "dynamic_shared_at_file_scope", 1, 128, [](unsigned t, unsigned, unsigned) -> U { return t ^ 1; }, 0, false, false, false, 512},
    {"language.cu", "template_shared", 2, 256, [](unsigned, unsigned, unsigned n) -> U { return n * (n - 1) / 2 + n / 2 + n; }},
    {"language.cu", "barrier_or_and_count", 1, 256, [](unsigned, unsigned, unsigned) -> U { return 10000 + 86; }},
    {"language.cu", "barrier_after_exit", 1, 128, [](unsigned t, unsigned, unsigned) -> U { return t < 100 ? 2 : 1; }},
    {"language.cu", "barrier_in_loop", 2, 256, [](unsigned t, unsigned, unsigned n) -> U { return (t % n + 10) % n; }},
    {"language.cu", "named_barriers", 1, 256, [](unsigned t, unsigned, unsigned) -> U { return t / 128 * 128 + 127 - t % 128; }},
    {"language.cu", "lambdas", 1, 64, [](unsigned t, unsigned, unsigned) -> U { return 5 * t + 1; }},
    {"language.cu", "device_variables", 1, 64,
     [](unsigned t, unsigned, unsigned) -> U { const U w[] = {1, 3, 4}; return 5 + t % 4 + w[t % 3] + 13; }},
    {"language.cu", "recursion", 1, 64, [](unsigned t, unsigned, unsigned) -> U { return fibonacci(10 + t % 3); }},
    {"language.cu", "bounded", 1, 256, [](unsigned t, unsigned, unsigned) -> U { return 5 * t; }},
    {"language.cu", "local_array", 1, 64, [](unsigned t, unsigned, unsigned) -> U { return local_array(t); }},
    {"language.cu", "vector_types", 1, 64, [](unsigned t, unsigned, unsigned) -> U { return t + 6 + 20 + 255 + 12 + 16; }},
    {"language.cu", "bits", 1, 256, [](unsigned t, unsigned, unsigned) -> U { return bits_kernel(t); }},
    {"language.cu", "integer_intrinsics", 1, 32,
     [](unsigned, unsigned, unsigned) -> U { return 3 + 3 - 15 + 100 + 12 + 0x55 + 17 + 3 + 3 + 2; }},
    {"language.cu", "rounding_intrinsics", 1, 64, [](unsigned t, unsigned, unsigned) -> U { return rounding(t); }},
    {"language.cu", "directed_rounding", 1, 32, [](unsigned, unsigned, unsigned) -> U { return 255; }},
    {"language.cu", "shared_array_of_the_file", 1, 32, [](unsigned t, unsigned, unsigned) -> U { return 2 * (31 - t); }},
    {"language.cu", "directed_longs", 1, 32, [](unsigned, unsigned, unsigned) -> U { return 127; }},
    {"language.cu", "fast_math", 1, 32, [](unsigned, unsigned, unsigned) -> U { return 127; }},
    {"language.cu", "special_functions", 1, 32, [](unsigned, unsigned, unsigned) -> U { return 1023; }},
    {"language.cu", "ldg_and_clock", 1, 64, [](unsigned t, unsigned, unsigned) -> U { return 6 + t % 4; }},
    {"language.cu", "threadfence_flag", 3, 64, [](unsigned, unsigned, unsigned) -> U { return 42; }, 3},

    {"atomics.cu", "atomic_add_int", 40, 256, [](unsigned, unsigned, unsigned) -> U { return 40 * 256; }, 1, false, true},
    {"atomics.cu", "atomic_add_u64", 40, 256, [](unsigned, unsigned, unsigned) -> U { return U{10240} * 10239 / 2; }, 1, false, true},
    {"atomics.cu", "atomic_add_float", 40, 256, [](unsigned, unsigned, unsigned) -> U { return std::bit_cast<std::uint32_t>(5120.0f); }, 1, false, true},
    {"atomics.cu", "atomic_add_double", 40, 256, [](unsigned, unsigned, unsigned) -> U { return std::bit_cast<U>(2560.0); }, 1, false, true},
    {"atomics.cu", "atomic_add_half", 4, 256, [](unsigned, unsigned, unsigned) -> U { return 0x5c00; }, 1, false, true},
    {"atomics.cu", "atomic_add_bf16", 4, 256, [](unsigned, unsigned, unsigned) -> U { return 0x4300; }, 1, false, true},
    {"atomics.cu", "atomic_sub", 4, 256, [](unsigned, unsigned, unsigned) -> U { return static_cast<std::uint32_t>(-2048); }, 1, false, true},
    {"atomics.cu", "atomic_max", 40, 256, [](unsigned, unsigned, unsigned) -> U { return 10239; }, 1, false, true},
    {"atomics.cu", "atomic_min", 40, 256, [](unsigned, unsigned, unsigned) -> U { return static_cast<std::uint32_t>(-10239); }, 1, false, true},
    {"atomics.cu", "atomic_and_or_xor", 1, 256, [](unsigned, unsigned, unsigned) -> U { return 0xffffffffull; }, 1, false, true},
    {"atomics.cu", "atomic_inc", 1, 256, [](unsigned, unsigned, unsigned) -> U { return 6; }, 1, false, true},
    {"atomics.cu", "atomic_dec", 1, 256, [](unsigned, unsigned, unsigned) -> U { return 4; }, 1, false, true},
    {"atomics.cu", "atomic_cas_maximum", 40, 256, [](unsigned, unsigned, unsigned) -> U { return 10240; }, 1, false, true},
    {"atomics.cu", "spin_lock", 16, 128, [](unsigned i, unsigned, unsigned) -> U { return i == 0 ? 0 : 64; }, 2, false, true},
    {"atomics.cu", "histogram", 8, 256, [](unsigned, unsigned, unsigned) -> U { return 128; }, 16, false, true},
    {"atomics.cu", "last_block_sums", 30, 64, [](unsigned i, unsigned, unsigned) -> U { return i == 0 ? 465 : i; }, 31, false, true},
    {"atomics.cu", "half_arithmetic", 1, 32, [](unsigned, unsigned, unsigned) -> U { return 1875 + 6 + 1 + 0 + 6 + 0xbe00 + 1; }},
    {"atomics.cu", "half_rounding", 1, 32, [](unsigned, unsigned, unsigned) -> U { return 48 + 5000 + 480000 + 3000000; }},
    {"atomics.cu", "half_fma_rounds_once", 1, 32, [](unsigned, unsigned, unsigned) -> U { return 1; }},
    {"atomics.cu", "bf16_arithmetic", 1, 32, [](unsigned, unsigned, unsigned) -> U { return 40 + 0x3f80 + 1 + 3; }},
    {"atomics.cu", "fp8_round_trip", 1, 64, [](unsigned t, unsigned, unsigned) -> U { return fp8_round_trip(t); }},

    {"hip_forms.hip.cpp", "hip_shfl", 1, 128,
     [](unsigned t, unsigned w, unsigned) -> U { return t / w * w + 3 + (t ^ 1) * 1000 + (t % 8 == 0 ? t : t - 1) * U{1000000}; }},
    {"hip_forms.hip.cpp", "hip_ballot", 1, 128, [](unsigned, unsigned w, unsigned) -> U { return 0xaaaaaaaaaaaaaaaaull & full(w); }},
    {"hip_forms.hip.cpp", "hip_vectors_made", 1, 64, [](unsigned t, unsigned, unsigned) -> U { return 7 + t + 1 + 3000 + 70000; }},
    {"hip_forms.hip.cpp", "hip_any_all", 1, 128, [](unsigned, unsigned, unsigned) -> U { return 5; }},
    {"hip_forms.hip.cpp", "hip_diverged_branch", 1, 128,
     [](unsigned t, unsigned w, unsigned) -> U { return (t % w < 10 ? 1023 : 0) + full(w) % 1000; }},
    {"hip_forms.hip.cpp", "hip_diverged_loop", 1, 128, [](unsigned t, unsigned w, unsigned) -> U { return diverged_loop(t % w, w); }},
    {"hip_forms.hip.cpp", "hip_wave_sum", 1, 128, [](unsigned, unsigned w, unsigned) -> U { return w * (w - 1) / 2; }},
    {"hip_forms.hip.cpp", "hip_read_first_lane", 1, 128, [](unsigned t, unsigned w, unsigned) -> U { return t / w * w + 1; }},
    {"hip_forms.hip.cpp", "hip_activemask_in_branch", 1, 64, [](unsigned t, unsigned w, unsigned) -> U { return t % w >= 5 && t % w < 9 ? 0x1e0 : 0; }},
    {"hip_forms.hip.cpp", "hip_vector_operators", 1, 32, [](unsigned, unsigned, unsigned) -> U { return 40; }},
    {"hip_forms.hip.cpp", "hip_dynamic_shared", 1, 64, [](unsigned t, unsigned, unsigned) -> U { return t ^ 1; }, 0, false, false, false, 256},
    {"hip_forms.hip.cpp", "hip_fp8_fnuz", 1, 32, [](unsigned, unsigned, unsigned) -> U { return 0x40 + 7000; }},
    {"hip_forms.hip.cpp", "hip_shfl_half", 1, 64, [](unsigned t, unsigned w, unsigned) -> U { return t % w ^ 1; }},

    {"groups.cu", "group_block", 2, 256, [](unsigned t, unsigned, unsigned n) -> U { return n - 1 - t % n + 1000 * (t / n); }},
    {"groups.cu", "group_tile_sum", 1, 64, [](unsigned t, unsigned, unsigned n) -> U { return 36 + 1000 * (t / 8) + U{1000000} * (n / 8); }},
    {"groups.cu", "group_tile_votes", 1, 64, [](unsigned, unsigned, unsigned) -> U { return 0x1111 + 100000; }},
    {"groups.cu", "group_reduce", 1, 128, [](unsigned, unsigned, unsigned) -> U { return 496 + 31000; }},
    {"groups.cu", "group_coalesced", 1, 64,
     [](unsigned t, unsigned w, unsigned) -> U {
       if (t % 3 != 0) return 0;
       U size = 0, rank = 0;
       for (unsigned i = t / w * w; i < t / w * w + w; ++i) size += i % 3 == 0, rank += i % 3 == 0 && i < t;
       return size * 100 + rank;
     }},
    {"groups.cu", "group_binary_partition", 1, 64,
     [](unsigned t, unsigned, unsigned) -> U { const unsigned r = t % 32; return r < 12 ? 1200 + r + 120000 : 2000 + r - 12 + 200000; }},
    {"groups.cu", "group_dynamic_tile", 1, 64, [](unsigned t, unsigned, unsigned) -> U { return 40 + t % 4; }},
    {"groups.cu", "group_scan", 1, 64, [](unsigned t, unsigned, unsigned) -> U { return 2 * (t % 32 + 1) + 1000 * (t % 32); }},
    {"groups.cu", "group_grid_sync", 6, 64, [](unsigned t, unsigned, unsigned) -> U { return 6 * 64 - t; }, 0, true},

    {"cub.cu", "cub_block_sum", 1, 96, [](unsigned t, unsigned, unsigned) -> U { return t == 0 ? 4656 + 6900000 : 0; }},
    {"cub.cu", "cub_block_sum_of_items", 1, 64, [](unsigned t, unsigned, unsigned) -> U { return t == 0 ? 384 : 0; }},
    {"cub.cu", "cub_block_scan", 1, 96, [](unsigned t, unsigned, unsigned) -> U { return 2 * (t + 1) + 1000 * t + 96000000; }},
    {"cub.cu", "cub_block_scan_of_items", 1, 64, [](unsigned t, unsigned, unsigned) -> U { return 134 + 2 * t + 1000 * (135 + 2 * t); }},
    {"cub.cu", "cub_warp_collectives", 1, 64, [](unsigned t, unsigned, unsigned) -> U { return t % 16 == 0 ? 120000 : t % 16; }},
    {"cub.cu", "cub_load_store", 1, 32, [](unsigned t, unsigned, unsigned) -> U { return 2 * t + (t == 31 ? 0 : 1000 * (2 * t + 2)); }},
    {"cub.cu", "cub_arg_max", 1, 128, [](unsigned t, unsigned, unsigned) -> U { return t == 0 ? 4949 : 0; }},
};

}  // namespace

const std::vector<Row>& kernel_table() {
  static const std::vector<Row> rows(std::begin(kRows), std::end(kRows));
  return rows;
}

}  // namespace isomer::emulator::tests
