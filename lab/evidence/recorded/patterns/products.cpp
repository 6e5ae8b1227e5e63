#include "lab/evidence/recorded/patterns/products.hpp"

#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>

namespace isomer::lab {
namespace {

using Elements = std::vector<double>;

double logistic(double x) { return 1 / (1 + std::exp(-x)); }
double share_below(double x) { return 0.5 * (1 + std::erf(x / std::numbers::sqrt2)); }
double density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi); }

/// A factor of a product: a function of one input's element.
struct Factor {
  const char* said;  ///< with {} for the input
  double (*of)(double);
};
constexpr Factor kFactors[] = {
    {"{}", [](double x) { return x; }},
    {"{}²", [](double x) { return x * x; }},
    {"{}³", [](double x) { return x * x * x; }},
    {"sigmoid({})", logistic},
    {"(1 − sigmoid({}))", [](double x) { return 1 - logistic(x); }},
    {"(1 − 2 sigmoid({}))", [](double x) { return 1 - 2 * logistic(x); }},
    {"sigmoid({0}) (1 − sigmoid({0}))", [](double x) { return logistic(x) * (1 - logistic(x)); }},
    {"{0} sigmoid({0})", [](double x) { return x * logistic(x); }},
    {"{0} (1 − sigmoid({0}))", [](double x) { return x * (1 - logistic(x)); }},
    {"{0} sigmoid(1.702 {0})", [](double x) { return x * logistic(1.702 * x); }},
    {"{0} sigmoid({0}) (1 − sigmoid({0}))", [](double x) { return x * logistic(x) * (1 - logistic(x)); }},
    {"sigmoid({0}) (1 + {0} (1 − sigmoid({0})))",
     [](double x) { return logistic(x) * (1 + x * (1 - logistic(x))); }},
    {"tanh({})", [](double x) { return std::tanh(x); }},
    {"(1 − tanh({})²)", [](double x) { return 1 - std::tanh(x) * std::tanh(x); }},
    {"gelu({}) by erf", [](double x) { return x * share_below(x); }},
    {"gelu({}) by tanh",
     [](double x) {
       return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
     }},
    {"the share of the normal distribution below {}", share_below},
    {"{0} times the normal density at {0}", [](double x) { return x * density(x); }},
    {"exp({})", [](double x) { return std::exp(x); }},
    {"exp(−{})", [](double x) { return std::exp(-x); }},
    {"sin({})", [](double x) { return std::sin(x); }},
    {"cos({})", [](double x) { return std::cos(x); }},
    {"|{}|", [](double x) { return std::fabs(x); }},
    {"max({}, 0)", [](double x) { return std::max(x, 0.0); }},
    {"({} > 0)", [](double x) { return x > 0 ? 1.0 : 0.0; }},
    {"max({}, 0)²", [](double x) { return x > 0 ? x * x : 0.0; }},
    {"1/{}", [](double x) { return 1 / x; }},
    {"1/{}²", [](double x) { return 1 / (x * x); }},
    {"the root of {}", [](double x) { return std::sqrt(x); }},
    {"1/root of {}", [](double x) { return 1 / std::sqrt(x); }},
    {"ln({})", [](double x) { return std::log(x); }},
};
constexpr std::size_t kFactorCount = std::size(kFactors);

/// An input's elements, one for each element of the answer's part that is looked at.
struct Column {
  std::string said;
  Elements elements;
  bool made = false;  ///< of two others: taken as it is
};

/// The answer, or one half of each of its rows: the first or the second, or the even or the odd elements.
struct Part {
  std::string said;  ///< empty: all of it
  std::vector<std::size_t> at;
  std::size_t width = 1;  ///< of a row
  bool paired = false;    ///< every second element
};

