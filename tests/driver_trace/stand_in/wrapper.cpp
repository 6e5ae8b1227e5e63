// A library that wraps the C library's getppid: it finds the next one behind itself.
#include <dlfcn.h>
#include <sys/types.h>

extern "C" pid_t getppid() {
  static int depth = 0;
  if (++depth > 1) return -2;  // the next one behind itself is itself
  const auto next = reinterpret_cast<pid_t (*)()>(dlsym(RTLD_NEXT, "getppid"));
  const pid_t answer = next == nullptr ? -1 : next();
  --depth;
  return answer > 0 ? 1 : answer;
}
