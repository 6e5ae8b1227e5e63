# Warnings, sanitizers and what every target of the project shares.
find_package(Threads REQUIRED)
find_path(HIGHWAY_INCLUDE_DIR hwy/highway.h REQUIRED)

add_library(isomer_options INTERFACE)
target_compile_options(isomer_options INTERFACE -Wall -Wextra -Wno-unused-parameter -ffp-contract=off)
target_link_libraries(isomer_options INTERFACE Threads::Threads)
if(ISOMER_SANITIZE)
  string(REPLACE ";" "," sanitizers "${ISOMER_SANITIZE}")
  target_compile_options(isomer_options INTERFACE -fsanitize=${sanitizers} -fno-omit-frame-pointer -g1)
  target_link_options(isomer_options INTERFACE -fsanitize=${sanitizers})
  if("undefined" IN_LIST ISOMER_SANITIZE)
    target_compile_options(isomer_options INTERFACE -fno-sanitize-recover=undefined)
  endif()
endif()

# One portable, one AVX2 and one AVX-512 body of each vector kernel; on Arm one portable and one NEON.
# Highway avoids its portable target EMU128 on GCC before 12.3 for a fault in 16-bit high multiplies, which we do not use.
set(ISOMER_HIGHWAY_DEFINITIONS
  "HWY_DISABLED_TARGETS=(HWY_SSSE3|HWY_SSE4|HWY_AVX3_DL|HWY_SVE|HWY_SVE2|HWY_SVE_256|HWY_SVE2_128)"
  HWY_BROKEN_EMU128=0)
