#include "lab/evidence/recorded/patterns/row_numbers.hpp"

#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <numeric>

namespace isomer::lab {
namespace {

using Elements = std::vector<double>;

double count(const Elements& row) { return static_cast<double>(row.size()); }
double sum(const Elements& row) { return std::accumulate(row.begin(), row.end(), 0.0); }
double mean(const Elements& row) { return sum(row) / count(row); }
double squares(const Elements& row) { return std::inner_product(row.begin(), row.end(), row.begin(), 0.0); }
double magnitudes(const Elements& row) {
  return std::accumulate(row.begin(), row.end(), 0.0, [](double a, double x) { return a + std::fabs(x); });
}
double spread(const Elements& row) {
  const double middle = mean(row);
  return std::accumulate(row.begin(), row.end(), 0.0,
                         [=](double a, double x) { return a + (x - middle) * (x - middle); });
}
double largest(const Elements& row) { return *std::max_element(row.begin(), row.end()); }
double smallest(const Elements& row) { return *std::min_element(row.begin(), row.end()); }
double largest_magnitude(const Elements& row) { return std::max(largest(row), -smallest(row)); }
double exponentials(const Elements& row) {  // over that of the largest element
  const double most = largest(row);
  return std::accumulate(row.begin(), row.end(), 0.0,
                         [=](double a, double x) { return a + std::exp(x - most); });
}

constexpr const char* kLogSum = "the logarithm of the sum of exponentials";
constexpr const char* kBinaryLog = "the logarithm of the sum of exponentials to base 2";
constexpr const char* kMixedLog =
    "the maximum and, of the exponentials without it, the logarithm of the sum to base 2";

Elements front(const Elements& row, std::size_t length) {
  if (length == 0 || length >= row.size()) return {};
  return {row.begin(), row.begin() + static_cast<std::ptrdiff_t>(length)};
}

/// Rows along these dimensions; the others count the rows, in their order.
RowsOf taken_apart(const Tensor& tensor, const Elements& elements, const std::vector<int>& along,
                   std::string said) {
  RowsOf of;
  of.said = std::move(said);
  const auto is_along = [&](int d) { return std::find(along.begin(), along.end(), d) != along.end(); };
  std::vector<std::int64_t> own(static_cast<std::size_t>(tensor.rank), 0);  // what an index adds to the row
  std::int64_t rows = 1, width = 1;
  for (int d = tensor.rank - 1; d >= 0; --d) {
    std::int64_t& size = is_along(d) ? width : rows;
    own[static_cast<std::size_t>(d)] = size;
    size *= tensor.size(d);
  }
  of.rows.assign(static_cast<std::size_t>(rows), Elements(static_cast<std::size_t>(width)));
  of.order.resize(elements.size());
  for (std::size_t flat = 0; flat < elements.size(); ++flat) {
    auto rest = static_cast<std::int64_t>(flat);
    std::int64_t row = 0, at = 0;
    for (int d = tensor.rank - 1; d >= 0; --d) {
      (is_along(d) ? at : row) += rest % tensor.size(d) * own[static_cast<std::size_t>(d)];
      rest /= tensor.size(d);
    }
    of.rows[static_cast<std::size_t>(row)][static_cast<std::size_t>(at)] = elements[flat];
    of.order[static_cast<std::size_t>(row * width + at)] = flat;
  }
  return of;
}

}  // namespace

const std::vector<RowNumber>& row_numbers() {
  static const std::vector<RowNumber> numbers = {
      {"the mean", mean},
      {"the sum", sum},
      {"the magnitude of the sum", [](const Elements& row) { return std::fabs(sum(row)); }},
      {"the largest element", largest},
      {"the smallest element", smallest},
      {"the largest magnitude", largest_magnitude},
      {"the mean of the magnitudes", [](const Elements& row) { return magnitudes(row) / count(row); }},
      {"the sum of the magnitudes", magnitudes},
      {"the mean of the squares", [](const Elements& row) { return squares(row) / count(row); }},
      {"the sum of the squares", squares},
      {"the root of the mean of the squares",
       [](const Elements& row) { return std::sqrt(squares(row) / count(row)); }},
      {"the root of the sum of the squares", [](const Elements& row) { return std::sqrt(squares(row)); }},
      {"the root of the mean of the magnitudes",
       [](const Elements& row) { return std::sqrt(magnitudes(row) / count(row)); }},
      {"the root of the sum of the magnitudes",
       [](const Elements& row) { return std::sqrt(magnitudes(row)); }},
      {"the root of the mean", [](const Elements& row) { return std::sqrt(mean(row)); }},
      {"the root of the sum", [](const Elements& row) { return std::sqrt(sum(row)); }},
      {"the variance", [](const Elements& row) { return spread(row) / count(row); }},
      {"the variance with n − 1", [](const Elements& row) { return spread(row) / (count(row) - 1); }},
      {"the standard deviation", [](const Elements& row) { return std::sqrt(spread(row) / count(row)); }},
      {"the standard deviation with n − 1",
       [](const Elements& row) { return std::sqrt(spread(row) / (count(row) - 1)); }},
      {"the sum of exponentials",
       [](const Elements& row) { return exponentials(row) * std::exp(largest(row)); }},
      {"the sum of the exponentials of the differences from the maximum", exponentials},
      {kLogSum, [](const Elements& row) { return largest(row) + std::log(exponentials(row)); }},
      {kBinaryLog,
       [](const Elements& row) {
         return (largest(row) + std::log(exponentials(row))) * std::numbers::log2e;
       }},
      {kMixedLog, [](const Elements& row) { return largest(row) + std::log2(exponentials(row)); }},
      {"the place of the first largest element",
       [](const Elements& row) {
         return static_cast<double>(std::max_element(row.begin(), row.end()) - row.begin());
       }},
      {"the place of the first smallest element",
       [](const Elements& row) {
         return static_cast<double>(std::min_element(row.begin(), row.end()) - row.begin());
       }},
      {"nothing", [](const Elements&) { return 0.0; }},
  };
  return numbers;
}

bool is_other_base(const RowNumber& a, const RowNumber& b) {
  const auto is_log = [](const RowNumber& number) {
    return std::strcmp(number.said, kLogSum) == 0 || std::strcmp(number.said, kBinaryLog) == 0 ||
           std::strcmp(number.said, kMixedLog) == 0;
  };
  return is_log(a) && is_log(b);
}

const std::vector<RowPart>& row_parts() {
  static const std::vector<RowPart> parts = [] {
    std::vector<RowPart> list = {
        {"all but the last element", [](const Elements& row) { return front(row, row.size() - 1); }},
        {kWithoutFirst,
         [](const Elements& row) {
           return row.size() < 2 ? Elements() : Elements(row.begin() + 1, row.end());
         }},
    };
    for (const std::size_t tile : {2, 4, 8, 16, 32, 64, 128, 256, 512, 1024})
      list.push_back({fmt::format("the whole blocks of {} elements", tile),
                      [tile](const Elements& row) { return front(row, row.size() / tile * tile); }});
    for (const std::size_t first : {16, 32, 64, 128, 256, 512, 1024})
      list.push_back({fmt::format("the first {} elements", first),
                      [first](const Elements& row) { return front(row, first); }});
    return list;
  }();
  return parts;
}

std::vector<RowsOf> groups_of(const Tensor& tensor) {
  const Elements elements = oracle::elements(tensor);
  const int rank = tensor.rank;
  std::vector<RowsOf> list;
  for (const int behind : {1, 2, 3})
    list.push_back(rank < behind ? RowsOf()
                                 : taken_apart(tensor, elements, {rank - behind},
                                               behind == 1 ? "each row"
                                               : rank == 2 ? "each column"
                                                           : fmt::format("each line along dimension {}",
                                                                         rank - behind)));
  for (const int last : {2, 3}) {
    std::vector<int> along(static_cast<std::size_t>(last));
    std::iota(along.begin(), along.end(), rank - last);
    list.push_back(rank <= last ? RowsOf()
                                : taken_apart(tensor, elements, along,
                                              fmt::format("each of the last {} dimensions", last)));
  }
  std::vector<int> all(static_cast<std::size_t>(rank));
  std::iota(all.begin(), all.end(), 0);
  list.push_back(rank < 2 ? RowsOf() : taken_apart(tensor, elements, all, "the whole"));
  return list;
}

}  // namespace isomer::lab
