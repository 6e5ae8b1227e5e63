#pragma once

#include "lab/batch/totals.hpp"

#include <string>
#include <vector>

namespace isomer::lab {

/// Totals of a batch: verdicts, causes, ops, authors with pass@k.
std::string totals_table(const Totals& totals);
/// `{"version":1,"summary":{…},"seconds","causes":{},"ops":{},"authors":{…,"pass_at":{}}}`
std::string totals_json(const Totals& totals);
std::string totals_markdown(const Totals& totals);
/// One page that needs nothing else: the totals, and a table of all candidates with filters; thousands of
/// rows are drawn as far as they are seen.
std::string batch_html(const std::vector<Judged>& judged, const Totals& totals);

std::string comparison_table(const Comparison& comparison);
/// `{"version":1,"better":[{"folder","candidate","before","after","gone","come"}],"worse":[],"other":[],"same",…}`
std::string comparison_json(const Comparison& comparison);

}  // namespace isomer::lab
