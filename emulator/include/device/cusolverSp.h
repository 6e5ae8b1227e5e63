#error "cusolverSp.h is not on the emulated device: of cuSOLVER the dense part alone is"
