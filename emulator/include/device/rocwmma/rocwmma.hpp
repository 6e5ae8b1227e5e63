#error "rocwmma is not on the emulated device: --backend hip has it"
