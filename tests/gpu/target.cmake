set(environment "ISOMER_NVRTC=${NVRTC_LIBRARY}")
