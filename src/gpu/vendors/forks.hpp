#pragma once

namespace isomer::gpu {

/// How often this process has been forked off, counted from the first call on: in a child it is one more than
/// in its parent. No GPU runtime survives a fork, so a vendor compares with the number from before it
/// initialised its own.
int forks();

}  // namespace isomer::gpu
