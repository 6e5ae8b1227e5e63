#pragma once

#include "lab/findings/finding.hpp"

#include <nlohmann/json_fwd.hpp>

namespace isomer::lab {

/// What the JSON of `isomer check PATH` says about one candidate; `before` is the one before it in its
/// folder, null where there is none.
nlohmann::ordered_json candidate_json(const Diagnosis& diagnosis, const Diagnosis* before);
/// Reads it back; pictures are no part of it. Throws Error bad_argument, with what is wrong in it.
Diagnosis diagnosis_of_json(const nlohmann::ordered_json& json);

}  // namespace isomer::lab
