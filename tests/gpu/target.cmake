set(optimised ON)
set(environment "ISOMER_NVRTC=${NVRTC_LIBRARY}")
set(single test_attention_plan.cpp test_fp8_gemm_plan.cpp)
add_test(NAME Fp8GemmSm90.EveryVariant COMMAND test_gpu --gtest_filter=Fp8GemmSm90.EveryTile*)
set_tests_properties(Fp8GemmSm90.EveryVariant PROPERTIES LABELS tier2 ENVIRONMENT "ISOMER_NVRTC=${NVRTC_LIBRARY};ISOMER_EVERY_VARIANT=1")
# Every divisor, which takes minutes.
add_test(NAME Quotient.EveryDivisor COMMAND test_gpu --gtest_also_run_disabled_tests --gtest_filter=Quotient.DISABLED_*)
set_tests_properties(Quotient.EveryDivisor PROPERTIES LABELS tier2)
