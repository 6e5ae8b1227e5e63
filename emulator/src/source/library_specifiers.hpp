// Headers of the system (Thrust's, Boost's) are read as any compiler of the host reads them, but for __host__
// and
// __device__.
#pragma once

#include <string>

namespace isomer::emulator::source {

/// The preprocessed text with blanks in place of these words in headers of the system; the text itself where
/// no header of theirs is in it.
std::string without_library_specifiers(std::string preprocessed);

}  // namespace isomer::emulator::source
