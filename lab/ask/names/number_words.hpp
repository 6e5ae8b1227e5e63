#pragma once

#include "lab/ask/port.hpp"
#include "lab/ask/trial.hpp"

#include <string>
#include <vector>

namespace isomer::lab {

/// "head_dim_padded" or "aligned_k": the size that is rounded up to what the memory needs, which asks for
/// none here. The name itself where it says nothing of that.
std::string without_padding(const std::string& name);

/// "num_experts", "max_m", or the letters G and R of the op's shapes: how many experts a number says that
/// there are, or how many rows each has room for. These names mean nothing else, whoever calls the entry.
bool number_of_experts(const Port& port, const Parameter& p, Passing& passing);

/// A stranger's number by the words of its name: weight_height are rows, weight_block_size_y is the size of a
/// block, whatever stands around them.
bool number_by_words(const Entry& entry, const Port& port, const Parameter& p,
                     const std::vector<int>& role_at, Passing& passing);

/// Whether a number's name says that it is a step through the caches of keys and values.
bool is_stride_of_cache(const Port& port, const Parameter& p);

/// "kv_stride", "cache_stride": from one key to the next in elements, or how many keys a cache has room for.
bool is_step_of_keys(const Port& port, const Parameter& p);

/// Whether a number's name says how many keys a query sees at most: it is passed more than there are.
bool is_window(const Parameter& p);

/// Whether a number's name says that it sizes tiles or blocks of threads, which is left to whoever calls it.
bool is_tile_name(const std::string& name);
/// Whether it says that it is a number of blocks, or of threads in one, of a launch.
bool sizes_launches(const std::string& name);
/// Whether it says that it is a code of a type, a mode, a device or a flag.
bool is_code_name(const std::string& name);

/// Whether a number of the entry says where its one query stands among the keys, as "pos" does.
bool takes_a_position(const Entry& entry);
/// Whether its numbers say how many keys there are, and none how many queries: of one query, as kernels have
/// it that decode.
bool counts_keys_alone(const Entry& entry);
/// Whether a number of the entry says how many heads of queries share one of keys, as "kv_mul" does.
bool shares_heads(const Entry& entry);

}  // namespace isomer::lab
