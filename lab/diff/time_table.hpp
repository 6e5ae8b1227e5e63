#pragma once

#include "lab/diff/difference.hpp"
#include "lab/diff/launch_groups.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace isomer::lab {

/// Launches, devices and GPU time of one side.
SideTotals totals_of(const GroupedCapture& capture);

/// Whether their machine code cannot be the same: two architectures, or two devices of which one's
/// architecture is not known.
bool other_architecture(const SideTotals& a, const SideTotals& b);

/// Where the time went: one row for all kernels that `pairs` (groups of A and of B) join, or a step of
/// `layers` that is done by other kernels, and one for each other. The row that differs most comes first.
/// Empty where a side has no times.
std::vector<TimeRow> kernel_times(
    const GroupedCapture& a, const GroupedCapture& b, const std::vector<LayerChange>& layers,
    const std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t>& pairs);

/// The same by operator, where both sides tell of operators.
std::vector<TimeRow> operator_times(const GroupedCapture& a, const GroupedCapture& b);

/// A kernel's name as a row or a headline holds it: at most `columns` characters, cut inside its template's
/// arguments.
std::string short_name(const std::string& name, std::size_t columns = 80);

/// "1.23 ms"; with a sign where `delta`.
std::string time_words(double nanoseconds, bool delta = false);

}  // namespace isomer::lab
