#include "lab/candidate/torch_of_python.hpp"

#include "lab/record/python_child.hpp"

#include <string>

namespace isomer::lab {

std::filesystem::path torch_of_python() {
  constexpr double kSeconds = 60;  // of a Python that is on a slow disk
  static const std::string folder = [] {
    // Not imported, which takes seconds.
    const ChildEnd end = run_child({"python3", "-c",
                                    "import importlib.util as u; s = u.find_spec('torch'); "
                                    "print('torch:' + (s.submodule_search_locations[0] if s else ''))"},
                                   kSeconds);
    const std::size_t at = end.output.rfind("torch:");
    if (!end.started || end.timed_out || end.exit_status != 0 || at == std::string::npos)
      return std::string();
    return end.output.substr(at + 6, end.output.find('\n', at) - at - 6);
  }();
  return folder;
}

}  // namespace isomer::lab
