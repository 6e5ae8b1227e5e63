// What a source says for the device alone, behind __CUDA_ARCH__ or __HIP_DEVICE_COMPILE__. The vendors'
// compilers read a source once for the host and once for the device; here both readings become one text.
#pragma once

#include <string>
#include <string_view>

namespace isomer::emulator::source {

/// Whether one of the user's files, as the markers of a preprocessed text name them, asks for such a macro.
bool asks_for_device(std::string_view preprocessed);

/// The text as it was read for the host, with the bodies of kernels and device functions as they were read
/// for the device, and with the device functions that only this reading has. A function of both has both
/// bodies, and takes the one of where it is called.
std::string with_device_paths(std::string_view host, std::string_view device);

}  // namespace isomer::emulator::source
