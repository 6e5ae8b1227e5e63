set(environment "ISOMER_NVRTC=${NVRTC_LIBRARY}")
set(single test_attention_plan.cpp test_fp8_gemm_plan.cpp)