std::vector<Part> parts_of(const Tensor& want) {
  const auto count = static_cast<std::size_t>(want.numel());
  const auto width = static_cast<std::size_t>(want.rank > 0 ? want.size(-1) : 1);
  Part all{"", std::vector<std::size_t>(count), width};
  for (std::size_t i = 0; i < count; ++i) all.at[i] = i;
  std::vector<Part> list = {std::move(all)};
  if (width < 4 || width % 2 != 0) return list;
  for (const std::size_t half : {0u, 1u}) {
    Part part{half == 0 ? "in the first half of each row" : "in the second half of each row", {}, width / 2};
    for (std::size_t i = 0; i < count; ++i)
      if (i % width / (width / 2) == half) part.at.push_back(i);
    list.push_back(std::move(part));
  }
  for (const std::size_t odd : {0u, 1u}) {
    Part part{odd == 0 ? "in the even elements of each row" : "in the odd elements of each row",
              {},
              width / 2,
              true};
    for (std::size_t i = odd; i < count; i += 2) part.at.push_back(i);
    list.push_back(std::move(part));
  }
  return list;
}

/// The rows of a table that an index with an element for each of the answer's first dimension chooses.
template <class Add>
void add_chosen(const Replayed& replayed, std::size_t table, const Tensor& want, std::size_t rows,
                const Add& add) {
  const Tensor& tensor = replayed.call->before[table].tensor;
  const Elements all = oracle::elements(tensor);
  const auto width = static_cast<std::size_t>(tensor.size(-1));
  for (std::size_t r = 0; r < replayed.call->before.size(); ++r) {
    const Value& index = replayed.call->before[r];
    if (!index.is_tensor() || is_float(index.tensor.dtype) || index.boolean || index.tensor.empty() ||
        want.rank == 0 || index.tensor.numel() != want.size(0) ||
        rows % static_cast<std::size_t>(want.size(0)) != 0)
      continue;
    const Elements places = oracle::elements(index.tensor);
    const std::size_t own = rows / places.size();
    if (std::any_of(places.begin(), places.end(),
                    [&](double place) { return place < 0 || place >= static_cast<double>(tensor.size(0)); }))
      continue;
    add(fmt::format("{}[{}]", replayed.roles[table].name, replayed.roles[r].name), [&](std::size_t i) {
      return all[static_cast<std::size_t>(places[i / width / own]) * width + i % width];
    });
  }
}

/// Inputs of the part's size, halves of rows that are twice as wide, one for each of the answer's rows or for
/// several of them, and vectors with an element for each column or each row.
std::vector<Column> columns_of(const Replayed& replayed, const Part& part, const Part* other,
                               const Tensor& want, const Elements& got) {
  constexpr std::size_t kMost = 9;
  std::vector<Column> list;
  const std::size_t count = part.at.size(), rows = count / part.width;
  const auto add = [&](std::string said, const auto& index) {
    Column column{std::move(said), Elements(count)};
    for (std::size_t i = 0; i < count; ++i) column.elements[i] = index(i);
    // What is the same everywhere, as memory that is only written, makes no function.
    const bool varies = std::any_of(column.elements.begin(), column.elements.end(),
                                    [&](double each) { return each != column.elements.front(); });
    if (varies && list.size() < kMost) list.push_back(std::move(column));
  };
  // An answer in place of what it is made of: the other half may have been read too late.
  if (other != nullptr) add("the other half of the answer", [&](std::size_t i) { return got[other->at[i]]; });
  for (std::size_t r = 0; r < replayed.call->before.size(); ++r) {
    const Value& value = replayed.call->before[r];
    if (!value.is_tensor() || !is_float(value.tensor.dtype) || value.tensor.rank == 0 || value.tensor.empty())
      continue;
    const std::string& name = replayed.roles[r].name;
    const Elements all = oracle::elements(value.tensor);
    const auto width = static_cast<std::size_t>(value.tensor.size(-1));
    if (all.size() == count) {
      add(name, [&](std::size_t i) { return all[i]; });
    } else if (width == 2 * part.width && rows % (all.size() / width) == 0) {
      const std::size_t own = all.size() / width;
      // Of all heads of a token: its rows are those of the answer's first dimension.
      const bool leading =
          want.rank > value.tensor.rank && own < rows && want.size(0) == static_cast<std::int64_t>(own);
      const auto row_of = [&](std::size_t i) {
        return leading ? i / part.width / (rows / own) : i / part.width % own;
      };
      for (const std::size_t half : {0u, 1u})
        add(fmt::format("{}({})",
                        part.paired ? (half == 0 ? "even" : "odd")
                        : half == 0 ? "first"
                                    : "second",
                        name),
            [&](std::size_t i) {
              const std::size_t column = i % part.width;
              return all[row_of(i) * width + (part.paired ? 2 * column + half : half * part.width + column)];
            });
    } else if (count % all.size() == 0 && all.size() % part.width == 0 && part.width > 1) {
      // Of a row, or of as many rows as the answer's go through in turn.
      add(name, [&](std::size_t i) { return all[i % all.size()]; });
    } else if (all.size() == rows && rows > 1) {
      add(name, [&](std::size_t i) { return all[i / part.width]; });
    }
    if (value.tensor.rank == 2 && width == part.width && all.size() != count)
      add_chosen(replayed, r, want, rows, add);
  }
  return list;
}

