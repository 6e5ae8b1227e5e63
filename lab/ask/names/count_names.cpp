#include "lab/ask/names/count_names.hpp"

#include <algorithm>

namespace isomer::lab {

const std::vector<std::string>& count_names() {
  static const std::vector<std::string> names = {
      "n",         "numel", "size",      "total",    "n_elements", "num_elements",   "nelements",
      "count",     "len",   "length",    "elements", "num",        "total_elements", "elem_cnt",
      "num_elems", "nelem", "elem_count"};
  return names;
}

bool counts_everything(const std::string& name) {
  static const std::vector<std::string> lengths = {"n", "size", "count", "len", "length", "num"};
  return std::find(lengths.begin(), lengths.end(), name) == lengths.end();
}

const std::vector<std::string>& rank_names() {
  static const std::vector<std::string> names = {"ndim", "rank", "n_dims", "nd", "ndims", "num_dims"};
  return names;
}

}  // namespace isomer::lab
