# Every hostile candidate; the first tier has a sample of them in tests/hostile.
set(library isomer_lab isomer_emulator)
set(definitions ISOMER_CLI="$<TARGET_FILE:isomer_cli>")
set(dependencies isomer_cli)
set(environment "ISOMER_CACHE=${test_cache}")
list(APPEND labels tier2)
