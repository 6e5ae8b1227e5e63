#error "mma.h (nvcuda::wmma) is not on the emulated device: --backend cuda has it"