/// What two inputs that lie element by element make together.
void add_pairs(std::vector<Column>& list, std::size_t count) {
  constexpr std::size_t kMost = 4;
  const std::size_t single = std::min(list.size(), kMost);
  struct Pair {
    const char* said;
    double (*of)(double, double);
  };
  constexpr Pair kPairs[] = {{"({} − {})", [](double a, double b) { return a - b; }},
                             {"({} + {})", [](double a, double b) { return a + b; }},
                             {"ln({} / {})", [](double a, double b) { return std::log(a / b); }}};
  for (std::size_t a = 0; a < single; ++a)
    for (std::size_t b = a + 1; b < single; ++b)
      for (const Pair& pair : kPairs) {
        Column column{fmt::format(fmt::runtime(pair.said), list[a].said, list[b].said), Elements(count),
                      true};
        for (std::size_t i = 0; i < count; ++i)
          column.elements[i] = pair.of(list[a].elements[i], list[b].elements[i]);
        if (std::all_of(column.elements.begin(), column.elements.end(),
                        [](double each) { return std::isfinite(each); }))
          list.push_back(std::move(column));
      }
}

/// One product: which factor of each column, or none, and the number that stands before it.
struct Product {
  std::vector<int> factors;
  double number = 1;
  double rest = 0;  ///< the largest error, as a share of what it may be
};

