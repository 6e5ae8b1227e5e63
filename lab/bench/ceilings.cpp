#include "lab/bench/ceilings.hpp"

#include "lab/bench/fma.hpp"
#include "lab/bench/measuring.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace isomer::lab {
namespace {

/// Far beyond any last-level cache that a few threads share, small enough to repeat often.
constexpr std::size_t kCopyBytes = 128u << 20;
constexpr std::size_t kPiece = 1u << 20;
constexpr std::int64_t kFmaRounds = 400000;

}  // namespace

struct Ceilings::Buffers {
  std::vector<std::byte> from, to;
};

Ceilings::Ceilings(Executor& executor) : executor_(executor), buffers_(new Buffers) {
  buffers_->from.assign(kCopyBytes, std::byte{1});
  buffers_->to.assign(kCopyBytes, std::byte{2});
}

Ceilings::~Ceilings() { delete buffers_; }

double Ceilings::copy_rate() {
  const double begin = clock_seconds();
  parallel_for(executor_, static_cast<std::int64_t>(kCopyBytes / kPiece), [&](std::int64_t piece, int) {
    const std::size_t at = static_cast<std::size_t>(piece) * kPiece;
    std::memcpy(buffers_->to.data() + at, buffers_->from.data() + at, kPiece);
  });
  const double seconds = clock_seconds() - begin;
  // The next round reads what this one wrote, so that neither side stays in a cache by luck.
  std::swap(buffers_->from, buffers_->to);
  return 2.0 * kCopyBytes / seconds;
}

double Ceilings::fma_rate() {
  const FmaFunction fma = fma_function().best();
  const int threads = executor_.concurrency();
  std::vector<double> flops(static_cast<std::size_t>(threads), 0);
  std::vector<float> keep(static_cast<std::size_t>(threads), 0);
  const double begin = clock_seconds();
  parallel_for(executor_, threads, [&](std::int64_t i, int) {
    flops[static_cast<std::size_t>(i)] = fma(kFmaRounds, &keep[static_cast<std::size_t>(i)]);
  });
  const double seconds = clock_seconds() - begin;
  double sum = 0;
  for (const double each : flops) sum += each;
  return sum / seconds;
}

}  // namespace isomer::lab
