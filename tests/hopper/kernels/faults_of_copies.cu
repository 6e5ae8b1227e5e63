// Planted faults in the use of barriers, bulk copies and stores. `NAME_bad` misbehaves on the line that carries
// `// fault: NAME`, or is told there; `NAME_ok` is its clean twin.
#include "faults.cuh"

namespace isomer::device {

// -------------------------------------------------------------------------------------------------- bulk copies
TWINS(read_before_wait) {
  const Place at = prepare();
  if (threadIdx.x == 0) bring(p, at);
  if (!kBad) at.full.wait(0);
  use(p, load_shared(mine(at.tile)));  // fault: read_before_wait
  if (kBad) at.full.wait(0);
}
TWINS(wait_by_one_lane) {
  const Place at = prepare();
  if (threadIdx.x >= 32) return;
  if (threadIdx.x == 0) bring(p, at);
  if (!kBad || threadIdx.x == 0) at.full.wait(0);
  any_lane(true);  // orders no memory
  use(p, load_shared(mine(at.tile)));  // fault: wait_by_one_lane
}
TWINS(first_phase_wrong) {
  const Place at = prepare();
  if (threadIdx.x == 0) bring(p, at);
  at.full.wait(kBad ? 1 : 0);
  use(p, load_shared(mine(at.tile)));  // fault: first_phase_wrong
  if (kBad) at.full.wait(0);
}
TWINS(phase_not_turned) {
  const Place at = prepare(128);
  for (int n = 0; n < 2; ++n) {
    if (threadIdx.x == 0) {
      at.empty.wait(n & 1 ^ 1);
      bring(p, at);
    }
    at.full.wait(kBad ? 0 : n & 1);  // fault: phase_not_turned
    if (!kBad) at.full.wait(n & 1);  // what is over may be waited for again
    use(p, load_shared(mine(at.tile)));
    at.empty.arrive();
  }
}
TWINS(stage_filled_again) {
  const Place at = prepare(128);
  for (int n = 0; n < 2; ++n) {
    if (threadIdx.x == 0) {
      if (!kBad) at.empty.wait(n & 1 ^ 1);
      at.full.arrive_expect(kTile);
      load<2>(p.from, {{0, 0}}, at.tile, at.full);
    }
    at.full.wait(n & 1);
    use(p, load_shared(mine(at.tile)));  // fault: stage_filled_again
    at.empty.arrive();
  }
}
TWINS(stage_given_back_early) {
  const Place at = prepare(128);
  for (int n = 0; n < 2; ++n) {
    if (threadIdx.x == 0) {
      at.empty.wait(n & 1 ^ 1);
      at.full.arrive_expect(kTile);
      load<2>(p.from, {{0, 0}}, at.tile, at.full);  // fault: stage_given_back_early
    }
    at.full.wait(n & 1);
    if (kBad) at.empty.arrive();
    use(p, load_shared(mine(at.tile)));
    if (!kBad) at.empty.arrive();
  }
}
TWINS(writes_into_copy) {
  const Place at = prepare();
  if (threadIdx.x == 0) bring(p, at);
  if (!kBad) at.full.wait(0);
  store_shared(mine(at.tile), 1u);  // fault: writes_into_copy
  if (kBad) at.full.wait(0);
}
TWINS(bytes_too_many) {
  const Place at = prepare();
  if (threadIdx.x == 0) {
    at.full.arrive_expect(kBad ? kTile + 16 : kTile);
    load<2>(p.from, {{0, 0}}, at.tile, at.full);
  }
  at.full.wait(0);  // fault: bytes_too_many
  use(p, load_shared(mine(at.tile)));
}
TWINS(bytes_too_few) {
  const Place at = prepare();
  if (threadIdx.x == 0) {
    at.full.arrive_expect(kBad ? kTile - 16 : kTile);
    load<2>(p.from, {{0, 0}}, at.tile, at.full);  // fault: bytes_too_few
  }
  at.full.wait(0);
  use(p, load_shared(mine(at.tile)));
}
TWINS(barrier_not_initialised) {
  const Place at = prepare();
  if (threadIdx.x == 0) {
    if (!kBad) return bring(p, at);
    load<2>(p.from, {{0, 0}}, at.tile, {at.full.at + 64});  // fault: barrier_not_initialised
  }
  if (!kBad) at.full.wait(0);
}
TWINS(barrier_not_announced) {
  const u32 base = shared_address(memory);
  const Barrier full{base + kBarriers};
  if (threadIdx.x == 0) {
    full.init(1);
    fence_barriers();
  }
  if (!kBad) __syncthreads();
  if (threadIdx.x == 32) {
    full.arrive_expect(kTile);  // fault: barrier_not_announced
    load<2>(p.from, {{0, 0}}, base, full);
    full.wait(0);
  }
}
TWINS(barrier_fence_missing) {
  const u32 base = shared_address(memory);
  const Barrier full{base + kBarriers};
  if (threadIdx.x == 0) {
    full.init(1);
    if (!kBad) fence_barriers();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    full.arrive_expect(kTile);
    load<2>(p.from, {{0, 0}}, base, full);  // fault: barrier_fence_missing
  }
  full.wait(0);
}
TWINS(one_arrival_too_many) {
  const Place at = prepare(1);
  if (threadIdx.x == 0) at.empty.expect(16);
  if (threadIdx.x == 0) at.empty.arrive();
  __syncthreads();
  if (kBad && threadIdx.x == 1) at.empty.arrive();  // fault: one_arrival_too_many
  if (threadIdx.x == 0) load_bytes(p.out, 16, at.tile, at.empty);
  at.empty.wait(0);
}
TWINS(arrival_missing) {
  const Place at = prepare(4);
  if (threadIdx.x % 32 == 0 && (!kBad || threadIdx.x > 0)) at.empty.arrive();
  at.empty.wait(0);  // fault: arrival_missing
}
TWINS(tile_not_aligned) {
  const Place at = prepare();
  if (threadIdx.x == 0) {
    at.full.arrive_expect(kTile);
    load<2>(p.from, {{0, 0}}, at.tile + (kBad ? 64 : 0), at.full);  // fault: tile_not_aligned
  }
  at.full.wait(0);
}
TWINS(copy_left_behind) {
  const Place at = prepare();
  if (threadIdx.x == 0) {
    at.full.arrive_expect(kTile);
    load<2>(p.from, {{0, 0}}, at.tile, at.full);  // fault: copy_left_behind
  }
  if (!kBad) at.full.wait(0);
}

// -------------------------------------------------------------------------------------------------- stores
TWINS(proxy_fence_missing) {
  const Place at = prepare();
  fill(at.tile);
  if (!kBad) fence_async_shared();
  __syncthreads();
  if (threadIdx.x == 0) {
    store<2>(p.to, {{0, 0}}, at.tile);  // fault: proxy_fence_missing
    end_stores();
    wait_stores<0>();
  }
}
TWINS(proxy_fence_too_early) {
  const Place at = prepare();
  if (kBad) fence_async_shared();
  fill(at.tile);
  if (!kBad) fence_async_shared();
  __syncthreads();
  if (threadIdx.x == 0) {
    store<2>(p.to, {{0, 0}}, at.tile);  // fault: proxy_fence_too_early
    end_stores();
    wait_stores<0>();
  }
}
TWINS(store_before_barrier) {
  const Place at = prepare();
  fill(at.tile);
  fence_async_shared();
  __syncthreads();
  fill(at.tile);
  fence_async_shared();
  if (!kBad) __syncthreads();
  if (threadIdx.x == 0) {
    store<2>(p.to, {{0, 0}}, at.tile);  // fault: store_before_barrier
    end_stores();
    wait_stores<0>();
  }
}
TWINS(stored_tile_overwritten) {
  const Place at = prepare();
  for (int n = 0; n < 2; ++n) {
    if (threadIdx.x == 0 && !kBad) wait_stores_read<0>();
    __syncthreads();
    for (u32 c = 0; c < 64; c += 4)
      store_shared(swizzled_128(at.tile, threadIdx.x / 2, threadIdx.x % 2 * 64 + c), 7u);  // fault: stored_tile_overwritten
    fence_async_shared();
    __syncthreads();
    if (threadIdx.x == 0) {
      store<2>(p.to, {{0, 0}}, at.tile);
      end_stores();
    }
  }
  if (threadIdx.x == 0) wait_stores<0>();
}
TWINS(store_left_behind) {
  const Place at = prepare();
  fill(at.tile);
  fence_async_shared();
  __syncthreads();
  if (threadIdx.x == 0) {
    store<2>(p.to, {{0, 0}}, at.tile);  // fault: store_left_behind
    end_stores();
    if (!kBad) wait_stores_read<0>();
  }
}
TWINS(store_in_no_group) {
  const Place at = prepare();
  fill(at.tile);
  fence_async_shared();
  __syncthreads();
  if (threadIdx.x == 0) {
    store<2>(p.to, {{0, 0}}, at.tile);  // fault: store_in_no_group
    if (!kBad) end_stores();
    wait_stores_read<0>();
  }
}

}  // namespace isomer::device
