#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

/// Who includes whom, and what of it breaks the order of the floors.
namespace isomer::house {

/// The files that each file includes, both by their paths from the root of the tree. Only files of the tree.
using Includes = std::map<std::string, std::set<std::string>>;

/// Of every C, C++ and device source below those folders of `root`.
Includes read_includes(const std::string& root, const std::vector<std::string>& folders);

/// One sentence for each include of a file of a higher floor, or of a room that is none of the file's
/// business.
std::vector<std::string> wrong_includes(const Includes& includes);

/// One sentence for each circle: "a includes b includes a".
std::vector<std::string> circles(const Includes& includes);

}  // namespace isomer::house