/// Numbers that are to be a product of functions of the columns, each within its own slack.
class Fit {
 public:
  Fit(const std::vector<Column>& columns, const Elements& numbers, const Elements& slack)
      : columns_(columns), numbers_(numbers), slack_(slack) {
    // The largest numbers say most, and what is said has to hold for all.
    std::vector<std::size_t> order(numbers.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::fabs(numbers[a]) > std::fabs(numbers[b]);
    });
    const std::size_t step = std::max<std::size_t>(order.size() / 2 / kSamples, 1);
    for (std::size_t i = 0; i < order.size() && samples_.size() < kSamples; i += step)
      samples_.push_back(order[i]);
    values_.resize(columns.size());
    for (std::size_t c = 0; c < columns.size(); ++c)
      for (std::size_t f = 0; f < (columns[c].made ? 1 : kFactorCount); ++f)
        for (const std::size_t i : samples_) values_[c][f].push_back(kFactors[f].of(columns[c].elements[i]));
  }

  /// The products that fit, with the fewest factors, the closest first.
  std::vector<Product> all() {
    constexpr std::size_t kFactorsAtMost = 3;
    for (std::size_t most = 1; most <= std::min(kFactorsAtMost, columns_.size()); ++most) {
      Product product{std::vector<int>(columns_.size(), -1)};
      extend(product, 0, most, Elements(samples_.size(), 1));
      if (!found_.empty()) break;
    }
    std::stable_sort(found_.begin(), found_.end(),
                     [](const Product& a, const Product& b) { return a.rest < b.rest; });
    return found_;
  }

 private:
  static constexpr std::size_t kSamples = 48;

  void extend(Product& product, std::size_t column, std::size_t left, const Elements& so_far) {
    for (; column + left <= columns_.size(); ++column) {
      for (std::size_t f = 0; f < (columns_[column].made ? 1 : kFactorCount); ++f) {
        product.factors[column] = static_cast<int>(f);
        const Elements& values = values_[column][f];
        if (left == 1) {
          if (fits_samples(product, so_far, values) && fits_all(product)) found_.push_back(product);
          continue;
        }
        Elements next(so_far.size());
        for (std::size_t i = 0; i < next.size(); ++i) next[i] = so_far[i] * values[i];
        extend(product, column + 1, left - 1, next);
      }
      product.factors[column] = -1;
    }
  }

  /// As far as the first sample that does not fit: nearly all products end there.
  bool fits_samples(Product& product, const Elements& so_far, const Elements& values) const {
    const double first = so_far[0] * values[0];
    if (!(std::fabs(first) > 0) || !std::isfinite(first)) return false;
    product.number = numbers_[samples_[0]] / first;
    for (std::size_t i = 0; i < samples_.size(); ++i)
      if (!(std::fabs(numbers_[samples_[i]] - product.number * so_far[i] * values[i]) <=
            2 * slack_[samples_[i]]))
        return false;
    return true;
  }

  bool fits_all(Product& product) const {
    Elements value(numbers_.size(), 1);
    for (std::size_t c = 0; c < columns_.size(); ++c)
      if (product.factors[c] >= 0)
        for (std::size_t i = 0; i < value.size(); ++i)
          value[i] *= kFactors[product.factors[c]].of(columns_[c].elements[i]);
    double both = 0, squares = 0;
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (!std::isfinite(value[i])) return false;
      both += value[i] * numbers_[i];
      squares += value[i] * value[i];
    }
    product.number = both / squares;
    product.rest = 0;
    for (std::size_t i = 0; i < value.size(); ++i)
      product.rest = std::max(product.rest, std::fabs(numbers_[i] - product.number * value[i]) / slack_[i]);
    return product.rest <= 1;
  }

  const std::vector<Column>& columns_;
  const Elements& numbers_;
  const Elements& slack_;
  std::vector<std::size_t> samples_;
  std::vector<std::array<Elements, kFactorCount>> values_;
  std::vector<Product> found_;
};

/// "first(xy) · sigmoid(x)": the first half of each row of xy.
std::string in_words(const Product& product, const std::vector<Column>& columns) {
  std::string said;
  if (std::fabs(product.number - 1) > 1e-2) said = fmt::format("{:.4g}", product.number);
  for (std::size_t c = 0; c < columns.size(); ++c)
    if (product.factors[c] >= 0)
      said += (said.empty() ? "" : " · ") +
              fmt::format(fmt::runtime(kFactors[product.factors[c]].said), columns[c].said);
  return said;
}

/// Numbers that formulas have before their products: others are made of the data.
bool is_of_a_formula(double number) {
  constexpr double kNumbers[] = {1, 2, 3, 4, 6, 1.702, std::numbers::log2e, std::numbers::pi};
  const double size = std::fabs(number);
  return std::any_of(std::begin(kNumbers), std::end(kNumbers), [&](double each) {
    return std::fabs(size / each - 1) < 2e-3 || std::fabs(size * each - 1) < 2e-3;
  });
}

/// Enough elements, and enough of them larger than what they may be off by.
bool tell_something(const Elements& numbers, const Elements& slack) {
  constexpr std::size_t kFewest = 16;
  std::size_t telling = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (!std::isfinite(numbers[i])) return false;
    telling += std::fabs(numbers[i]) > 8 * slack[i];
  }
  return telling >= kFewest;
}

