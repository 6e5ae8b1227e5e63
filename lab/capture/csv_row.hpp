#pragma once

#include <istream>
#include <optional>
#include <string>
#include <vector>

namespace isomer::lab {

using CsvRow = std::vector<std::string>;

/// One row of a CSV, quotes and line breaks within them as RFC 4180 has them. False at the end. Of a field no
/// more than 1 MiB is kept, of a row no more than 65536 fields.
bool next_row(std::istream& in, CsvRow& row);
/// "1,234.5" too; nothing of a text that is no number.
std::optional<double> number_in(const std::string& text);

}  // namespace isomer::lab
