#include "child/host_limits.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace isomer::emulator {
namespace {

void set_limit(__rlimit_resource what, std::uint64_t soft) {
  rlimit r{};
  getrlimit(what, &r);
  r.rlim_cur = std::min<rlim_t>(soft, r.rlim_max);
  setrlimit(what, &r);
}

// Private memory that this process may write, reserved or used.
std::uint64_t data_bytes() {
  unsigned long fields[7] = {};
  if (FILE* f = std::fopen("/proc/self/statm", "r")) {
    for (unsigned long& field : fields) {
      if (std::fscanf(f, "%lu", &field) != 1) break;
    }
    std::fclose(f);
  }
  return std::uint64_t{fields[5]} * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

void begin_host_limits(std::uint64_t memory, std::uint64_t file) {
  constexpr std::uint64_t kOwn = std::uint64_t{1} << 30;  // stacks of the device's threads
  if (const std::uint64_t now = data_bytes(); now > 0) set_limit(RLIMIT_DATA, now + memory + kOwn);
  set_limit(RLIMIT_FSIZE, file);
}

void end_host_limits() {
  set_limit(RLIMIT_DATA, ~std::uint64_t{0});
  set_limit(RLIMIT_FSIZE, ~std::uint64_t{0});
}

}  // namespace isomer::emulator
