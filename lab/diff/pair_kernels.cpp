#include "lab/diff/pair_kernels.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>

namespace isomer::lab {
namespace {

using Kernels = std::vector<const BinaryKernel*>;
using Key = std::function<std::string(const BinaryKernel&)>;

/// "flash_fwd_kernel" of "pytorch_flash::flash_fwd_kernel".
std::string last_component(const std::string& family) {
  const std::size_t colons = family.rfind("::");
  return colons == std::string::npos ? family : family.substr(colons + 2);
}

/// The kernels of each side that are left, and the pairs by their place in A.
class Pairing {
 public:
  Pairing(const Kernels& a, const Kernels& b) : a_(a), b_(b), to_(a.size(), -1), taken_(b.size(), false) {}

  /// The first of A with the first of B that has the same key.
  void equal(const Key& key) {
    std::map<std::string, std::vector<std::size_t>> left;
    for (std::size_t j = b_.size(); j-- > 0;)
      if (!taken_[j]) left[key(*b_[j])].push_back(j);
    for (std::size_t i = 0; i < a_.size(); ++i) {
      if (to_[i] >= 0) continue;
      const auto found = left.find(key(*a_[i]));
      if (found == left.end() || found->second.empty()) continue;
      pair(i, found->second.back());
      found->second.pop_back();
    }
  }

  /// Within each group the nearest first.
  void nearest(const Key& key) {
    std::map<std::string, std::pair<std::vector<std::size_t>, std::vector<std::size_t>>> groups;
    for (std::size_t i = 0; i < a_.size(); ++i)
      if (to_[i] < 0) groups[key(*a_[i])].first.push_back(i);
    for (std::size_t j = 0; j < b_.size(); ++j)
      if (!taken_[j]) groups[key(*b_[j])].second.push_back(j);
    for (const auto& [name, group] : groups) match(group.first, group.second);
  }

  PairedKernels result() const {
    PairedKernels result;
    for (std::size_t i = 0; i < a_.size(); ++i) {
      if (to_[i] < 0)
        result.only_a.push_back(a_[i]);
      else
        result.pairs.emplace_back(a_[i], b_[static_cast<std::size_t>(to_[i])]);
    }
    for (std::size_t j = 0; j < b_.size(); ++j)
      if (!taken_[j]) result.only_b.push_back(b_[j]);
    return result;
  }

 private:
  void pair(std::size_t i, std::size_t j) {
    to_[i] = static_cast<int>(j);
    taken_[j] = true;
  }

  void match(const std::vector<std::size_t>& left, const std::vector<std::size_t>& right) {
    // NOTES: past this, comparing each with each would take minutes; a family that large differs by more than
    // a diff tells.
    constexpr std::size_t kMost = 4'000'000;
    if (left.empty() || right.empty() || left.size() > kMost / right.size()) return;
    std::vector<std::tuple<std::size_t, std::size_t, std::size_t>> candidates;
    for (const std::size_t i : left)
      for (const std::size_t j : right) {
        const KernelName &x = *a_[i]->parsed, &y = *b_[j]->parsed;
        const std::size_t apart = distance(x, y), most = std::max(x.parameters.size(), y.parameters.size());
        if (apart <= std::max<std::size_t>(1, most * 2 / 3)) candidates.emplace_back(apart, i, j);
      }
    std::sort(candidates.begin(), candidates.end());
    for (const auto& [apart, i, j] : candidates)
      if (to_[i] < 0 && !taken_[j]) pair(i, j);
  }

  const Kernels &a_, &b_;
  std::vector<int> to_;
  std::vector<bool> taken_;
};

}  // namespace

std::size_t distance(const KernelName& a, const KernelName& b) {
  // Nearly always the same parameters in the same order.
  std::size_t apart = 0;
  const auto same_names = [&] {
    if (a.parameters.size() != b.parameters.size()) return false;
    for (std::size_t i = 0; i < a.parameters.size(); ++i)
      if (a.parameters[i].first != b.parameters[i].first) return false;
    return true;
  };
  if (same_names()) {
    for (std::size_t i = 0; i < a.parameters.size(); ++i)
      apart += a.parameters[i].second != b.parameters[i].second;
    return apart;
  }
  const std::map<std::string, std::string> values(b.parameters.begin(), b.parameters.end());
  std::size_t shared = 0;
  for (const auto& [name, value] : a.parameters) {
    const auto found = values.find(name);
    if (found == values.end())
      ++apart;
    else
      ++shared, apart += found->second != value;
  }
  return apart + values.size() - std::min(shared, values.size());
}

PairedKernels pair_kernels(const Kernels& a, const Kernels& b) {
  Pairing pairing(a, b);
  std::set<std::string> in_a, in_b;
  for (const BinaryKernel* kernel : a) in_a.insert(kernel->arch);
  for (const BinaryKernel* kernel : b) in_b.insert(kernel->arch);
  // An architecture that the other side lacks is paired with one that this side lacks.
  const auto arch = [&](const BinaryKernel& kernel) {
    return in_a.contains(kernel.arch) && in_b.contains(kernel.arch) ? kernel.arch : std::string("*");
  };
  // Two kernels of one canonical name may differ in what it leaves out: the mangled name tells them apart.
  pairing.equal(
      [](const BinaryKernel& kernel) { return kernel.arch + " " + kernel.name + " " + kernel.code_hash; });
  // Several sources may each have a kernel of one name, and a folder's name is in the mangled one.
  pairing.equal([](const BinaryKernel& kernel) {
    return kernel.arch + " " + kernel.parsed->text + " " + kernel.code_hash;
  });
  // A closure more or less in a function numbers those behind it anew.
  pairing.equal([](const BinaryKernel& kernel) {
    return kernel.arch + " " + kernel.parsed->plain + " " + kernel.code_hash;
  });
  pairing.equal([](const BinaryKernel& kernel) {
    const std::string source = source_in_name(kernel.name);
    return source.empty() ? kernel.arch + " " + kernel.name
                          : kernel.arch + " " + kernel.parsed->text + " " + source;
  });
  pairing.equal([](const BinaryKernel& kernel) { return kernel.arch + " " + kernel.parsed->text; });
  pairing.equal([](const BinaryKernel& kernel) { return kernel.arch + " " + kernel.parsed->plain; });
  pairing.equal([&](const BinaryKernel& kernel) { return arch(kernel) + " " + kernel.parsed->text; });
  pairing.nearest([&](const BinaryKernel& kernel) { return arch(kernel) + " " + kernel.parsed->family; });
  pairing.nearest(
      [&](const BinaryKernel& kernel) { return arch(kernel) + " " + last_component(kernel.parsed->family); });
  return pairing.result();
}

}  // namespace isomer::lab
