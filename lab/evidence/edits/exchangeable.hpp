#pragma once

#include "lab/findings/code.hpp"

#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

/// A source in which many expressions can be exchanged for others, one at a time, by a number that each call
/// chooses: it is compiled once, and hundreds of edits of it are tried.
namespace isomer::lab {

/// A line without its indentation, as it is and as it becomes.
struct EditedLine {
  int line = 0;
  std::string was, becomes;
};

/// One edit, of one line or of several.
struct Exchange {
  int number = 0;                   ///< of the edit
  std::array<int, 4> numbers = {};  ///< CallSettings::edits: of the places that it changes
  int line = 0;
  Code code = Code::wrong_expression;  ///< what a source is told to have that this edit makes right
  int rank = 0;                        ///< the likeliest mistakes first
  std::string was, becomes;            ///< the first line, as in EditedLine
  std::vector<EditedLine> also;        ///< the lines behind it that become others with it
  bool chooses = false;                ///< another way is gone with it, and nothing of this one is another
};

struct Exchangeable {
  std::string source;  ///< as it is compiled: its lines have the numbers that they had
  std::vector<Exchange> edits;
  std::map<int, std::vector<std::pair<int, std::string>>>
      values;  ///< by an edit's number, as in RefusedEdits
};

/// What of a line is left as it is, since it does not compile otherwise: each leaves what stands before it
/// alone, too.
enum class LeftAlone { rewrites, statements, all };

/// What does not compile: whole lines, and values that are written anew, each by its line and its text.
struct RefusedEdits {
  std::map<int, LeftAlone> lines = {};
  std::set<std::pair<int, std::string>> values = {};
  bool any() const { return !lines.empty() || !values.empty(); }
};

/// What is complained of in a value that is written anew is told of a line that no source has: this one and
/// the edit's number.
inline constexpr int kLineOfValues = 1'000'000;

/// What a label has that a port may lack, as C++ writes it.
struct OfLabel {
  std::vector<std::string> bounds = {"0.0f"};        ///< numbers between which a value may have to be
  std::vector<std::string> functions = {};           ///< of one number: "expf"
  std::vector<std::string> numbers = {};             ///< all that it writes, without signs
  std::vector<std::vector<std::string>> lists = {};  ///< of more than one number, in brackets
};

/// The source with every edit that is worth trying, but for those that are refused.
Exchangeable exchangeable(const std::string& source, const RefusedEdits& refused = {},
                          const OfLabel& label = {});

/// The numbers and lists that a label has, those that it bounds values by, and the functions that it takes.
OfLabel of_label(const std::string& label);

}  // namespace isomer::lab
