// The blocks of a tile: products, masks and softmax, in the turns of the warpgroups.
#pragma once

#include "ops/attention/kernels/attention_sm90_warpgroup.cuh"

namespace isomer::device::attention_sm90 {

/// A warpgroup at the blocks of its tile.
struct BlockWork : Warpgroup {
  using Warpgroup::Warpgroup;

  /// S = Q·Kᵀ of a whole block or a narrow one.
  template <int N>
  ISOMER_DEVICE void issue_s(f32 (&x)[N]) {
    SharedMatrix q = q_matrix + static_cast<u32>(query() * kLayout.q_bytes);
    SharedMatrix k = k_matrix + static_cast<u32>(key.stage * kLayout.k_bytes);
    if constexpr (kDim > 192 && !kFp8) {  // their sums are more than there are registers for
      pin(q);
      pin(k);
    }
    warpgroup_fence();
#pragma unroll
    for (int d = 0; d < kDim / kDepth; ++d) {
      const SharedMatrix keys = k + static_cast<u32>(d / 4 * kPanelKeys + d % 4 * 32);
      if constexpr (kHoldsQueries)
        multiply_add<Element, 2 * N>(x, queries[d], keys, d != 0);
      else
        multiply_add<Element, 2 * N>(x, q + static_cast<u32>(d / 4 * kPanelQ + d % 4 * 32), keys, d != 0);
    }
    warpgroup_commit();
  }
  /// Σ P·v of a whole block or a narrow one.
  template <int kCount>
  ISOMER_DEVICE void issue_o(const P& weights) {
    const SharedMatrix v =
        v_matrix + static_cast<u32>((kCountsValues ? value.stage : key.stage ^ 1) * kLayout.v_bytes);
    warpgroup_fence();
#pragma unroll
    for (int k = 0; k < kCount / kDepth; ++k)
      multiply_add<Element, kDimV, !kFp8>(
          o, weights.of[k], v + static_cast<u32>(k * (kFp8 ? kDepth : 16 * 128)), kFp8 || k != 0 || begun);
    warpgroup_commit();
    begun = true;
  }
  ISOMER_DEVICE void issue_o(const P& weights, bool only_narrow) {
    if (kNarrow < kKeys &&
        only_narrow) {  // a fence of its own: one that the compiler adds in a branch serialises every product
      issue_o<kNarrow>(weights);
      return;
    }
    issue_o<kKeys>(weights);
  }
  /// Zeros for those rows of block `behind` of V that hold none of the tile's keys: slots that are not used
  /// may hold a NaN, and a NaN times a weight of 0 is one. The first warpgroup does it, in its turn, for
  /// all. True where it has waited for the block.
  ISOMER_DEVICE bool clear_unused_values(int its_turn, int behind) {
    if (group != 0) return false;
    const Tile tile = tile_of(its_turn);
    const int used = most(tile.k_len - behind * kKeys, 0), before = behind == 0 ? tile.first : 0;
    if (used >= kKeys && before == 0) return false;
    wait_v();
    const u32 v = shared.v(key.stage ^ 1), zeros[4] = {};
#pragma unroll 1
    for (int i = static_cast<int>(threadIdx.x & 127); i < kKeys * 8; i += 128) {  // 16 bytes each
      if (i / 8 >= before && i / 8 < used) continue;
#pragma unroll
      for (int panel = 0; panel < AttentionSm90Layout::panels(kDimV); ++panel)
        store_shared(v + static_cast<u32>(panel * kPanelKeys + i * 16), zeros);
    }
    fence_async_shared();
    sync_threads<128>(1 + kGroups + group);
    return true;
  }
  /// The next warpgroup may issue its products.
  ISOMER_DEVICE void end_turn() const {
    arrive_threads<256>(kGroups == 2 ? 2 - group : 1 + (group + 1) % kGroups);
  }
  /// Σ P·v by references that have risen, while S is under way.
  ISOMER_DEVICE void raise_late() {
    if constexpr (kRaisesLate) {
      if (raised) raise_out();
      raised = false;
    }
  }
  /// S of the block ahead and Σ P·v of block `behind` of its tile, when it is this warpgroup's turn. Returns
  /// with S. kInside: the block ahead is of the same tile.
  template <bool kInside = false, int N>
  ISOMER_DEVICE void issue_both(f32 (&x)[N], const P& weights, bool only_narrow, int its_turn, int behind) {
    wait_k();
    if constexpr (kInTurn) sync_threads<256>(1 + group);
    bool waited = false;
    if constexpr (kClearsHere) {
      if ((its_turn != turn || behind >= clear_end)) waited = clear_unused_values(its_turn, behind);
    }
    issue_s(x);
    if constexpr (kInside) raise_late();
    if (!waited) wait_v();
    issue_o(weights, only_narrow);
    if constexpr (kInTurn) end_turn();
    warpgroup_wait<1>();
    pin(x);
    free_k();
  }

