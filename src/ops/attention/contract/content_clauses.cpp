#include "core/sentence.hpp"
#include "ops/attention/attention.hpp"
#include "ops/attention/contract/clauses.hpp"
#include "ops/attention/contract/geometry.hpp"

namespace isomer::ops::attention {
namespace {

using core::say;
using Broken = std::optional<std::string>;
using ContentCheck = Broken (*)(const Geometry&);

std::int64_t at(const Tensor& t, std::int64_t i) { return *t.at<std::int32_t>(i); }

/// [0, …] ascending up to `rows`, no entry longer than `longest` (0: any).
Broken cumulative(const char* name, const Tensor& cu, const char* of, std::int64_t rows, std::int64_t longest,
                  const char* limit) {
  if (!cu.defined()) return {};
  if (at(cu, 0) != 0) return say(name, "[0] is ", at(cu, 0), ", expected 0");
  for (std::int64_t b = 0; b + 1 < cu.size(0); ++b) {
    const std::int64_t begin = at(cu, b), end = at(cu, b + 1);
    if (end < begin)
      return say(name, " falls from ", begin, " to ", end, " at entry ", b + 1, ", expected ascending");
    if (end > rows) return say(name, "[", b + 1, "] is ", end, ", past the ", rows, " rows of ", of);
    if (longest > 0 && end - begin > longest)
      return say(name, " gives batch entry ", b, " a length of ", end - begin, ", over ", limit, " ",
                 longest);
  }
  return {};
}

Broken cu_q(const Geometry& g) {
  return cumulative("cu_seqlens_q", g.args->cu_seqlens_q, "q", g.q.rows, g.seqlen_q, "max_seqlen_q");
}
Broken cu_k(const Geometry& g) {
  return cumulative("cu_seqlens_k", g.args->cu_seqlens_k, "k", g.k.rows, 0, "");
}
Broken cu_new(const Geometry& g) {
  return cumulative("cu_seqlens_k_new", g.args->cu_seqlens_k_new, "k_new", g.k_new.rows, 0, "");
}

Broken kv_batch_idx(const Geometry& g) {
  const Tensor& idx = g.args->kv_batch_idx;
  if (!idx.defined()) return {};
  const std::int64_t rows = g.paged ? g.args->page_table.size(0) : g.k.outers;
  for (std::int64_t b = 0; b < g.batch; ++b)
    if (at(idx, b) < 0 || at(idx, b) >= rows)
      return say("kv_batch_idx[", b, "] is ", at(idx, b), ", outside the ", rows, " rows of ",
                 g.paged ? "page_table" : "k");
  return {};
}

Broken used_q(const Geometry& g) {
  const Tensor& used = g.args->seqused_q;
  if (!used.defined()) return {};
  for (std::int64_t b = 0; b < g.batch; ++b) {
    const std::int64_t most =
        g.varlen_q ? at(g.args->cu_seqlens_q, b + 1) - at(g.args->cu_seqlens_q, b) : g.q.rows;
    if (at(used, b) < 0 || at(used, b) > most)
      return say("seqused_q[", b, "] is ", at(used, b), ", expected 0 to ", most);
  }
  return {};
}

/// Slots that an entry's row has, whatever of them is used.
std::int64_t capacity(const Geometry& g, std::int64_t b) {
  if (g.paged) return g.args->page_table.size(1) * g.page_size;
  return g.varlen_k ? at(g.args->cu_seqlens_k, b + 1) - at(g.args->cu_seqlens_k, b) : g.k.rows;
}

Broken used_k(const Geometry& g) {
  const Tensor& used = g.args->seqused_k;
  if (!used.defined()) return {};
  for (std::int64_t b = 0; b < g.batch; ++b)
    if (at(used, b) < 0 || at(used, b) > capacity(g, b))
      return say("seqused_k[", b, "] is ", at(used, b), ", expected 0 to ", capacity(g, b));
  return {};
}

Broken cache_seqlens(const Geometry& g) {
  if (!g.append) return {};
  for (std::int64_t b = 0; b < g.batch; ++b) {
    const Entry e = g.entry(b);
    if (e.position < 0) return say("cache_seqlens[", b, "] is ", e.position, ", expected at least 0");
    if (e.position + e.new_len > capacity(g, b))
      return say("cache_seqlens[", b, "] is ", e.position, ", and ", e.new_len,
                 " new keys do not fit after it: the cache holds ", capacity(g, b), " keys");
  }
  return {};
}

Broken leftpad(const Geometry& g) {
  const Tensor& pad = g.args->leftpad_k;
  if (!pad.defined()) return {};
  for (std::int64_t b = 0; b < g.batch; ++b) {
    const std::int64_t most = g.entry(b).k_len + at(pad, b) - g.entry(b).new_len;
    if (at(pad, b) < 0 || at(pad, b) > most)
      return say("leftpad_k[", b, "] is ", at(pad, b), ", expected 0 to the key length ", most);
  }
  return {};
}

Broken longest_k(const Geometry& g) {
  for (std::int64_t b = 0; b < g.batch; ++b)
    if (const Entry e = g.entry(b); e.k_len > g.seqlen_k)
      return say("batch entry ", b, " has ", e.k_len, " keys, over max_seqlen_k ", g.seqlen_k);
  return {};
}

Broken pages(const Geometry& g) {
  if (!g.paged) return {};
  for (std::int64_t b = 0; b < g.batch; ++b) {
    const Entry e = g.entry(b);
    for (std::int64_t j = 0; j < e.k_len;) {
      const KeyRun run = g.run(e, j);
      if (run.outer < 0 || run.outer >= g.k.outers)
        return say("page_table[", e.kv_outer, ", ", (e.first_slot + j) / g.page_size, "] is ", run.outer,
                   ", outside the ", g.k.outers, " pages of k");
      j += run.count;
    }
  }
  return {};
}

/// True when key rows [first, last) of entry e, appended ones, meet keys that `other` uses from `from` on.
bool shares(const Geometry& g, const Entry& e, const Entry& other, std::int64_t from) {
  for (std::int64_t j = e.k_len - e.new_len; j < e.k_len;) {
    const KeyRun mine = g.run(e, j);
    for (std::int64_t i = from; i < other.k_len;) {
      const KeyRun theirs = g.run(other, i);
      if (mine.outer == theirs.outer && mine.row < theirs.row + theirs.count &&
          theirs.row < mine.row + mine.count)
        return true;
      i += theirs.count;
    }
    j += mine.count;
  }
  return false;
}

/// Without this the result would depend on who comes first: an appended slot is a key of its own entry alone.
Broken appended_slots(const Geometry& g) {
  if (!g.append) return {};
  for (std::int64_t b = 0; b < g.batch; ++b) {
    const Entry e = g.entry(b);
    if (e.new_len == 0) continue;
    for (std::int64_t c = 0; c < g.batch; ++c)
      if (c != b && shares(g, e, g.entry(c), 0))
        return say("batch entry ", b, " appends to slots that batch entry ", c, " uses too");
    // A page that stands twice in one entry's table: its appended slots are earlier keys as well.
    if (g.paged) {
      Entry before = e;
      before.k_len -= e.new_len;
      if (shares(g, e, before, 0))
        return say("batch entry ", b, " appends to a page that its table names twice");
    }
  }
  return {};
}

Broken rotary_rows(const Geometry& g) {
  if (!g.rotary) return {};
  for (std::int64_t b = 0; b < g.batch; ++b) {
    const Entry e = g.entry(b);
    std::int64_t rows = e.position + e.new_len;
    if (e.q_len > 0) rows = std::max(rows, g.q_position(e, e.q_len - 1) + 1);
    if (rows > g.args->rotary_cos.size(0))
      return say("rotary_cos has ", g.args->rotary_cos.size(0), " positions, batch entry ", b, " needs ",
                 rows);
  }
  return {};
}

core::Clause content_clause(const char* text, ContentCheck check) {
  return {.text = text,
          .broken =
              [check](const core::Call& call) {
                return check(Geometry(call.args<AttentionArgs>(), call.options<AttentionOptions>()));
              },
          .reads_data = true};
}

}  // namespace

std::vector<core::Clause> content_clauses() {
  return {
      content_clause("cu_seqlens_q ascends from 0 within q, no length over max_seqlen_q", cu_q),
      content_clause("cu_seqlens_k ascends from 0 within k", cu_k),
      content_clause("cu_seqlens_k_new ascends from 0 within k_new", cu_new),
      content_clause("kv_batch_idx names rows of k, or of page_table", kv_batch_idx),
      content_clause("seqused_q is within the query length", used_q),
      content_clause("seqused_k is within the key length, or what the page table can hold", used_k),
      content_clause("cache_seqlens and the new keys fit into the cache", cache_seqlens),
      content_clause("leftpad_k is within the keys that the cache holds before an append", leftpad),
      content_clause("no key length is over max_seqlen_k", longest_k),
      content_clause("page table entries of the keys name pages of k", pages),
      content_clause("slots that are appended to belong to one batch entry alone", appended_slots),
      content_clause("rotary_cos and rotary_sin reach every position of the call", rotary_rows),
  };
}

}  // namespace isomer::ops::attention
