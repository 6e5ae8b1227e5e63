#pragma once

#include <rocprofiler-sdk/rocprofiler.h>

extern "C" {
/// What rocprofiler-register does when a runtime begins: the tools are loaded. Version as 10000 * major.
void stand_in_begin(std::uint32_t version);
/// The runtime tells of something.
void stand_in_tell(rocprofiler_callback_tracing_kind_t kind, rocprofiler_tracing_operation_t operation,
                   rocprofiler_callback_phase_t phase, std::uint64_t thread, void* payload);
}
