// Attention of few query rows, 16-bit, by tensor cores, at the speed of memory: a block has up to kRows rows
// of one unit (a group's heads of a query or of a few) and the keys of one part, whose rows of K and V it
// reads once for all of them, each lane 16 bytes where they lie. Fragments: gpu/device/row_fragments.cuh, g =
// lane / 4 and t = lane % 4. Keys and values are of q's type or e4m3fn: attention_decode_rows.cuh.
//
// Warps take tiles of 16 keys in turn, or of 32 where they are bytes and that pays, each with a running
// maximum of its own; they meet in shared memory.
//
//   pages of tile i+3 | places of tile i+2 | K of tile i+1, loaded once Sᵀ of tile i is made | V of tile i+1,
//   once Oᵀ has i
//
// A tile is 8 KB of a warp under way at 128, or 4 KB of one of more warps. A block has one task after the
// other; memory does not wait between them: the next task and the places of its first tiles are found while
// the first tile of this one is under way, and its first tile is asked for before this one's result is put
// together.
#include "gpu/device/overlap.cuh"
#include "ops/attention/kernels/attention_decode_walk.cuh"
#include "ops/attention/kernels/attention_result.cuh"

namespace isomer::device {

/// What the warps found, together: the part's result for the combine, or out and lse.
ISOMER_DEVICE void finish(const AttentionParameters& p, const Shared& shared) {
  const attention::Task& t = shared.last;
  for (int at = from_here(threadIdx.x); at < t.tile.rows * (kDimV / 4); at += kThreads) {
    const int r = at / (kDimV / 4), column = at % (kDimV / 4) * 4;
    if (column >= p.head_dim_v) continue;
    f32 o[4] = {};
    const SoftmaxState all = join<kWarps>(
        [&](int w) {
          return SoftmaxState{shared.max[w][r], shared.sum[w][r]};
        },
        [&](int w, f32 share) {
          const Vector<f32, 4> some = load<4>(&shared.out[w][r][column]);
#pragma unroll
          for (int c = 0; c < 4; ++c) o[c] += share * some.of[c];
        });
    if (kPlain || p.parts > 1) {
      const i64 row = attention::partial_row(p, t, r);
      store<4>(p.partial_out + row * p.head_dim_v + column, Vector<f32, 4>{{o[0], o[1], o[2], o[3]}});
      if (column == 0) {
        p.partial_state[row * 2] = all.max;
        p.partial_state[row * 2 + 1] = all.sum;
      }
      continue;
    }
    const i64 i = t.entry.q_row + t.tile.query(r), head = t.tile.head(r);
    const attention::Result result = attention::result_of(p, t.b, head, all);
    attention::write<Element>(p, attention::at<Element>(p.out, t.entry.q_outer, i, head) + column, o,
                              result.factor);
    if (column == 0 && p.lse.data) *attention::at<f32>(p.lse, t.entry.q_outer, i, head) = result.lse;
  }
}

/// The task behind those that `next` counts, whether there is work in it or not.
ISOMER_DEVICE bool next_task(const AttentionParameters& p, const Shared& shared, Count& next,
                             attention::Task& task) {
  if (!kPlain && p.workers == 0) {
    if (next >= p.tiles * p.units * p.batch * p.parts) return false;
    task = attention::task_of<kRows, kKeys>(p, next);
    next += static_cast<Count>(gridDim.x);
    return true;
  }
  const attention::Division<kThreads>& d = shared.division;
  const Count begin = static_cast<Count>(shared.worker) * d.share, end = begin + d.share;
  if (next >= p.batch || d.before[next] >= end) return false;
  const Count b = next++;
  const Count before = d.before[b], after = d.before[b + 1];
  const AttentionEntry entry = attention::entry_of(p, b);
  const Count shift = attention::seen_tiles<kKeys>(p, entry).first - before;
  const Count from = (begin > before ? begin : before) + shift, to = least(end, after) + shift;
  const u32 first_worker = static_cast<u32>(before) / static_cast<u32>(d.share);
  task = attention::task_between<kRows, kKeys>(
      p, shared.rows, b, entry, shared.worker - static_cast<Count>(first_worker), from * kKeys, to * kKeys);
  return true;
}
ISOMER_DEVICE bool find_task(const AttentionParameters& p, const Shared& shared, Count& next,
                             attention::Task& task) {
  bool is;
  do is = next_task(p, shared, next, task);
  while (is && !task.exists);
  return is;
}
/// The block's first task, which each thread finds by itself: nobody waits for another's, and the pages of
/// its first keys are on their way while it is put down.
ISOMER_DEVICE void start(const AttentionParameters& p, Shared& shared, const Walk& walk) {
  attention::Task task{};
  Count next = shared.division.first;
  const bool is = find_task(p, shared, next, task);
  int pages[2] = {-1, -1}, rows[2] = {};
  if (is) {
#pragma unroll
    for (int i = 0; i < 2; ++i) walk.find_page(task, Walk::first_of(task) + i * kKeys, pages[i], rows[i]);
  }
  if (threadIdx.x == 0) {
    shared.task = task;
    shared.next = next;
    shared.works = is;
  }
  if (is) {
#pragma unroll
    for (int i = 0; i < 2; ++i)
      walk.put_places(task, shared.first_places[warp()][Walk::turn_of(Walk::first_of(task)) ^ i], pages[i],
                      rows[i]);
  }
  __syncthreads();
}

/// Words of a task, with the gaps between its members.
constexpr int kTaskWords = static_cast<int>(sizeof(attention::Task) / sizeof(u32));
static_assert(kTaskWords <= kThreads && sizeof(attention::Task) % sizeof(u32) == 0);

/// The task in work, where there is one, becomes the last, and the next one the one in work.
ISOMER_DEVICE void go_on(Shared& shared, bool works) {
  const int i = from_here(threadIdx.x);
  if (i < kTaskWords) {
    u32* const task = reinterpret_cast<u32*>(&shared.task);
    if (works) reinterpret_cast<u32*>(&shared.last)[i] = task[i];
    if (shared.more) task[i] = reinterpret_cast<const u32*>(&shared.next_one)[i];
  }
  if (i == 0) {
    shared.done = works;
    shared.works = shared.more;
  }
}

extern "C" __global__ void __launch_bounds__(kThreads, kResident)
    isomer_attention_decode(const AttentionParameters p) {
  __shared__ Shared shared;
  wait_for_previous();
  let_next_begin();
  if (threadIdx.x < kTaskWords) {
    reinterpret_cast<u32*>(&shared.next_one)[threadIdx.x] = 0;
    if (kPlain) reinterpret_cast<u32*>(&shared.task)[threadIdx.x] = 0;
  }
  if (threadIdx.x == 0) {
    shared.next = blockIdx.x;
    shared.works = shared.done = shared.more = false;
  }
  if (kPlain || p.workers > 0) {
    const u32 worker = quotient_of(quotient_of(blockIdx.x, p.of_tiles), p.of_units);
    if (threadIdx.x == kThreads - 1) {  // a warp that has the fewest entries to look at
      shared.worker = static_cast<int>(worker);
      shared.rows = attention::rows_of_block(p, blockIdx.x - worker * static_cast<u32>(p.tiles * p.units));
    }
    shared.division.template fill<kKeys>(p, static_cast<int>(worker));
    if (threadIdx.x == 0) shared.next = shared.division.first;
    if (!kPlain && blockIdx.x == 0) shared.division.note(p);
  } else {
    __syncthreads();
  }
  Walk walk(p, shared);
  if constexpr (kPlain) {
    start(p, shared, walk);
    if (blockIdx.x == 0) shared.division.note(p);
  }
  // What is known of tasks stays in shared memory: registers are all taken.
  for (;;) {
    const attention::Task& task = shared.task;
    const bool works = shared.works;
    {
      Queries queries;
      if (works) {
        queries.ask(p, task, shared.q);
        walk.begin();
      }
      if ((works || !kPlain) && from_here(threadIdx.x) == 0)
        shared.more = find_task(p, shared, shared.next, shared.next_one);
      if (shared.done) finish(p, shared);
      if (shared.done && !works) break;
      if (works) {
        queries.put(p, task, shared.q);
        // By a warp that finds no task.
        if (const int row = from_here(threadIdx.x) - (kThreads - 32); row >= 0 && row < kRows)
          task.seen_by(p, row, shared.lo[row], shared.hi[row]);
      }
    }
    __syncthreads();
    if (shared.more) walk.prepare();
    if (works) {
      walk.attend();
      __syncthreads();
      go_on(shared, true);
    } else {
      if (!shared.more) break;
      go_on(shared, false);
    }
    __syncthreads();
  }
}

}  // namespace isomer::device
