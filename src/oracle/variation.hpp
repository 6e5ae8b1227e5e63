#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace isomer::oracle {

/// One way in which an op can be got wrong, as a switch on its reference.
struct Variation {
  std::string name;     ///< "rounding=nearest": what it changes, and to what
  std::string meaning;  ///< one line
};

/// The switches that are on. None: the reference is the op.
class Variations {
 public:
  Variations() = default;
  explicit Variations(std::vector<std::string> names) : names_(std::move(names)) {}
  bool has(std::string_view name) const {
    // References ask for each element: most names differ in length or in their last character already.
    for (const std::string& each : names_)
      if (each.size() == name.size() && each.back() == name.back() && each == name) return true;
    return false;
  }
  /// What follows `prefix` in the name that begins with it: of a variation whose constant was measured. Empty
  /// where there is none.
  std::string_view after(std::string_view prefix) const {
    for (const std::string& each : names_)
      if (each.starts_with(prefix)) return std::string_view(each).substr(prefix.size());
    return {};
  }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
};

}  // namespace isomer::oracle
