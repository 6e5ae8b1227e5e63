#pragma once

#include <isomer/dtype.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace isomer::lab {

/// How sources call the types of elements, in lower case: f16 is half, __half, float16, fp16 and f16. Their
/// own name stands among them.
const std::map<DType, std::vector<std::string>>& dtype_spellings();

/// How sources call the type that a label's word says, as `float16`, `torch.float64` or Triton's
/// `triton.language.float8e5` (E5M2); empty: it says none.
std::vector<std::string> spellings_of_type(std::string_view word);

/// A function's name as what it does, and the type of the elements that it says it does it for.
struct DtypeName {
  std::string stem;           ///< in lower case, without underscores and the word of the type
  DType dtype = DType::none;  ///< none where no word says one
};

/// `argmax_f32` and `launch_half_argmax` are argmax of f32 and launchargmax of f16. A name with words of two
/// types, as a cast has them, says none.
DtypeName dtype_name(std::string_view function);

}  // namespace isomer::lab