  template <int N>
  ISOMER_DEVICE void cap(f32 (&x)[N]) const {
    if constexpr (kScaled) {
      if (kRemembers ? (unusual & kDescaled) != 0 : is_descaled()) {
#pragma unroll
        for (int i = 0; i < N; ++i) x[i] *= factors.descale;
      }
    }
    if constexpr (kSoftcap) {
#pragma unroll
      for (int i = 0; i < N; ++i) x[i] = tanhf(x[i] * p.cap);
    }
  }
  template <int N>
  ISOMER_DEVICE void mask(f32 (&x)[N]) const {
    if constexpr (kPieces) {
      const Tile tile = tile_of(turn);
      const int row = first_row(tile), from = n * kKeys + lane % 4 * 2;
      mask_from(x, least(tile.high(p, row), tile.k_len) - from,
                least(tile.high(p, row + 8), tile.k_len) - from);
      if (n < clear_begin) mask_below(x, tile.low(p, row) - from, tile.low(p, row + 8) - from);
      return;
    }
    int its_high = high, its_len = k_len;
    if constexpr (kReread) {
      const Tile tile = tile_of(turn);
      its_high = first_high(tile);
      its_len = tile.k_len;
    }
    const int first = n * kKeys + lane % 4 * 2;
    mask_from(x, least(its_high, its_len) - first, least(its_high + 8, its_len) - first);
    if (n < clear_begin) {
      const int low = its_high - 1 - p.right - p.left;
      mask_below(x, low - first, low + 8 - first);
    }
  }
  ISOMER_DEVICE bool is_clear() const { return n >= clear_begin && n < clear_end; }

  /// A use of P behind the wait for its product. The compiler takes a's registers for free once a product is
  /// issued; without this it gives them to the next P, sees that they are still read, and serialises.
  ISOMER_DEVICE void use(P& in) const {
    u32 x = 0;
#pragma unroll
    for (int i = 0; i < P::kWords; ++i) x ^= in.word(i);
    if (threadIdx.x == 128) store_shared(shared.scratch(), x);
  }
  ISOMER_DEVICE void raise_out() {
#pragma unroll
    for (int j = 0; j < kDimV / 8; ++j) {
      o[4 * j] *= rows.factor[0];
      o[4 * j + 1] *= rows.factor[0];
      o[4 * j + 2] *= rows.factor[1];
      o[4 * j + 3] *= rows.factor[1];
    }
    pin(o);
  }

