#pragma once

#include <string>

namespace isomer::lab {

/// What the comments of a source say of a kernel's launch, as text that a launch line is read from: the
/// source's constants, what the comment sets (`grid = (n + 255) / 256, block: 256`), and the launch. The
/// comment writes the launch out with the kernel's name, wherever it stands, or stands at the kernel (`name`,
/// without namespaces and template arguments; defined at `line` of the source). Empty where none does.
std::string commented_launch(const std::string& source, const std::string& name, int line);

}  // namespace isomer::lab
