#include "replay.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace isomer::recordings {
namespace {

/// A pattern that is no plausible answer, in every byte of every element.
void poison(const Tensor& tensor) {
  const auto bytes = static_cast<std::size_t>(size_of(tensor.dtype));
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    std::int64_t offset = 0, index = i;
    for (int d = tensor.rank - 1; d >= 0; --d) {
      offset += index % tensor.size(d) * tensor.stride(d);
      index /= tensor.size(d);
    }
    std::memset(static_cast<std::byte*>(tensor.data) + offset * static_cast<std::int64_t>(bytes), 0xA5,
                bytes);
  }
}

bool contains(const std::vector<std::string>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

}  // namespace

Parts::Parts(const Recording& recording)
    : recording_(recording), memory_(load(folder() + "/" + recording.name + ".safetensors")) {}

Tensor Parts::input(const std::string& name) {
  const Tensor* found = memory_.find(name);
  if (found == nullptr) return {};
  used_.insert(name);
  return *found;
}

Tensor Parts::output(const std::string& name) {
  used_.insert(name);
  if (memory_.find(name + "_before") != nullptr) return input(name + "_before");
  const Tensor& tensor = memory_[name];
  poison(tensor);
  return tensor;
}

Tensor Parts::optional_output(const std::string& name) {
  return memory_.find(name) != nullptr ? output(name) : Tensor();
}

std::vector<std::string> Parts::unused() const {
  std::vector<std::string> list;
  for (const NamedTensor& each : memory_.tensors())
    if (!used_.contains(each.name)) list.push_back(each.name);
  for (const auto& [name, value] : recording_.options.items())
    if (!used_.contains("option " + name)) list.push_back("option " + name);
  return list;
}

Replay Parts::finish(const std::string& op, core::Call call, std::shared_ptr<const void> owner) const {
  Replay replay{.oracle = oracle::find_oracle(op), .call = call, .outputs = {}, .owner = std::move(owner)};
  if (replay.oracle == nullptr) throw std::runtime_error("there is no oracle of " + op);
  for (std::size_t i = 0; i < call.contract->args.size(); ++i) {
    const core::Arg& arg = call.contract->args[i];
    if (arg.role != core::Role::out || !contains(recording_.outputs, arg.name)) continue;
    const Tensor* before = recording_.bundle.find(arg.name + "_before");
    replay.outputs.push_back({.name = arg.name,
                              .recorded = recording_.bundle[arg.name],
                              .before = before != nullptr ? *before : Tensor(),
                              .rule = recording_.rules.at(arg.name),
                              .departures = recording_.departures.at(arg.name)});
  }
  return replay;
}

std::vector<Replay> replays(const Recording& recording) {
  static const std::map<std::string, std::vector<Replay> (*)(Parts&)> ops = {
      {"sin", sin_calls},
      {"act_quant", act_quant_calls},
      {"weight_dequant", weight_dequant_calls},
      {"fp8_gemm", fp8_gemm_calls},
      {"quantize_copy_kv", quantize_copy_kv_calls},
      {"flash_decode", flash_decode_calls},
      {"attention", attention_calls},
  };
  Parts parts(recording);
  std::vector<Replay> calls = ops.at(recording.op)(parts);
  if (const auto unused = parts.unused(); !unused.empty())
    throw std::runtime_error(recording.name + ": no call takes " + unused.front());
  return calls;
}

}  // namespace isomer::recordings
