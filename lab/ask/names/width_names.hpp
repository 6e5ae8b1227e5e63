#pragma once

#include "lab/ask/port.hpp"
#include "lab/ask/trial.hpp"
#include "lab/candidate/candidate.hpp"

namespace isomer::lab {

/// A stranger's number that is the width of a model (d_model, embed_dim, hidden_size), beside one that counts
/// heads: heads times the dimension of one; or that of the keys (kv_dim). Whether it is.
bool width_of_heads(const Entry& entry, const Port& port, const Parameter& p, Passing& passing);

/// A stranger's n beside its m, of an op with keys: as many keys as n, and queries as m. Whether it is.
bool keys_beside_queries(const Entry& entry, const Port& port, const Parameter& p, Passing& passing);

}  // namespace isomer::lab