Finding other_product(const std::vector<Column>& columns, const Elements& want, const Elements& got,
                      const Elements& slack) {
  if (!tell_something(want, slack) || !tell_something(got, slack)) return {};
  const std::vector<Product> own = Fit(columns, got, slack).all();
  if (own.empty()) return {};
  const std::vector<Product> original = Fit(columns, want, slack).all();
  if (original.empty()) return {};
  // One number more or less is a ratio, and told as that where it is one.
  if (own.front().factors == original.front().factors || !is_of_a_formula(own.front().number) ||
      !is_of_a_formula(original.front().number))
    return {};
  const std::string is = in_words(own.front(), columns), was = in_words(original.front(), columns);
  Finding finding;
  finding.code = Code::approximation;
  finding.evidence = fmt::format("is {}; the original is {} ({} elements)", is, was, want.size());
  finding.fix = fmt::format("compute {}", was);
  return finding;
}

/// What is added where the original subtracts, or is missing, or comes once too often.
Finding other_term(const std::vector<Column>& columns, const Elements& want, const Elements& got,
                   const Elements& slack) {
  Elements error(want.size());
  for (std::size_t i = 0; i < want.size(); ++i) error[i] = got[i] - want[i];
  if (!tell_something(error, slack)) return {};
  for (const Product& product : Fit(columns, error, slack).all()) {
    const double times = std::fabs(product.number);
    const bool once = std::fabs(times - 1) < 0.02, twice = std::fabs(times - 2) < 0.04;
    if (!once && !twice) continue;
    Product plain = product;
    plain.number = 1;
    const std::string term = in_words(plain, columns);
    Finding finding;
    finding.code = Code::missing_term;
    finding.evidence = fmt::format(
        "is the reference {} {} {} ({} elements): {}", product.number < 0 ? "less" : "plus",
        once ? "once" : "twice", term, want.size(),
        twice ? "a term with it has the other sign than in the original"
              : fmt::format("a term with it is {}",
                            product.number < 0 ? "missing, or is subtracted where the original does not"
                                               : "added, or not subtracted as in the original"));
    finding.fix = twice ? fmt::format("give the term {} the original's sign", term)
                        : fmt::format("add or subtract {} as the original does", term);
    return finding;
  }
  return {};
}

}  // namespace

Finding product_of_inputs(const Replayed& replayed, std::size_t output, const std::vector<double>& got,
                          const std::vector<double>& bounds) {
  constexpr std::size_t kMostElements = 1 << 16;
  const Tensor& want = replayed.outputs[output].want;
  const Elements right = oracle::elements(want);
  if (!is_float(want.dtype) || got.size() != right.size() || right.size() > kMostElements) return {};
  const std::vector<Part> parts = parts_of(want);
  for (const Part& part : parts) {
    Elements wanted, given, slack;
    bool wrong = false;
    for (const std::size_t i : part.at) {
      wanted.push_back(right[i]);
      given.push_back(got[i]);
      slack.push_back(2 * bounds[i] + 1e-4 * (std::fabs(right[i]) + std::fabs(got[i])) + 1e-30);
      wrong = wrong || !is_close(right[i], got[i], bounds[i]);
    }
    if (!wrong) continue;
    // The halves lie in pairs behind the whole.
    const auto at = static_cast<std::size_t>(&part - parts.data());
    const Part* other = at == 0 ? nullptr : &parts[at % 2 == 1 ? at + 1 : at - 1];
    std::vector<Column> columns = columns_of(replayed, part, other, want, got);
    if (columns.empty()) continue;
    add_pairs(columns, part.at.size());
    Finding finding = other_product(columns, wanted, given, slack);
    if (finding.code == Code::none) finding = other_term(columns, wanted, given, slack);
    if (finding.code == Code::none) continue;
    finding.argument = replayed.outputs[output].name;
    if (!part.said.empty()) finding.evidence = part.said + " " + finding.evidence;
    if (std::any_of(columns.begin(), columns.end(), [&](const Column& each) {
          return (each.said.starts_with("first(") || each.said.starts_with("second(")) &&
                 finding.evidence.find(each.said) != std::string::npos;
        }))
      finding.evidence += "; first and second are the halves of each row";
    else if (part.paired)
      finding.evidence += "; even and odd are the elements of each row by their index";
    return finding;
  }
  return {};
}

}  // namespace isomer::lab
