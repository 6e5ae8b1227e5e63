set(optimised ON)
set(library isomer_oracle)
