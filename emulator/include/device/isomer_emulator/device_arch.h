// Bodies for devices stand behind it: without it they are compiled away, and write nothing. PyTorch's own
// headers, which ask for it too, come before.
#pragma once
#ifndef __CUDA_ARCH__
#define __CUDA_ARCH__ 890
#endif
