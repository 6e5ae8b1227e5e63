#include "lab/evidence/recorded/experiments/experiments.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>

namespace isomer::lab {
namespace {

/// Another order of the small numbers that are packed into a whole one: which of its groups of bits each is.
struct PackedOrder {
  int bytes, bits;
  const char* said;
  int (*from)(int place, int count);
};
constexpr PackedOrder kOrders[] = {
    {4, 4, "its eight groups of 4 bits from the highest to the lowest",
     [](int place, int count) { return count - 1 - place; }},
    {4, 4, "the upper and the lower 4 bits of each of its bytes exchanged",
     [](int place, int) { return place ^ 1; }},
    {4, 4, "its even groups of 4 bits before the odd ones",
     [](int place, int count) { return place < count / 2 ? 2 * place : 2 * (place - count / 2) + 1; }},
    {4, 4, "the lower half of its groups of 4 bits between those of the upper half",
     [](int place, int count) { return place / 2 + (place % 2) * count / 2; }},
    {4, 8, "its four bytes in the other order", [](int place, int count) { return count - 1 - place; }},
    {4, 2, "its groups of 2 bits from the highest to the lowest",
     [](int place, int count) { return count - 1 - place; }},
    {1, 4, "its upper and its lower 4 bits exchanged", [](int place, int) { return place ^ 1; }},
    {1, 2, "its groups of 2 bits from the highest to the lowest",
     [](int place, int count) { return count - 1 - place; }},
};

std::uint32_t ordered(std::uint32_t word, const PackedOrder& order) {
  const int count = 8 * order.bytes / order.bits;
  const std::uint32_t mask = (1u << order.bits) - 1;
  std::uint32_t made = 0;
  for (int place = 0; place < count; ++place)
    made |= (word >> (order.bits * order.from(place, count)) & mask) << (order.bits * place);
  return made;
}

/// Whole numbers that use all of their bits are no indices: half of them and more are beyond any size.
bool is_packed(const Value& value) {
  if (!value.is_tensor() || value.tensor.numel() < 8 || value.boolean) return false;
  if (value.tensor.dtype == DType::u8 || value.tensor.dtype == DType::i8) return true;
  if (value.tensor.dtype != DType::i32) return false;
  constexpr std::int32_t kBeyond = 1 << 24;
  const Value compact = compact_copy(value);
  const auto* words = static_cast<const std::int32_t*>(compact.tensor.data);
  std::int64_t large = 0;
  for (std::int64_t i = 0; i < compact.tensor.numel(); ++i)
    large += words[i] > kBeyond || words[i] < -kBeyond;
  return 2 * large > compact.tensor.numel();
}

}  // namespace

void add_packed_experiments(const Approach& approach, const Replayed& replayed,
                            std::vector<Experiment>& list) {
  for (const Passing& passing : approach.form.passings) {
    if (passing.what != Passing::What::role) continue;
    const auto role = static_cast<std::size_t>(passing.role);
    if (replayed.roles[role].output || !is_packed(replayed.values[role])) continue;
    const int bytes = size_of(replayed.values[role].tensor.dtype);
    for (const PackedOrder& order : kOrders) {
      if (order.bytes != bytes) continue;
      Experiment experiment{.form = approach.form};
      Adaptation adaptation;
      adaptation.before = [role, order](std::vector<Value>& values) {
        Value& value = values[role];
        if (!value.is_tensor() || value.tensor.empty()) return;
        Value made = compact_copy(value);
        auto* bytes_of = static_cast<std::byte*>(made.storage.get());
        const auto size = static_cast<std::size_t>(order.bytes);
        for (std::int64_t i = 0; i < made.tensor.numel(); ++i) {
          std::uint32_t word = 0;
          std::memcpy(&word, bytes_of + static_cast<std::size_t>(i) * size, size);
          word = ordered(word, order);
          std::memcpy(bytes_of + static_cast<std::size_t>(i) * size, &word, size);
        }
        value = std::move(made);
      };
      experiment.adaptations.push_back(std::move(adaptation));
      const std::string& name = replayed.roles[role].name;
      experiment.finding.code = Code::layout_convention;
      experiment.finding.argument = name;
      experiment.finding.evidence = fmt::format(
          "the answer is right if each number of {} has {}: what is packed into it is taken out in "
          "another order",
          name, order.said);
      experiment.finding.fix = fmt::format(
          "take the groups of bits of {} in the original's order: check what it is shifted by", name);
      list.push_back(std::move(experiment));
    }
  }
}

}  // namespace isomer::lab