  /// What is rare of a block of S: one jump over all of it.
  ISOMER_DEVICE void prepare(bool clear) {
    if constexpr (kRemembers) {
      if (clear && unusual == 0) return;
    }
    cap(s);
    if (!clear) mask(s);
    if constexpr (kFp8 || kOneP) {
      if (kRemembers ? (unusual & kUnset) != 0 : is_unset()) {
        set_references(scale(), s, rows);
        if constexpr (kRemembers) note_unset();
      }
    }
  }
  /// S of a block, masked. Σ P·v of the block behind is under way with `weights`.
  template <class W>
  ISOMER_DEVICE void begin_step(bool clear, W& weights, bool only_narrow) {
    issue_both<true>(s, weights, only_narrow, turn, n + 1);
    if (n == begin) free_q();
    prepare(clear);
    look_ahead(1);
  }
  /// One block: S of it, Σ P·v of the block behind with `in`, and its own P into `out`.
  template <class W>
  ISOMER_DEVICE void step(bool clear, W& in, W& out, bool only_narrow) {
    begin_step(clear, in, only_narrow);
    if constexpr (kFp8) {
      const bool grown = take_powers<Element>(scale(), s, rows);
      round_weights<Element>(s, out);  // behind the branch it would take in's registers, too
      warpgroup_wait<0>();             // in no branch: a warpgroup's warps have to wait at the same place
      pin(o);
      if (grown) {
        use(in);
        raise_references<Element>(scale(), s, rows);
        round_weights<Element>(s, out);
        raise_out();
      }
      free_v(key.stage);
    } else {
      const bool grown = softmax<Element>(scale(), s, rows, out);
      warpgroup_wait<0>();
      pin(o);
      if (grown) use(in);
      free_v(key.stage);  // K has gone on since
      if (grown) raise_out();
    }
  }
  /// The same with one P: powers stay where S was until the product with the P before them has ended. The
  /// registers of a second P go into longer blocks.
  template <class W>
  ISOMER_DEVICE void step_in_place(bool clear, W& weights, bool only_narrow) {
    begin_step(clear, weights, only_narrow);
    const bool grown = take_powers<Element>(scale(), s, rows);
    if constexpr (kFp8) {
      if (kRaisesLate && grown) {
        raise_references<Element>(scale(), s, rows);
        raised = true;
      }
      warpgroup_wait<0>();
      pin(o);
      if (!kRaisesLate && grown) {
        use(weights);
        raise_references<Element>(scale(), s, rows);
        raise_out();
      }
      round_weights<Element>(s, weights);
      free_v(key.stage);
    } else {
      // Behind the branch the compiler would first move all powers to where S was.
      warpgroup_wait<0>();
      pin(o);
      free_v(key.stage);
      round_weights<Element>(s, weights);
      if (grown) {
        raise_references<Element>(scale(), s, rows);
        raise_out();
        round_weights<Element>(s, weights);
      }
    }
  }
  /// All blocks of a tile but the first; its last P is left in `front`.
  template <bool kOne = kOneP>
  ISOMER_DEVICE void other_blocks() {
    if constexpr (kOne) {
#pragma unroll 1
      for (--n; n >= begin; --n) {
        step_in_place(is_clear(), front, narrow);
        narrow = false;
      }
      raise_late();
    } else {
      bool only_narrow = narrow;
      const bool few = n - begin < kFewBlocks;
      for (--n; n >= begin;) {
        if (kOneAtATime || few || only_narrow || !is_clear() || ((n - clear_begin) & 1) == 0) {
          step(is_clear(), front, back, only_narrow);
#pragma unroll
          for (int i = 0; i < P::kWords; ++i) front.word(i) = back.word(i);
          front.pin();
          only_narrow = false;
          --n;
        } else {  // two at a time: P changes places with no move
          do {
            step(true, front, back, false);
            --n;
            back.pin();
            step(true, back, front, false);
            --n;
            front.pin();
          } while (n > clear_begin);
        }
      }
      narrow = only_narrow;
    }
  }
  /// A tile's first block once S is there: x becomes P.
  template <int N>
  ISOMER_DEVICE void first_block(f32 (&x)[N]) {
    if (n == begin) free_q();
    cap(x);
    if (!is_clear()) mask(x);
    softmax_first(scale(), x, rows, kFp8 ? kShift : 0.0f);
    if constexpr (kRemembers) note_unset();
  }
  ISOMER_DEVICE void clear_out() {
#pragma unroll
    for (int i = 0; i < kDimV / 2; ++i) o[i] = 0.0f;
    pin(o);
  }
  /// Two widths of the first block, two paths up to P: accumulators of different shapes must not meet.
  template <class Body>
  ISOMER_DEVICE void by_width(Body&& body) {
    if (kNarrow < kKeys && narrow) {
      f32 x[kNarrow / 2];
      body(x);
    } else {
      body(s);
    }
  }
};

}  // namespace isomer::device::attention_sm90
