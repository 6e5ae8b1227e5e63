#pragma once

#include "lab/diff/launch_groups.hpp"
#include "lab/diff/messages.hpp"
#include "lab/names/parameter_layouts.hpp"

#include <string>
#include <utility>
#include <vector>

namespace isomer::lab {

/// One launch of a capture as the checklist that two builds of a kernel are compared by.
struct ShownKernel {
  using Named = std::vector<std::pair<std::string, std::string>>;
  std::string name, family;
  std::uint64_t launches = 0;
  Named compiled, constants, launch, parameters;  ///< template, what follows from it, geometry, arguments
};

/// Every kernel of a capture.
std::vector<ShownKernel> shown_kernels(const GroupedCapture& capture, const ParameterLayouts& layouts);

/// One column, or two where a second capture is given: kernels of one family side by side.
std::string show_text(const std::vector<ShownKernel>& a, const std::vector<ShownKernel>* b,
                      const Messages& messages);
/// {"version":1,"a":[{"name","launches","template":{},"constants":{},"launch":{},"parameters":{}}],"b":[…]}
std::string show_json(const std::vector<ShownKernel>& a, const std::vector<ShownKernel>* b);

}  // namespace isomer::lab
