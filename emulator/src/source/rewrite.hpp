// From the preprocessed text of a CUDA or HIP source to C++ that the host compiler takes: specifiers go,
// launches and shared variables are spelled out, kernels and device variables register themselves. Lines keep
// their numbers. What cannot run here is refused by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "source/outline.hpp"
#include "source/tokens.hpp"

namespace isomer::emulator::source {

struct Rewritten {
  std::string text;
  std::vector<std::string> kernels;  ///< names as they register, templates without arguments
  bool has_main = false;
  bool uses_ptx = false;                     ///< isomer_emulator/ptx.h has to stand in front
  bool uses_texture_references = false;      ///< isomer_emulator/texture_reference.h has to stand in front
  bool uses_special_functions = false;       ///< those of C++17, which isomer_emulator/cmath.h leaves out
  std::vector<std::string> missing_headers;  ///< of the library or the emulator, which have to stand in front
};

/// `instantiate` names template kernels with their arguments (`scale<float, 4>`) that have to be launchable
/// by name; `with_entries` makes host functions and kernels callable from outside by their signatures. Throws
/// Error for what is refused.
Rewritten rewrite(std::string_view preprocessed, const std::vector<std::string>& instantiate,
                  bool with_entries = false);

/// What stands behind a source that its vendor's compiler takes as it is, so that its functions and kernels
/// can be called by their signatures (`text`), and what it has.
Rewritten offered(std::string_view preprocessed, const std::vector<std::string>& instantiate);

/// Replacements in a text, applied all at once.
class Edits {
 public:
  void replace(std::size_t offset, std::size_t length, std::string text);
  void remove(const Token& t) { replace(t.offset, t.text.size(), ""); }
  void insert(std::size_t offset, std::string text) { replace(offset, 0, std::move(text)); }
  std::string apply(std::string_view original) const;

 private:
  struct Edit {
    std::size_t offset, length;
    std::string text;
  };
  std::vector<Edit> edits_;
};

/// What the parts of the rewriter share.
struct Source {
  std::string_view original;
  Text text;
  Outline outline;
  Edits edits;
  bool uses_ptx = false;                       ///< some of it became C++, which needs ptx.h
  std::string tail;                            ///< what stands behind the source
  std::string place(std::size_t token) const;  ///< "file:line"
  std::string written(std::size_t first,
                      std::size_t last) const;  ///< tokens, `last` excluded, one blank between
  std::string lines(std::size_t first, std::size_t last) const;  ///< the line breaks between two tokens
};

void rewrite_launches(Source& source);
void rewrite_kernel_casts(Source& source);
void rewrite_shared(Source& source);
void rewrite_dependent_templates(Source& source);
void rewrite_specifiers(Source& source);
/// Whether there are any, so that isomer_emulator/ext_vector.h has to stand in front.
bool rewrite_ext_vectors(Source& source);
/// Where there are such vectors.
void rewrite_swizzles(Source& source);
void rewrite_conversions(Source& source);
void watch_local_values(Source& source);
void mark_early_returns(Source& source);
void leave_host_code_unwatched(Source& source);
void guard_variables(Source& source);
/// What tells the watch which lines wait for other threads.
std::string waits(const Source& source);
/// Turns the asm statement that begins at this token into C++; the instruction that cannot be, else "".
std::string rewrite_assembly(Source& source, std::size_t token, bool gcn);
void refuse_what_cannot_run(Source& source);
bool names_special_function(const Text& text);
bool names_texture_reference(const Text& text);
std::vector<std::string> missing_headers(const Text& text, std::string_view preprocessed);
std::string registrations(const Source& source, const std::vector<std::string>& instantiate,
                          std::vector<std::string>& kernels);
/// `flatten`: structs by value are taken as their fields.
std::string entries(const Source& source, const std::vector<std::string>& instantiate, bool flatten);

/// The address of a function of the source, as an expression for the end of the text or a launch of it.
std::string address_of(const Source& source, const Function& function);

/// A function that takes the fields of the structs that another takes by value, and calls it. Empty where
/// that takes none, or their fields are not plain.
struct Flattened {
  std::string definition, address;
  std::string parameters;  ///< type, tab, name, tab, line end, of each
};
Flattened flattened(const Source& source, const Function& function, int serial);

std::string quoted(std::string_view text);  ///< as a C string literal

}  // namespace isomer::emulator::source
