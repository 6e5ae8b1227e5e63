#include "lab/evidence/variations/whole_vectors.hpp"

#include "lab/ask/adapting/aligned_sizes.hpp"

namespace isomer::lab {

bool take_whole_vectors(const Candidate& candidate, const Questions& questions, Called& called,
                        Numbers& numbers) {
  const Seen* first = nullptr;
  std::string line;
  for (std::size_t i = 0; i < numbers.answers.size() && first == nullptr; ++i)
    if ((first = unaligned(numbers.answers[i])) != nullptr) line = numbers.answered[i]->line;
  if (first == nullptr || !questions.recorded.empty()) return false;
  const std::shared_ptr<Simpler> aligned = of_aligned_sizes(candidate, called, questions.settings);
  if (aligned == nullptr) return false;
  take_aligned_sizes(candidate, questions.settings, aligned, *first, line, called);
  numbers = explain_numbers(candidate, called.form, *called.port, questions);
  return true;
}

}  // namespace isomer::lab
