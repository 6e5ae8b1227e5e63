// The names of what is found, as reports and JSON have them.
#include "isomer/emulator/report.hpp"

namespace isomer::emulator {

const char* name(Kind kind) {
  switch (kind) {
    case Kind::out_of_bounds_read:
      return "out-of-bounds-read";
    case Kind::out_of_bounds_write:
      return "out-of-bounds-write";
    case Kind::index_overflow:
      return "index-overflow";
    case Kind::uninitialised_read:
      return "uninitialised-read";
    case Kind::race:
      return "race";
    case Kind::barrier_divergence:
      return "barrier-divergence";
    case Kind::warp_divergence:
      return "warp-divergence";
    case Kind::writes_input:
      return "writes-input";
    case Kind::misaligned:
      return "misaligned";
    case Kind::stack_overflow:
      return "stack-overflow";
    case Kind::endless_wait:
      return "endless-wait";
    case Kind::step_limit:
      return "step-limit";
    case Kind::assertion:
      return "assertion";
    case Kind::trap:
      return "trap";
    case Kind::crash:
      return "crash";
    case Kind::host_call:
      return "host-call";
    case Kind::wrong_stream:
      return "wrong-stream";
    case Kind::default_stream:
      return "default-stream";
    case Kind::in_flight:
      return "in-flight";
    case Kind::early_reuse:
      return "early-reuse";
    case Kind::unseen_barrier:
      return "unseen-barrier";
    case Kind::warpgroup_divergence:
      return "warpgroup-divergence";
    case Kind::missing_proxy_fence:
      return "missing-proxy-fence";
    case Kind::missing_fence:
      return "missing-fence";
    case Kind::wrong_swizzle:
      return "wrong-swizzle";
    case Kind::wrong_phase:
      return "wrong-phase";
    case Kind::byte_count:
      return "byte-count";
    case Kind::barrier_misuse:
      return "barrier-misuse";
    case Kind::copy_misuse:
      return "copy-misuse";
    case Kind::register_pool:
      return "register-pool";
    case Kind::unfinished:
      return "unfinished";
    case Kind::stale_state:
      return "stale-state";
    case Kind::benign_race:
      return "benign-race";
    case Kind::use_after_free:
      return "use-after-free";
    case Kind::leak:
      return "leak";
    case Kind::float_to_integer:
      return "float-to-integer";
    case Kind::integer_division:
      return "integer-division";
    case Kind::ragged_store:
      return "ragged-store";
    case Kind::host_touch:
      return "host-touch";
    case Kind::host_race:
      return "host-race";
  }
  return "?";
}

}  // namespace isomer::emulator
