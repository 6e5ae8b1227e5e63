#pragma once

#include "lab/launches/inject/cuda/cupti.hpp"

#include <cstdint>
#include <vector>

namespace isomer::inject {

/// The driver's calls that are listened to: launches, graphs, memory, modules.
const std::vector<CUpti_CallbackId>& heard_calls();

/// One of them begins or ends.
void heard(CUpti_CallbackId id, const CUpti_CallbackData& data);

/// Modules and graph nodes come and go.
void heard_resource(CUpti_CallbackId id, const CUpti_ResourceData& data);
const std::vector<CUpti_CallbackId>& heard_resources();

std::uint64_t recorded_launches();

}  // namespace isomer::inject
