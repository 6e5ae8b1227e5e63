#include "ops/quantize_copy_kv/oracle/oracle.hpp"
#include "ops/quantize_copy_kv/quantize_copy_kv.hpp"

#include "core/codec.hpp"

#include <algorithm>
#include <cmath>

namespace isomer::ops::quantize_copy_kv {
namespace {

using oracle::Original;

/// The two originals share a name; which of them a call is of, the shape of its scales says.
template <std::int64_t kGroup>
void bind_values(oracle::Problem& problem, const std::vector<Tensor>& tensors, const std::vector<double>&,
                 DType) {
  auto& args = problem.args<QuantizeCopyKvArgs>();
  auto& options = problem.options<QuantizeCopyKvOptions>();
  args = {tensors[0], tensors[1], tensors[2], tensors[3]};
  options.group = kGroup;
  problem.bind(bind(args, options));
}

/// Rows of 0/0, of NaN, of a scale that is 0 or inf, quotients beyond int8, and rows with several writers.
std::vector<std::vector<std::uint8_t>> open(const core::Call& call, const oracle::Expected& plain) {
  const auto& args = call.args<QuantizeCopyKvArgs>();
  const std::int64_t group = call.options<QuantizeCopyKvOptions>().group;
  const oracle::ExpectedTensor &out = plain.tensors[0], &scales = plain.tensors[1];
  std::vector<std::vector<std::uint8_t>> marks = {std::vector<std::uint8_t>(out.value.size()),
                                                  std::vector<std::uint8_t>(scales.value.size())};
  const std::int64_t heads = args.k.size(1), channels = args.k.size(2);
  const std::int64_t length = group == 0 ? channels : group, groups = group == 0 ? 1 : channels / group;
  std::vector<int> writers(static_cast<std::size_t>(args.out.size(0)));
  for (std::int64_t s = 0; s < args.k.size(0); ++s) {
    const auto t = static_cast<std::int64_t>(oracle::read(args.dest, s));
    const bool again = t >= 0 && t < args.out.size(0) && writers[static_cast<std::size_t>(t)]++ > 0;
    for (std::int64_t h = 0; h < heads; ++h)
      for (std::int64_t g = 0; g < groups; ++g) {
        const std::size_t at = static_cast<std::size_t>((t * heads + h) * groups + g);
        if (at >= scales.value.size()) continue;
        const double scale = scales.value[at];
        const bool whole = again || scale == 0 || !std::isfinite(scale);
        // A port that ignores dest puts it into row s.
        const std::int64_t own = s < args.out.size(0) ? s : t;
        const auto mark = [&](std::int64_t row, std::int64_t d) {
          marks[0][static_cast<std::size_t>((row * heads + h) * channels + d)] = 1;
        };
        if (whole) {
          marks[1][at] = 1;
          marks[1][static_cast<std::size_t>((own * heads + h) * groups + g)] = 1;
        }
        for (std::int64_t d = g * length; d < (g + 1) * length; ++d) {
          const double q = oracle::read(args.k, s, h, d) / scale;
          if (!whole && q > -129 && q < 128) continue;
          mark(t, d);
          mark(own, d);
        }
      }
  }
  return marks;
}

std::vector<std::vector<double>> magnitudes(const core::Call& call) {
  const auto& args = call.args<QuantizeCopyKvArgs>();
  const std::int64_t group = call.options<QuantizeCopyKvOptions>().group;
  const std::int64_t heads = args.k.size(1), channels = args.k.size(2);
  const std::int64_t length = group == 0 ? channels : group, groups = group == 0 ? 1 : channels / group;
  std::vector<std::vector<double>> rows(static_cast<std::size_t>(args.out.size(0) * heads * groups));
  for (std::int64_t s = 0; s < args.k.size(0); ++s) {
    const auto t = static_cast<std::int64_t>(oracle::read(args.dest, s));
    if (t < 0 || t >= args.out.size(0)) continue;
    for (std::int64_t h = 0; h < heads; ++h)
      for (std::int64_t g = 0; g < groups; ++g) {
        std::vector<double>& row = rows[static_cast<std::size_t>((t * heads + h) * groups + g)];
        row.clear();
        for (std::int64_t d = g * length; d < (g + 1) * length; ++d)
          row.push_back(std::fabs(oracle::read(args.k, s, h, d)));
      }
  }
  return rows;
}

Original by_head() {
  return {.op = "quantize_copy_kv",
          .functions = {"destindex_copy_quantize_kv", "quantize_copy_kv"},
          .parameters = {{.name = "K",
                          .argument = "k",
                          .reads = Original::Reads::every_stride,
                          .field = "dtype",
                          .also = "k key src input kv x"},
                         {.name = "DestLoc",
                          .argument = "dest",
                          .index = true,
                          .field = "dest",
                          .also = "dest dest_loc destindex dest_index index indices loc slots"},
                         {.name = "Out",
                          .argument = "out",
                          .output = true,
                          .reads = Original::Reads::every_stride,
                          .also = "out output o dst value_dest q y"},
                         {.name = "Out_scale",
                          .argument = "out_scale",
                          .output = true,
                          .reads = Original::Reads::every_stride,
                          .field = "scales",
                          .also = "out_scale scale scales os scale_dest"}},
          .bind = bind_values<0>,
          .number = {},
          .probes = {"s=6 n=9 h=3 d=64", "s=24 n=30 h=4 d=128 regime=whole", "s=5 n=8 h=3 d=32 regime=ties",
                     "s=6 n=8 h=2 d=64 scale=1e-3", "s=12 n=14 h=2 d=64 scale=3e-4",
                     "s=12 n=14 h=2 d=64 scale=4e-5", "s=6 n=8 h=2 d=32 scale=1e-6",
                     "s=6 n=8 h=2 d=32 scale=2e-7", "s=6 n=8 h=2 d=32 regime=outlier",
                     "s=6 n=8 h=3 d=32 regime=zero_rows", "s=6 n=8 h=3 d=48 regime=nan",
                     "s=6 n=8 h=3 d=48 regime=inf", "s=24 n=30 h=3 d=16 regime=decades"},
          .sizes = {"s=3 n=5 h=2 d=", "s=3 n=5 d=16 h=", "n=1200 h=1 d=8 s="},
          .empties = {"s=0 n=4 h=2 d=16"},
          .called_empty = true,
          .usual = {{{"dtype", DType::f16}, {"scales", DType::f16}}},
          .open = open,
          .scaling = {
              .output = 1, .largest = 127, .under_maximum = "zero_guard=amax-", .magnitudes = magnitudes}};
}

/// ppl_quant_copy_kv: one scale for 8 channels.
Original by_group() {
  Original original = by_head();
  original.functions = {"destindex_copy_quantize_kv_group", "ppl_quant_copy_kv"};
  original.bind = bind_values<8>;
  for (std::string& line : original.probes) line += " group=8";
  for (std::string& line : original.sizes) line = "group=8 " + line;
  for (std::string& line : original.empties) line += " group=8";
  original.sizes.erase(original.sizes.begin());
  // It views the channels as groups, and steps through a group and from scale to scale by one.
  for (Original::Parameter& parameter : original.parameters)
    if (parameter.reads == Original::Reads::every_stride) parameter.reads = Original::Reads::outer_strides;
  return original;
}

}  // namespace

std::vector<Original> originals() { return {by_head(), by_group()}; }

}  // namespace isomer::ops::quantize_copy_kv
