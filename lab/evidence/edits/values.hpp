#pragma once

#include "lab/evidence/edits/places.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace isomer::lab {

/// A whole value of a statement: what is assigned, returned or an index of what is assigned to.
struct SourceValue {
  enum class Kind { real, whole, memory, other } kind = Kind::other;
  std::size_t statement = 0;        ///< its first token
  std::size_t first = 0, last = 0;  ///< tokens of the value
  std::string target;               ///< the type, and for an element the memory's, of what it becomes
  std::string name;                 ///< what it becomes; empty where it is returned or an index
  bool begins_loop = false;         ///< a first value in the head of a loop
};

/// The type of an element of memory with that type, or of an array.
std::string element_of(const std::string& memory);

/// Every value in which expressions may be exchanged, in their order.
std::vector<SourceValue> values_of(const EditPlaces& places);

/// Values that are another text with an edit. The whole of one is written anew for each, so that any part of
/// it may change.
class ChangedValues {
 public:
  explicit ChangedValues(EditPlaces& places) : places_(places) {}
  /// Takes an edit down that changes those parts of one value. Of more than fit those of the least ranks are
  /// written.
  void add(const SourceValue& value, std::vector<EditPlaces::Part> parts, Code code, int rank);
  /// The same of several values at once.
  void add(const std::vector<std::pair<SourceValue, std::vector<EditPlaces::Part>>>& values, Code code,
           int rank);
  /// The same of two values, each of which takes the text of the other.
  void exchange(const SourceValue& one, const SourceValue& other, Code code, int rank);
  /// Writes all of them into the compiled source.
  void write();

 private:
  using Parts = std::vector<std::pair<SourceValue, std::vector<EditPlaces::Part>>>;
  struct Wanted {
    Parts values;
    Code code;
    int rank;
  };
  void write(const Wanted& wanted);

  EditPlaces& places_;
  std::vector<Wanted> wanted_;
  /// By the value's first and last token: numbers of edits, and what the value is with them.
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::pair<int, std::string>>> texts_;
};

}  // namespace isomer::lab
