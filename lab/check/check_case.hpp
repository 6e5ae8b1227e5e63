#pragma once

#include "core/plan.hpp"
#include "lab/check/outcome.hpp"
#include "lab/check/overdue.hpp"
#include "lab/check/target.hpp"
#include "oracle/oracle.hpp"

#include <vector>

namespace isomer::lab {

/// Makes the problem once, computes the reference once, and sends every implementation down the ordinary road
/// `runs` times, two at least, over outputs poisoned with two patterns. Afterwards: outputs within the reference's bounds,
/// elements that the op does not write untouched, inputs, gaps and guard zones unchanged, all runs
/// bit-equal. The case's seed must be fixed. A case that cannot be made or that its own contract refuses has
/// failed for every implementation; where the case was `given` by a user, Error says why instead. `overdue`,
/// where it is there, knows what each implementation works on.
std::vector<Outcome> check_case(const oracle::Oracle& oracle, const oracle::Case& fixed,
                                const std::vector<Target>& targets, Queues& queues, bool given = false,
                                Overdue* overdue = nullptr, int runs = 2);

}  // namespace isomer::lab
