#include "lab/check/arena.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>

namespace isomer::lab {
namespace {

constexpr std::byte kGuardFill{0xFF};  ///< NaN in every float type, −1 in every integer type
/// Round outputs: what a kernel makes of an input's guard zone, NaN of NaN, must not look like what was
/// there.
constexpr std::byte kOutputGuardFill{0x7F};
constexpr std::byte kPoison[2] = {std::byte{0xA5}, std::byte{0x5A}};

template <class Visit>
void each_element(const Tensor& tensor, Visit visit) {
  const std::int64_t count = tensor.numel();
  std::array<std::int64_t, Tensor::kMaxRank> index{};
  std::int64_t offset = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    visit(i, offset * size_of(tensor.dtype));
    for (int d = tensor.rank - 1; d >= 0; --d) {
      const auto at = static_cast<std::size_t>(d);
      offset += tensor.stride(d);
      if (++index[at] < tensor.size(d)) break;
      offset -= index[at] * tensor.stride(d);
      index[at] = 0;
    }
  }
}

}  // namespace

Arena::Arena(const oracle::Problem& problem) {
  const core::Call& call = problem.call();
  for (const oracle::Problem::Buffer& buffer : problem.buffers()) {
    Region region{&buffer, Use::input, std::vector<std::uint8_t>(buffer.bytes, 0), {}};
    // A buffer that an output shares with an input holds the input first: it is not poisoned.
    bool read = false, written = false;
    const auto origin = static_cast<std::size_t>(static_cast<std::byte*>(buffer.tensor.data) - buffer.base);
    const auto bytes = static_cast<std::size_t>(size_of(buffer.tensor.dtype));
    each_element(buffer.tensor, [&](std::int64_t, std::int64_t offset) {
      std::memset(&region.element[origin + static_cast<std::size_t>(offset)], 1, bytes);
    });
    for (int i = 0; i < call.count; ++i) {
      const Tensor& tensor = call.tensor(i);
      if (!tensor.defined() || !oracle::Problem::spans(tensor, buffer)) continue;
      const core::Role role = core::role_in(call, static_cast<std::size_t>(i));
      read = read || role != core::Role::out;
      written = written || role != core::Role::in;
    }
    region.use = !written ? Use::input : read ? Use::inout : Use::output;
    const std::byte fill = written ? kOutputGuardFill : kGuardFill;
    for (std::size_t i = 0; i < buffer.bytes; ++i)
      if (!region.element[i]) buffer.base[i] = fill;
    region.initial.assign(buffer.base, buffer.base + buffer.bytes);
    regions_.push_back(std::move(region));
  }
}

void Arena::reset(int pass) {
  for (Region& region : regions_) {
    if (region.use == Use::output)
      for (std::size_t i = 0; i < region.initial.size(); ++i)
        if (region.element[i]) region.initial[i] = kPoison[pass];
    std::memcpy(region.buffer->base, region.initial.data(), region.initial.size());
  }
}

std::string Arena::trespass() const {
  for (const Region& region : regions_) {
    const bool may_write = region.use != Use::input;
    if (!may_write && std::memcmp(region.buffer->base, region.initial.data(), region.initial.size()) == 0)
      continue;
    for (std::size_t i = 0; i < region.initial.size(); ++i) {
      if (region.buffer->base[i] == region.initial[i] || (may_write && region.element[i])) continue;
      const auto from_start = static_cast<std::ptrdiff_t>(i) -
                              (static_cast<std::byte*>(region.buffer->tensor.data) - region.buffer->base);
      if (region.element[i])
        return fmt::format("{} is an input and was written at byte {}", region.buffer->name, from_start);
      return fmt::format("{} was written out of bounds, at byte {} of its view", region.buffer->name,
                         from_start);
    }
  }
  return {};
}

const Arena::Region* Arena::region_at(const std::byte* address) const {
  for (const Region& region : regions_) {
    const std::byte* base = region.buffer->base;
    if (address >= base && address < base + region.buffer->bytes) return &region;
  }
  return nullptr;
}

std::string Arena::overwritten(const oracle::ExpectedTensor& expected, const Tensor& tensor) const {
  std::string sentence;
  const auto* data = static_cast<const std::byte*>(tensor.data);
  const Region* region = nullptr;
  each_element(tensor, [&](std::int64_t i, std::int64_t offset) {
    if (!sentence.empty() || expected.written[static_cast<std::size_t>(i)]) return;
    const std::byte* element = data + offset;
    if (region == nullptr || element < region->buffer->base ||
        element >= region->buffer->base + region->buffer->bytes)
      region = region_at(element);
    if (region == nullptr) return;
    const auto at = static_cast<std::size_t>(element - region->buffer->base);
    if (std::memcmp(element, region->initial.data() + at, static_cast<std::size_t>(size_of(tensor.dtype))) !=
        0)
      sentence = fmt::format("{} element {} must stay untouched and was written", expected.name, i);
  });
  return sentence;
}

std::vector<std::byte> Arena::content(const Tensor& tensor) const {
  std::vector<std::byte> bytes;
  const auto size = static_cast<std::size_t>(size_of(tensor.dtype));
  bytes.reserve(static_cast<std::size_t>(tensor.numel()) * size);
  each_element(tensor, [&](std::int64_t, std::int64_t offset) {
    const std::byte* at = static_cast<const std::byte*>(tensor.data) + offset;
    bytes.insert(bytes.end(), at, at + size);
  });
  return bytes;
}

}  // namespace isomer::lab
