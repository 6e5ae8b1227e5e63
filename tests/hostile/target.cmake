# Hostile candidates are judged in batches, by the command line as its users run it.
set(library isomer_lab isomer_emulator)
set(definitions ISOMER_CLI="$<TARGET_FILE:isomer_cli>")
set(dependencies isomer_cli)
set(environment "ISOMER_CACHE=${test_cache}")
