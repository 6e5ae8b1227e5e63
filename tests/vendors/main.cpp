// The loader reads its search path when a program starts: with the stand-ins' folder in front of it this one
// starts itself again.
#ifdef ISOMER_HAS_EMULATOR
#include "vendor/vendor.hpp"
#endif

#include <gtest/gtest.h>

#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <string>

int main(int argc, char** argv) {
  const char* before = std::getenv("LD_LIBRARY_PATH");
  std::string path = before == nullptr ? "" : before;
  if (!path.starts_with(ISOMER_STAND_INS)) {
    path = path.empty() ? ISOMER_STAND_INS : ISOMER_STAND_INS ":" + path;
    ::setenv("LD_LIBRARY_PATH", path.c_str(), 1);
    ::execv("/proc/self/exe", argv);
    std::perror("this program cannot be started again");
    return 1;
  }
#ifdef ISOMER_HAS_EMULATOR
  isomer::emulator::register_vendor();
#endif
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
