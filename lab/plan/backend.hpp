#pragma once

#include "gpu/vendor.hpp"

#include <string>
#include <string_view>

namespace isomer::lab {

/// What a plan is made for: the CPU, a device of this machine, or an architecture that need not be here.
struct PlanDevice {
  gpu::Vendor* vendor = nullptr;      ///< null: the CPU
  const gpu::Facts* facts = nullptr;  ///< null: the CPU
};

/// "cpu", "cuda", "emulated:1", "cuda:sm_90a". Throws Error bad_argument for anything else, and Error device
/// with what this machine lacks where a device of it is meant; `verb` begins the sentence.
PlanDevice parse_backend(std::string_view verb, const std::string& text);

/// The vendor and the facts of an architecture by its name: "sm_90a". Throws Error bad_argument that lists
/// those known.
PlanDevice parse_architecture(std::string_view verb, const std::string& architecture);

}  // namespace isomer::lab
