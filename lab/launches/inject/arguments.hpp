#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace isomer::inject {

/// Offset and size of each parameter in a kernel's parameter buffer.
using Layout = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// `,"parameters":[[offset,size],…]`.
std::string layout_json(const Layout& layout);

/// `,"arguments":["hex",…],"pointers":[[parameter,offset,"allocation+offset"],…]`. Reads the bytes, which are
/// only there during the call. `parameters` has one address for each parameter; where it is null, `extra` is
/// the driver's list {1, buffer, 2, &size, end}, which CUDA and HIP lay out alike. Nothing where both are
/// null and the kernel takes something.
void append_arguments(std::string& text, const Layout& layout, void** parameters, void** extra);

/// `,"grid":[x,y,z]`.
void append_triple(std::string& text, const char* key, const std::uint32_t (&values)[3]);

}  // namespace isomer::inject
