# Every GPU kernel with no GPU: run on the emulator, and compiled for architectures that need not be here.
if(NOT TARGET isomer_cli OR NOT TARGET isomer_emulator)
  return()
endif()

find_library(NVRTC_LIBRARY nvrtc HINTS ENV CUDA_HOME PATHS /usr/local/cuda ${CMAKE_BINARY_DIR}/nvrtc PATH_SUFFIXES lib64 lib)
if(NOT NVRTC_LIBRARY)
  execute_process(COMMAND ${PROJECT_SOURCE_DIR}/tools/fetch_nvrtc ${CMAKE_BINARY_DIR}/nvrtc RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "the tests of the GPU kernels need NVRTC: tools/fetch_nvrtc failed; set NVRTC_LIBRARY, or build "
                        "without tests (ISOMER_TESTS=OFF)")
  endif()
  find_library(NVRTC_LIBRARY nvrtc HINTS ${CMAKE_BINARY_DIR}/nvrtc/lib REQUIRED)
endif()

# They use all cores themselves.
function(isomer_kernel_test name)
  add_test(NAME gpu.${name} COMMAND isomer_cli ${ARGN})
  set_tests_properties(gpu.${name} PROPERTIES TIMEOUT 5400 PROCESSORS 2
    ENVIRONMENT "ISOMER_CACHE=${test_cache};ISOMER_NVRTC=${NVRTC_LIBRARY}")
endfunction()

# Watched, at 32 and 64 lanes. The first tier takes fewer cases, which run every kernel too; for attention, where to plan all
# cases takes longer than to run some, they stand here: each kernel of the implementation for every device has one. Those for
# Ampere and Hopper run in tests/emulated and tests/device_faults.
add_test(NAME gpu.emulated COMMAND ${PROJECT_SOURCE_DIR}/tests/check_all_but $<TARGET_FILE:isomer_cli> attention --backend emulated --sample 1)
set_tests_properties(gpu.emulated PROPERTIES TIMEOUT 5400 PROCESSORS 2 ENVIRONMENT "ISOMER_CACHE=${test_cache}")
isomer_kernel_test(emulated_attention check attention --implementation emulated/portable --backend emulated
  --case "attention b=2 sq=4 sk=0 hq=2 lse" --case "attention sq=9 sk=80 hq=2 hkv=1 d=32 lse left=1 right=0"
  --case "attention b=2 sq=5 sk=39 hq=4 d=24 dv=40 lse qv causal append=3" --case "attention b=2 sq=1 sk=3 hq=2 f32 lse num_splits=2")
isomer_kernel_test(emulated_28 check --backend emulated --sample 28)
# The second tier compiles every program, the first so many of each kernel.
isomer_kernel_test(sm_90a_sample prebuild --arch sm_90a --no-spills --sample 1 --out ${CMAKE_BINARY_DIR}/tests/bundles/sm_90a_sample)
isomer_kernel_test(sm_90a prebuild --arch sm_90a --no-spills --out ${CMAKE_BINARY_DIR}/tests/bundles/sm_90a)
set_tests_properties(gpu.emulated_28 gpu.sm_90a PROPERTIES LABELS tier2)
# Attention's mma.sync kernel has other tiles on Ampere and on Ada.
foreach(arch sm_80 sm_89)
  isomer_kernel_test(${arch} prebuild --arch ${arch} --op attention --implementation cuda/sm80 --no-spills --out ${CMAKE_BINARY_DIR}/tests/bundles/${arch})
  set_tests_properties(gpu.${arch} PROPERTIES LABELS tier2)
endforeach()
isomer_kernel_test(sm_80_sample prebuild --arch sm_80 --op attention --implementation cuda/sm80 --no-spills --sample 1 --out ${CMAKE_BINARY_DIR}/tests/bundles/sm_80_sample)
# The second tier: both of AMD's compilers. hipcc, which stands in where there is no hipRTC and is a process for each program,
# compiles all; hipRTC, the same compiler, compiles one program after the other and a sample of each kernel's.
set(bundles ${CMAKE_BINARY_DIR}/tests/bundles)
find_program(HIPCC_PROGRAM hipcc)
if(HIPCC_PROGRAM)
  isomer_kernel_test(gfx90a prebuild --arch gfx90a --no-spills --out ${bundles}/gfx90a)
  set_property(TEST gpu.gfx90a APPEND PROPERTY ENVIRONMENT ISOMER_HIPRTC=none)
  set_tests_properties(gpu.gfx90a PROPERTIES LABELS tier2)
endif()
# Up to HIP 5 hipRTC is a part of the runtime.
find_library(HIPRTC_LIBRARY NAMES hiprtc amdhip64 HINTS ENV ROCM_PATH PATHS /opt/rocm PATH_SUFFIXES lib)
if(HIPRTC_LIBRARY)
  isomer_kernel_test(gfx90a_hiprtc prebuild --arch gfx90a --no-spills --jobs 1 --sample 6 --out ${bundles}/gfx90a_hiprtc)
  set_tests_properties(gpu.gfx90a_hiprtc PROPERTIES LABELS tier2 PROCESSORS 1)
endif()
