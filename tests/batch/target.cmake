# Batches are run as their users run them: by the command line.
set(library isomer_lab)
set(definitions ISOMER_CLI="$<TARGET_FILE:isomer_cli>" ISOMER_PORTS="${PROJECT_SOURCE_DIR}/examples/ports")
set(dependencies isomer_cli)
set(environment "ISOMER_CACHE=${test_cache}")
