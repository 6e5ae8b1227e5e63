set(optimised ON)
# Hopper's device words on the emulator: kernels of this folder's own, right ones and ones with a planted fault.
set(library isomer_emulator)
set(dependencies isomer-emulator-runner)
set(include_directories ${PROJECT_SOURCE_DIR}/src)
set(definitions ISOMER_HOPPER_KERNELS="${CMAKE_CURRENT_SOURCE_DIR}/hopper/kernels" ISOMER_SOURCES="${PROJECT_SOURCE_DIR}/src")
set(environment "ISOMER_CACHE=${test_cache}")
