// Headers that a vendor's own headers bring along, as hipcc's do <string>: which of them a source takes for
// granted. They are slow to compile, so that only such a source gets them.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "source/rewrite.hpp"

namespace isomer::emulator::source {
namespace {

struct Header {
  std::string_view name, marker;  ///< of a file that is read where the header is
  std::array<std::string_view, 6> words;
};

constexpr Header kHeaders[] = {
    {"string", "/bits/basic_string.h\"", {"string", "to_string", "stoi", "stof", "getline", "basic_string"}},
    {"vector", "/bits/stl_vector.h\"", {"vector"}},
    {"array", "/array\"", {"array"}},
    {"algorithm",
     "/bits/stl_algo.h\"",
     {"sort", "stable_sort", "max_element", "min_element", "generate", "transform"}},
    {"numeric", "/numeric\"", {"accumulate", "iota", "inner_product", "partial_sum"}},
    {"chrono", "/chrono\"", {"chrono"}},
    {"stdexcept",
     "/stdexcept\"",
     {"runtime_error", "logic_error", "invalid_argument", "out_of_range", "domain_error", "overflow_error"}},
};

}  // namespace

std::vector<std::string> missing_headers(const Text& text, std::string_view preprocessed) {
  const auto& t = text.tokens;
  bool whole = false;  // using namespace std
  for (std::size_t i = 0; i + 2 < t.size() && !whole; ++i)
    whole = t[i].is("using") && t[i + 1].is("namespace") && t[i + 2].is("std");
  std::vector<std::string> missing;
  for (const Header& header : kHeaders) {
    if (preprocessed.find(header.marker) != std::string_view::npos) continue;
    for (std::size_t i = 0; i < t.size(); ++i) {
      const bool qualified = i >= 2 && t[i - 1].is("::") && t[i - 2].is("std");
      if (t[i].kind != Token::name || (!qualified && !whole)) continue;
      if (std::find(header.words.begin(), header.words.end(), t[i].text) == header.words.end()) continue;
      missing.emplace_back(header.name);
      break;
    }
  }
  // CUDA's curand_kernel.h brings the host's generators along; here they have a header that opens the memory
  // to the host.
  if (preprocessed.find("/isomer_emulator/random.h\"") != std::string_view::npos &&
      preprocessed.find("/isomer_emulator/random_host.h\"") == std::string_view::npos &&
      std::any_of(t.begin(), t.end(), [](const Token& each) { return each.is("curandGenerator_t"); }))
    missing.emplace_back("curand.h");
  return missing;
}

}  // namespace isomer::emulator::source
