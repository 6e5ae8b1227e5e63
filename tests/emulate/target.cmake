# The verb is run as its users run it.
set(library isomer_emulator)
set(definitions ISOMER_CLI="$<TARGET_FILE:isomer_cli>" ISOMER_EMULATE_CACHE="${CMAKE_CURRENT_BINARY_DIR}/emulate-cache")
set(dependencies isomer_cli isomer-emulator-runner)
