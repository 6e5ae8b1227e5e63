#pragma once

#include "oracle/oracle.hpp"
#include "recording.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace isomer::recordings {

/// An output of a call beside what the original wrote there.
struct Output {
  std::string name;  ///< of the op's argument
  Tensor recorded;
  Tensor before;  ///< what the buffer held before; undefined where the original made its own
  Rule rule;
  std::optional<std::int64_t> departures =
      {};  ///< elements that are not the op's answer, where the recording counts them
  /// Rule step on e4m3 codes: the f32 quotient that element was rounded from, given the op's outputs.
  std::function<double(const oracle::Expected&, std::size_t)> quotient = {};
};

/// A recording as one call of an op. Inputs and outputs lie in memory of their own, with the strides that the
/// original saw; what the original would have left as it was holds what it held then.
struct Replay {
  const oracle::Oracle* oracle = nullptr;
  core::Call call;
  std::vector<Output> outputs;
  std::shared_ptr<const void> owner;  ///< of the call's structs and of the tensors' memory
};

/// What a recording says in the op's own types. flash_decode with both stages is three calls: the first
/// stage, both in one, and the second on the recorded results of the first. Throws where the recording has a
/// tensor or an option that no call takes.
std::vector<Replay> replays(const Recording& recording);

/// Hands out the tensors and options of a recording, and knows what nobody asked for.
class Parts {
 public:
  explicit Parts(const Recording& recording);

  /// An undefined tensor where the recording has none of that name.
  Tensor input(const std::string& name);
  /// Where the call writes `name`: the recorded buffer's strides and former content, else a poisoned tensor.
  Tensor output(const std::string& name);
  /// Undefined where the original does not have that output.
  Tensor optional_output(const std::string& name);
  template <class T>
  T option(const std::string& name, T fallback) {
    used_.insert("option " + name);
    return recording_.options.value(name, fallback);
  }
  const Recording& recording() const { return recording_; }
  /// Tensors and options that were not asked for.
  std::vector<std::string> unused() const;

  /// A call of `op` with these structs, which `bind` binds; its outputs are those of the op that are
  /// recorded.
  template <class Args, class Options>
  Replay make(const std::string& op, core::Call (*bind)(const Args&, const Options&), Args args,
              Options options) {
    struct Owner {
      Args args;
      Options options;
      Bundle memory;
    };
    const auto owner = std::shared_ptr<const Owner>(new Owner{args, options, memory_});
    return finish(op, bind(owner->args, owner->options), owner);
  }

 private:
  Replay finish(const std::string& op, core::Call call, std::shared_ptr<const void> owner) const;

  const Recording& recording_;
  Bundle memory_;  ///< a second copy of the file, to be written into
  std::set<std::string> used_;
};

std::vector<Replay> sin_calls(Parts& parts);
std::vector<Replay> act_quant_calls(Parts& parts);
std::vector<Replay> weight_dequant_calls(Parts& parts);
std::vector<Replay> fp8_gemm_calls(Parts& parts);
std::vector<Replay> quantize_copy_kv_calls(Parts& parts);
std::vector<Replay> flash_decode_calls(Parts& parts);
std::vector<Replay> attention_calls(Parts& parts);

}  // namespace isomer::recordings
