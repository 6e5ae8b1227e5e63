#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace isomer::lab {

/// Reads the grammar of the Itanium C++ ABI, section 5.1, into nodes that share what the name abbreviates.
/// A production that fails gives kNone, and so does everything above it.
class ItaniumParser {
 public:
  using Index = std::uint32_t;
  static constexpr Index kNone = ~Index{0};

  explicit ItaniumParser(std::string_view text) : rest_(text) {}

  /// <encoding>. What follows the name of a template is left unread where `whole` is false; no parameters are
  /// printed where `bare` is true.
  Index encoding(bool whole, bool bare = false);
  /// Whether all was read, or only a compiler's suffix (".kd", ".intern.0") is left.
  bool at_end() const { return rest_.empty() || rest_.front() == '.'; }
  /// The text of a node. Empty where it would be longer than `limit`.
  std::string print(Index index, std::size_t limit);

 private:
  enum class Kind : std::uint8_t {
    text,       ///< `text`
    join,       ///< the children one after another
    scope,      ///< children[0]::children[1]; an empty first one is no scope
    list,       ///< children, comma-separated
    pack,       ///< as a list, dissolved into the list around it
    args,       ///< children[0]<children[1]>
    pointer,    ///< children[0] and the sign in `text`
    qualified,  ///< children[0] and the qualifiers in `text`
    function,   ///< children[0] returned, children[1] a list, `text` behind it
    array,      ///< children[0] elements, children[1] the bound
    member,     ///< children[1] in the class children[0]
  };
  struct Node {
    Kind kind;
    std::string_view text;
    std::vector<Index> children;
  };

  Index add(Kind kind, std::string_view text, std::vector<Index> children = {});
  Index text(std::string_view text) { return add(Kind::text, text); }
  Index own(std::string text);
  Index remember(Index index);

  bool eat(std::string_view word);
  char peek(std::size_t ahead = 0) const { return ahead < rest_.size() ? rest_[ahead] : '\0'; }
  bool number(std::string_view& digits);
  bool sequence_id(std::uint64_t& value);
  void discriminator();

  Index name(bool& templated, std::string_view& behind);
  Index nested(bool& templated, std::string_view& behind);
  Index local(bool& templated, std::string_view& behind);
  Index last_component(Index index, bool destructor);
  Index unqualified();
  Index source_name();
  Index operator_name();
  Index unnamed_type();
  Index tags(Index base);
  Index substitution();
  Index template_parameter();
  Index template_args(bool tag);
  Index template_arg();
  Index literal();
  Index type();
  Index type_named_d();
  Index function_type(std::string_view qualifiers);
  Index parameters(bool in_braces);
  std::string_view qualifiers();
  Index expression();
  Index expressions_until_e();
  Index scope_resolution();

  struct Printer;
  struct Depth;

  std::string_view rest_;
  std::vector<Node> nodes_;
  std::vector<Index> substitutions_, template_parameters_;
  std::deque<std::string> owned_;
  int depth_ = 0, lambda_ = 0;
};

}  // namespace isomer::lab
