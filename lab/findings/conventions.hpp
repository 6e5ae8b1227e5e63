#pragma once

#include "lab/findings/finding.hpp"

#include <string>
#include <vector>

/// What well-known kernels do otherwise than an op, on purpose. A port is held against its original, where
/// that is a fault; a kernel that nobody says is a port of the op's original is not.
namespace isomer::lab {

/// Findings whose variations are conventions of other houses become remarks that say so.
void tell_conventions(const std::string& op, std::vector<Finding>& findings);

/// What a kernel that is nobody's port does not take, and says so or is never given: one empty tensor, views,
/// other sizes and dtypes. No fault of its own, and a remark.
void tell_limits(std::vector<Finding>& findings);
/// The same of what was seen with views and sizes that no caller passes, of a label without kernels of its
/// own: PyTorch's operators take each.
void tell_limits_of_made(std::vector<Finding>& findings);

/// How an extension of another name than the label's function is called, where nothing else is wrong with it:
/// a wrapper stands between it and the callers. False where there is nothing of this, or something else.
bool tell_wrapped(std::vector<Finding>& findings);

/// One finding as such a remark.
Finding as_limit(Finding finding, const char* fix);

/// Whole numbers of 32 bits for the original's of 64, of a port whose comments say so.
void tell_narrow_integers(const std::string& source, std::vector<Finding>& findings);

/// Races of one line's stores with each other become remarks, where the answers are right in every order.
void tell_benign_races(std::vector<Finding>& findings);

/// Shuffles that read lanes which are not there, where the answer is right whatever they read: nothing else
/// is told of the candidate.
void tell_absent_lanes(std::vector<Finding>& findings);

}  // namespace isomer::lab
