# The verb is run as its users run it.
set(library isomer_emulator)
set(definitions ISOMER_CLI="$<TARGET_FILE:isomer_cli>" ISOMER_EMULATE_CACHE="${test_cache}")
set(dependencies isomer_cli isomer-emulator-runner)
list(APPEND labels timed)
