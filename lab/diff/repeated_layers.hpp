#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace isomer::lab {

/// A sequence of launches that is repeated without a break, as a model's layers are: in one run of them or in
/// several, as a program makes several steps.
class RepeatedLayers {
 public:
  struct Run {
    std::size_t begin = 0, layers = 0;
  };
  /// How much of all layers some of them are; in each run the same ones are counted once.
  struct Share {
    std::size_t layers = 0, of = 0;
    std::size_t first = 0;  ///< the first of them in its run, from 1
  };

  /// The shortest sequence of at least three launches whose repetitions are a third of all launches or more;
  /// none where nothing is repeated four times.
  static RepeatedLayers of(std::span<const std::uint32_t> tokens);

  bool empty() const { return runs_.empty(); }
  std::size_t launches() const { return period_; }  ///< of a layer
  const std::vector<Run>& runs() const { return runs_; }
  /// Of a run; 0 where runs are not of one length.
  std::size_t layers_of_each_run() const;
  /// The number of a place's layer among all; none outside of layers.
  std::optional<std::size_t> layer_of(std::size_t place) const;
  Share share(const std::set<std::size_t>& layers) const;

 private:
  std::size_t period_ = 0;
  std::vector<Run> runs_;
};

/// Whether both repeat the same launches, wherever in the layer each begins.
bool same_layer(std::span<const std::uint32_t> a, const RepeatedLayers& in_a,
                std::span<const std::uint32_t> b, const RepeatedLayers& in_b);

}  // namespace isomer::lab
