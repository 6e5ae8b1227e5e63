#pragma once

#include "lab/evidence/variations/search.hpp"

#include <vector>

namespace isomer::lab {

/// What any op's answer may have been put through on its way out: a factor that all of an output has too much
/// or too little ("factor=c*0.25"), rows and columns exchanged ("transposed=c"). Variations, made where the
/// answers show one; empty where they show none.
std::vector<oracle::Variation> measured_changes(const Port& port, const std::vector<Evidence>& evidence);

/// Puts what a reference gave through those among the variations.
void apply_changes(const oracle::Variations& variations, oracle::Expected& expected);

/// What the reference with variations makes of a problem, put through those.
oracle::Expected varied(const Given& given, const oracle::Oracle& oracle,
                        const oracle::Variations& variations);

}  // namespace isomer::lab
