# The command line is run as its users run it.
set(library isomer_lab)
set(definitions ISOMER_CLI="$<TARGET_FILE:isomer_cli>")
set(dependencies isomer_cli)
