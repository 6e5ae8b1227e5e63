#pragma once

#include "lab/findings/finding.hpp"

#include <string>
#include <vector>

namespace isomer::lab {

/// What a worker says to the batch: diagnoses as CBOR, where asked for with what pictures are made of.
std::string to_bytes(const std::vector<Diagnosis>& diagnoses, bool pictures);
std::vector<Diagnosis> from_bytes(const std::string& bytes);

}  // namespace isomer::lab
