#include "ops/attention/gpu/problem.hpp"

#include "core/sentence.hpp"

#include <algorithm>

namespace isomer::ops::attention {
namespace {

GpuProblem::Layout layout_of(const Tensor& tensor) {
  GpuProblem::Layout layout;
  layout.rank = tensor.rank;
  for (int d = 0; d < tensor.rank; ++d) layout.strides[static_cast<std::size_t>(d)] = tensor.stride(d);
  return layout;
}

std::string in_words(const GpuProblem::Layout& layout) {
  std::string text = "[";
  for (int d = 0; d < layout.rank; ++d)
    text += core::say(d > 0 ? " " : "", layout.strides[static_cast<std::size_t>(d)]);
  return text + "]";
}

}  // namespace

GpuProblem::GpuProblem(const Geometry& g)
    : causal(g.causal()),
      local(g.local()),
      softcap(g.softcap > 0),
      varlen(g.varlen_q || g.varlen_k || g.args->seqused_q.defined() || g.args->seqused_k.defined()),
      varlen_q(g.varlen_q),
      varlen_k(g.varlen_k),
      paged(g.paged),
      append(g.append),
      v_colmajor(g.v_colmajor),
      batch(g.batch),
      heads(g.heads),
      heads_kv(g.heads_kv),
      head_dim(g.head_dim),
      head_dim_v(g.head_dim_v),
      seqlen_q(g.seqlen_q),
      seqlen_k(g.seqlen_k),
      total_q(g.total_q),
      total_k(g.total_k),
      scale(g.scale),
      q(layout_of(g.args->q)),
      k(layout_of(g.args->k)),
      v(layout_of(g.args->v)),
      out(layout_of(g.args->out)) {}

core::Named GpuProblem::parameters(bool pack_gqa, std::int64_t splits) const {
  const auto yes = [](bool is) { return std::string(is ? "1" : "0"); };
  const auto number = [](std::int64_t n) { return std::to_string(n); };
  return {
      {"is_causal", yes(causal)},
      {"is_local", yes(local)},
      {"has_softcap", yes(softcap)},
      {"varlen", yes(varlen)},
      {"paged_kv", yes(paged)},
      {"append_kv", yes(append)},
      {"pack_gqa", yes(pack_gqa)},
      {"split", yes(splits > 1)},
      {"v_colmajor", yes(v_colmajor)},
      {"batch", number(batch)},
      {"heads", number(heads)},
      {"heads_kv", number(heads_kv)},
      {"head_dim", number(head_dim)},
      {"head_dim_v", number(head_dim_v)},
      {"seqlen_q", number(seqlen_q)},
      {"seqlen_k", number(seqlen_k)},
      {"total_q", number(total_q)},
      {"total_k", number(total_k)},
      {"is_varlen_q", yes(varlen_q)},
      {"is_varlen_k", yes(varlen_k)},
      {"scale", core::say(scale)},
      {"num_splits", number(splits)},
      {"strides", core::say("q", in_words(q), " k", in_words(k), " v", in_words(v), " out", in_words(out))}};
}

}  // namespace isomer::ops::attention
