# The scripts of examples/cluster, as clusters run them. Ray is taken from the python3 that ISOMER_RAY_PYTHON names.
set(library isomer_lab)
set(definitions ISOMER_CLI="$<TARGET_FILE:isomer_cli>" ISOMER_CLUSTER="${PROJECT_SOURCE_DIR}/examples/cluster"
  ISOMER_VARIANTS="${PROJECT_SOURCE_DIR}/tools/variants_of_ports")
set(dependencies isomer_cli)
set(environment "ISOMER_CACHE=${test_cache}")
list(APPEND labels tier2)
