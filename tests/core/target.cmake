set(library isomer_oracle)
