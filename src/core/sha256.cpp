#include "core/sha256.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace isomer::core {
namespace {

// The first 32 bits of the fractions of the cube roots of the first 64 primes.
constexpr std::uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

using Blocks = void(std::uint32_t* state, const std::uint8_t* data, std::size_t count);

void portable_blocks(std::uint32_t* state, const std::uint8_t* data, std::size_t count) {
  for (; count > 0; --count, data += 64) {
    std::uint32_t w[64];
    for (int i = 0; i < 16; ++i)
      w[i] = std::uint32_t{data[4 * i]} << 24 | std::uint32_t{data[4 * i + 1]} << 16 |
             std::uint32_t{data[4 * i + 2]} << 8 | data[4 * i + 3];
    for (int i = 16; i < 64; ++i) {
      const std::uint32_t a = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ w[i - 15] >> 3;
      const std::uint32_t b = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ w[i - 2] >> 10;
      w[i] = w[i - 16] + a + w[i - 7] + b;
    }
    std::uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    std::uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (int i = 0; i < 64; ++i) {
      const std::uint32_t one = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
      const std::uint32_t t = h + one + ((e & f) ^ (~e & g)) + kRound[i] + w[i];
      const std::uint32_t zero = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
      const std::uint32_t u = zero + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + t, d = c, c = b, b = a, a = t + u;
    }
    const std::uint32_t changed[8] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; ++i) state[i] += changed[i];
  }
}

#if defined(__x86_64__)
/// The instructions of x86 take the state as the halves ABEF and CDGH, and four rounds' words at a time.
__attribute__((target("sha,sse4.1"))) void x86_blocks(std::uint32_t* state, const std::uint8_t* data,
                                                      std::size_t count) {
  const __m128i reversed = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  const __m128i cdab = _mm_shuffle_epi32(_mm_loadu_si128(reinterpret_cast<__m128i*>(state)), 0xb1);
  const __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128(reinterpret_cast<__m128i*>(state + 4)), 0x1b);
  __m128i abef = _mm_alignr_epi8(cdab, efgh, 8), cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
  for (; count > 0; --count, data += 64) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i words[4];
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
      __m128i& word = words[i % 4];
      const __m128i &next = words[(i + 1) % 4], &before = words[(i + 2) % 4], &last = words[(i + 3) % 4];
      if (i < 4)
        word = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(data) + i), reversed);
      else
        word = _mm_sha256msg2_epu32(
            _mm_add_epi32(_mm_sha256msg1_epu32(word, next), _mm_alignr_epi8(last, before, 4)), last);
      const __m128i round =
          _mm_add_epi32(word, _mm_loadu_si128(reinterpret_cast<const __m128i*>(kRound) + i));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, round);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(round, 0x0e));
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state), _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

bool has_sha() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kSha = 1u << 29;
  return __builtin_cpu_supports("sse4.1") && __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & kSha) != 0;
}
#endif

Blocks* fastest_blocks() {
#if defined(__x86_64__)
  static const bool sha = has_sha();
  if (sha) return x86_blocks;
#endif
  return portable_blocks;
}

}  // namespace

Sha256::Sha256(bool portable)
    : state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19},
      blocks_(portable ? portable_blocks : fastest_blocks()) {}

Sha256& Sha256::add(std::span<const std::byte> bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t held = length_ % 64;
    std::size_t count = std::min<std::size_t>(64 - held, bytes.size() - at);
    if (count == 64) {
      count = (bytes.size() - at) / 64 * 64;
      blocks_(state_, reinterpret_cast<const std::uint8_t*>(bytes.data()) + at, count / 64);
    } else {
      std::memcpy(pending_ + held, bytes.data() + at, count);
      if (held + count == 64) blocks_(state_, pending_, 1);
    }
    at += count;
    length_ += count;
  }
  return *this;
}

Sha256& Sha256::field(std::string_view text) {
  const std::uint64_t size = text.size();
  add(std::as_bytes(std::span(&size, 1)));
  return add(text);
}

std::string Sha256::hex() {
  const std::uint64_t bits = length_ * 8;
  add(std::string_view("\x80", 1));
  while (length_ % 64 != 56) add(std::string_view("\0", 1));
  std::byte end[8];
  for (int i = 0; i < 8; ++i) end[i] = static_cast<std::byte>(bits >> (56 - 8 * i));
  add(end);
  std::string text;
  for (const std::uint32_t word : state_)
    for (int shift = 28; shift >= 0; shift -= 4) text += "0123456789abcdef"[word >> shift & 15];
  return text;
}

std::string sha256(std::span<const std::byte> bytes) { return Sha256().add(bytes).hex(); }

}  // namespace isomer::core
