#pragma once

#include <string>
#include <vector>

namespace isomer::lab {

/// One thing that Isomer can use on this machine.
struct Examined {
  std::string group;  ///< "CPU", "NVIDIA", "compilers and tools", …
  std::string name;
  bool present = false;
  std::string detail;  ///< what was found
  std::string remedy;  ///< how to get it, where it is not there and can be had
};

/// Looks at the machine; puts nothing onto a device and writes nothing.
std::vector<Examined> examine();
std::string doctor_text(const std::vector<Examined>& findings);
std::string doctor_json(const std::vector<Examined>& findings);

}  // namespace isomer::lab
