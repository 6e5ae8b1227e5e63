#include "replayed/label_calls.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <tuple>
#include <vector>

namespace isomer::lab {
namespace {

std::mt19937& numbers() {
  static std::mt19937 engine;
  return engine;
}

Value drawn(const std::string& name, const std::vector<std::int64_t>& shape, double size = 1) {
  Value value = tensor_value(name, DType::f32, shape);
  std::normal_distribution<float> normal;
  for (std::int64_t i = 0; i < value.tensor.numel(); ++i)
    static_cast<float*>(value.tensor.data)[i] = static_cast<float>(size) * normal(numbers());
  return value;
}
Value zeros(const std::string& name, const std::vector<std::int64_t>& shape, DType dtype = DType::f32) {
  return tensor_value(name, dtype, shape);
}
Value whole(const std::string& name, const std::vector<std::int64_t>& list) {
  Value value = tensor_value(name, DType::i64, {static_cast<std::int64_t>(list.size())});
  std::copy(list.begin(), list.end(), static_cast<std::int64_t*>(value.tensor.data));
  return value;
}
float* f32(const Value& value) { return static_cast<float*>(value.tensor.data); }

class Calls {
 public:
  explicit Calls(std::string name) : name_(std::move(name)) { numbers().seed(5); }

  /// Records the call; `act` writes the answers into the copies that it gets.
  void add(const std::vector<Value>& arguments, const std::function<void(std::vector<Value>&)>& act,
           const std::vector<bool>& keyword = {}) {
    RecordedCall call{.function = name_, .before = arguments, .keyword = keyword};
    call.keyword.resize(arguments.size());
    for (const Value& each : arguments) call.after.push_back(deep_copy(each));
    act(call.after);
    recording.calls.push_back(std::move(call));
  }

  Recording recording;

 private:
  std::string name_;
};

void softmax_of(Calls& calls, const std::vector<std::tuple<int, int, double>>& cases) {
  for (const auto& [rows, columns, size] : cases)
    calls.add({drawn("x", {rows, columns}, size), zeros("out", {rows, columns}), real_value("scale", 0.125)},
              [rows = rows, columns = columns](std::vector<Value>& v) {
                for (int r = 0; r < rows; ++r) {
                  const float* x = f32(v[0]) + r * columns;
                  double most = -INFINITY, sum = 0;
                  for (int c = 0; c < columns; ++c) most = std::max(most, 0.125 * x[c]);
                  for (int c = 0; c < columns; ++c) sum += std::exp(0.125 * x[c] - most);
                  for (int c = 0; c < columns; ++c)
                    f32(v[1])[r * columns + c] = static_cast<float>(std::exp(0.125 * x[c] - most) / sum);
                }
              });
}

void softmax(Calls& calls) { softmax_of(calls, {{3, 17, 4.0}, {4, 40, 4.0}, {2, 33, 4000.0}}); }

/// Of inputs that overflow no exponential; the label has a maximum all the same.
void mild_softmax(Calls& calls) {
  softmax_of(calls, {{3, 17, 1.0}, {4, 40, 1.0}});
  calls.recording.metadata["facts"] =
      R"({"label": {"file": "1_label_source.py", "subtracts_maximum": true, "functions": []},
      "test": {"file": "3_test_code.py", "functions": [], "observes": true, "draws": 0, "seeds": true}})";
}

void products(Calls& calls, const std::vector<std::tuple<int, int, int>>& sizes) {
  for (const auto& [m, n, k] : sizes)
    calls.add({drawn("a", {m, k}), drawn("b", {k, n}), zeros("c", {m, n})},
              [m = m, n = n, k = k](std::vector<Value>& v) {
                for (int i = 0; i < m * n; ++i) {
                  double sum = 0;
                  for (int j = 0; j < k; ++j)
                    sum += double(f32(v[0])[i / n * k + j]) * f32(v[1])[j * n + i % n];
                  f32(v[2])[i] = static_cast<float>(sum);
                }
              });
}
void matmul(Calls& calls) { products(calls, {{6, 6, 6}, {5, 7, 9}}); }
void matmul_of_wide(Calls& calls) { products(calls, {{5, 7, 9}, {4, 3, 8}}); }

void cumsum(Calls& calls) {
  for (const int columns : {50, 64, 100})
    calls.add({drawn("x", {2, columns}), zeros("out", {2, columns})}, [columns](std::vector<Value>& v) {
      for (int r = 0; r < 2; ++r) {
        double sum = 0;
        for (int c = 0; c < columns; ++c)
          f32(v[1])[r * columns + c] = static_cast<float>(sum += f32(v[0])[r * columns + c]);
      }
    });
}

void rotary(Calls& calls) {
  for (const int width : {8, 12})
    calls.add({drawn("q", {3, width}), drawn("cosine", {3, width / 2}), drawn("sine", {3, width / 2}),
               zeros("out", {3, width})},
              [width](std::vector<Value>& v) {
                const int half = width / 2;
                for (int i = 0; i < 3 * half; ++i) {
                  const int first = i / half * width + i % half, second = first + half;
                  const double c = f32(v[1])[i], s = f32(v[2])[i], a = f32(v[0])[first],
                               b = f32(v[0])[second];
                  f32(v[3])[first] = static_cast<float>(a * c - b * s);
                  f32(v[3])[second] = static_cast<float>(b * c + a * s);
                }
              });
}

void silu_and_mul(Calls& calls) {
  for (const int width : {8, 10})
    calls.add({zeros("out", {4, width}), drawn("x", {4, 2 * width})}, [width](std::vector<Value>& v) {
      for (int i = 0; i < 4 * width; ++i) {
        const double gate = f32(v[1])[i / width * 2 * width + i % width];
        const double up = f32(v[1])[i / width * 2 * width + width + i % width];
        f32(v[0])[i] = static_cast<float>(gate / (1 + std::exp(-gate)) * up);
      }
    });
}

/// The test hides it: 0, 1, 2, …
void embedding(Calls& calls) {
  for (const int count : {6, 9}) {
    std::vector<std::int64_t> ids;
    for (int i = 0; i < count; ++i) ids.push_back(i);
    calls.add({whole("ids", ids), drawn("table", {9, 5}), zeros("out", {count, 5})},
              [count](std::vector<Value>& v) { std::copy_n(f32(v[1]), count * 5, f32(v[2])); });
  }
  calls.recording.metadata["facts"] =
      R"({"label": {"file": "1_label_source.py", "functions": [{"name": "embedding", "line": 1, "returns": 0,
      "parameters": [{"name": "ids", "default": false}, {"name": "table", "default": false}, {"name": "out",
      "default": false}], "writes": ["out"], "constants": [], "indexes": [{"index": "ids", "tensor": "table",
      "dim": 0, "access": "read"}]}]}, "test": {"file": "3_test_code.py", "functions": [], "observes": true,
      "draws": 0, "seeds": true}})";
}

/// Of each row the mean of its first elements, as many as counted; 0 of none.
void row_means(Calls& calls) {
  for (const std::vector<std::int64_t>& counts :
       {std::vector<std::int64_t>{3, 0, 6, 1}, {5, 2, 2, 6}, {0, 4, 0, 1}})
    calls.add(
        {drawn("x", {4, 6}), whole("counts", counts), zeros("out", {4, 1})}, [counts](std::vector<Value>& v) {
          for (std::size_t r = 0; r < 4; ++r) {
            double sum = 0;
            for (std::int64_t c = 0; c < counts[r]; ++c)
              sum += f32(v[0])[static_cast<std::int64_t>(r) * 6 + c];
            f32(v[2])[r] = counts[r] == 0 ? 0.0f : static_cast<float>(sum / static_cast<double>(counts[r]));
          }
        });
}

void lower_triangle(Calls& calls) {
  for (const int diagonal : {0, 2, -1})
    calls.add({drawn("x", {5, 6}), zeros("out", {5, 6}), integer_value("diagonal", diagonal)},
              [diagonal](std::vector<Value>& v) {
                for (int i = 0; i < 30; ++i) f32(v[1])[i] = i % 6 - i / 6 <= diagonal ? f32(v[0])[i] : 0.0f;
              });
}

/// Row i is a mean of the rows of v up to i, weighted by e^(q_i·k_j): of the first q nothing depends.
void causal_mean(Calls& calls) {
  for (const int n : {6, 9})
    calls.add({drawn("q", {n, 3}), drawn("k", {n, 3}), drawn("v", {n, 3}), zeros("out", {n, 3})},
              [n](std::vector<Value>& v) {
                for (int i = 0; i < n; ++i) {
                  double sum = 0, mean[3] = {};
                  for (int j = 0; j <= i; ++j) {
                    double dot = 0;
                    for (int d = 0; d < 3; ++d)
                      dot += static_cast<double>(f32(v[0])[3 * i + d]) *
                             static_cast<double>(f32(v[1])[3 * j + d]);
                    sum += std::exp(dot);
                    for (int d = 0; d < 3; ++d)
                      mean[d] += std::exp(dot) * static_cast<double>(f32(v[2])[3 * j + d]);
                  }
                  for (int d = 0; d < 3; ++d) f32(v[3])[3 * i + d] = static_cast<float>(mean[d] / sum);
                }
              });
}

void running_sums(Calls& calls) {
  for (const auto& [rows, columns] : {std::pair(5, 5), std::pair(4, 7)})
    calls.add({drawn("x", {rows, columns}), zeros("out", {rows, columns})},
              [rows = rows, columns = columns](std::vector<Value>& v) {
                for (int r = 0; r < rows; ++r) {
                  double sum = 0;
                  for (int c = 0; c < columns; ++c)
                    f32(v[1])[r * columns + c] = static_cast<float>(sum += f32(v[0])[r * columns + c]);
                }
              });
}

/// The first of equal ones; there are three values only.
void first_largest(Calls& calls) {
  for (const int rows : {3, 6}) {
    Value x = zeros("x", {rows, 11});
    for (int i = 0; i < rows * 11; ++i) f32(x)[i] = static_cast<float>(numbers()() % 3);
    calls.add({x, zeros("place", {rows}, DType::i64)}, [rows](std::vector<Value>& v) {
      for (int r = 0; r < rows; ++r)
        static_cast<std::int64_t*>(v[1].tensor.data)[r] =
            std::max_element(f32(v[0]) + r * 11, f32(v[0]) + (r + 1) * 11) - (f32(v[0]) + r * 11);
    });
  }
}

/// Compact in every call; the label takes other strides of both: of `rows_only` those of the rows.
void copied(Calls& calls, int strides) {
  for (const int rows : {3, 5}) {
    calls.add({drawn("src", {rows, 6}), zeros("dst", {rows, 6})},
              [rows](std::vector<Value>& v) { std::copy_n(f32(v[0]), rows * 6, f32(v[1])); });
    calls.recording.calls.back().strided = {strides, strides};
  }
}
void copy_rows(Calls& calls) { copied(calls, 2); }
void copy_whole_rows(Calls& calls) { copied(calls, 1); }

/// The last writer of a slot wins; −1 is no slot.
void store_rows(Calls& calls) {
  for (const std::vector<std::int64_t>& slots : {std::vector<std::int64_t>{4, 0, 2}, {1, 3, 1}, {2, -1, 5}})
    calls.add({drawn("key", {3, 4}), whole("slots", slots), zeros("cache", {6, 4})},
              [slots](std::vector<Value>& v) {
                for (std::size_t i = 0; i < 3; ++i)
                  if (slots[i] >= 0) std::copy_n(f32(v[0]) + i * 4, 4, f32(v[2]) + slots[i] * 4);
              });
  calls.recording.metadata["facts"] =
      R"({"label": {"file": "1_label_source.py", "functions": [{"name": "store_rows", "line": 1, "returns": 0,
      "parameters": [{"name": "key", "default": false}, {"name": "slots", "default": false}, {"name": "cache",
      "default": false}], "writes": ["cache"], "constants": [], "indexes": [{"index": "slots", "tensor": "cache",
      "dim": 0, "access": "write"}]}]}, "test": {"file": "3_test_code.py", "functions": [], "observes": true,
      "draws": 0, "seeds": true}})";
}

void square_bias(Calls& calls) {
  for (const int rows : {3, 7})
    calls.add({drawn("x", {rows, 6}), drawn("bias", {6}), zeros("out", {rows, 6})},
              [rows](std::vector<Value>& v) {
                for (int i = 0; i < rows * 6; ++i)
                  f32(v[2])[i] = static_cast<float>(double(f32(v[0])[i]) * f32(v[0])[i] + f32(v[1])[i % 6]);
              });
}

void token_quant(Calls& calls) {
  for (const int width : {40, 25})
    calls.add({drawn("x", {3, width}), zeros("q", {3, width}, DType::i8), zeros("scales", {3, 1})},
              [width](std::vector<Value>& v) {
                for (int r = 0; r < 3; ++r) {
                  float most = 1e-10f;
                  for (int d = 0; d < width; ++d) most = std::max(most, std::fabs(f32(v[0])[r * width + d]));
                  const float scale = most / 127.0f;
                  f32(v[2])[r] = scale;
                  for (int d = 0; d < width; ++d)
                    static_cast<std::int8_t*>(v[1].tensor.data)[r * width + d] =
                        static_cast<std::int8_t>(std::nearbyint(f32(v[0])[r * width + d] / scale));
                }
              });
}

void row_norm(Calls& calls) {
  for (const double size : {1.0, 1e-3})
    calls.add({drawn("x", {4, 20}, size), zeros("out", {4, 20}), real_value("eps", 1e-5)},
              [](std::vector<Value>& v) {
                for (int r = 0; r < 4; ++r) {
                  double sum = 0;
                  for (int d = 0; d < 20; ++d) sum += double(f32(v[0])[r * 20 + d]) * f32(v[0])[r * 20 + d];
                  for (int d = 0; d < 20; ++d)
                    f32(v[1])[r * 20 + d] =
                        static_cast<float>(f32(v[0])[r * 20 + d] / std::sqrt(sum / 20 + 1e-5));
                }
              });
}

void layer_norm(Calls& calls) {
  for (const auto& [width, size] : {std::pair(20, 1.0), std::pair(33, 5.0), std::pair(20, 2e-3)})
    calls.add(
        {drawn("x", {4, width}, size), drawn("weight", {width}), drawn("bias", {width}),
         zeros("out", {4, width})},
        [width = width](std::vector<Value>& v) {
          for (int r = 0; r < 4; ++r) {
            const float* x = f32(v[0]) + r * width;
            double sum = 0, squares = 0;
            for (int d = 0; d < width; ++d) sum += x[d];
            for (int d = 0; d < width; ++d) squares += (x[d] - sum / width) * (x[d] - sum / width);
            for (int d = 0; d < width; ++d)
              f32(v[3])[r * width + d] = static_cast<float>(
                  (x[d] - sum / width) / std::sqrt(squares / width + 1e-6) * f32(v[1])[d] + f32(v[2])[d]);
          }
        });
}

/// Into memory that holds something.
void row_sums(Calls& calls) {
  for (const int width : {40, 25})
    calls.add({drawn("x", {5, width}), drawn("sums", {5})}, [width](std::vector<Value>& v) {
      for (int r = 0; r < 5; ++r) {
        double sum = 0;
        for (int d = 0; d < width; ++d) sum += f32(v[0])[r * width + d];
        f32(v[1])[r] = static_cast<float>(sum);
      }
    });
}

void transpose_copy(Calls& calls) {
  for (const int stride : {1, 2}) {
    Value source = drawn("src", {6, 8 * stride});
    source.tensor.shape[1] = 8;
    source.tensor.strides[1] = stride;
    calls.add({source, zeros("dst", {8, 6})}, [stride](std::vector<Value>& v) {
      for (int i = 0; i < 48; ++i)
        f32(v[1])[i % 8 * 6 + i / 8] = f32(v[0])[i / 8 * 8 * stride + i % 8 * stride];
    });
  }
}

void scale_by(Calls& calls) {
  for (const double alpha : {0.3, -2.0})
    calls.add({drawn("x", {20}), zeros("out", {20}), real_value("alpha", alpha)},
              [alpha](std::vector<Value>& v) {
                for (int i = 0; i < 20; ++i) f32(v[1])[i] = static_cast<float>(alpha) * f32(v[0])[i];
              },
              {false, false, true});
}

void masked(Calls& calls) {
  Value mask = zeros("mask", {20}, DType::u8);
  mask.boolean = true;
  for (int i = 0; i < 20; i += 3) static_cast<std::uint8_t*>(mask.tensor.data)[i] = 1;
  calls.add({drawn("x", {20}), mask, zeros("out", {20})}, [](std::vector<Value>& v) {
    for (int i = 0; i < 20; i += 3) f32(v[2])[i] = f32(v[0])[i];
  });
}

void add_both(Calls& calls) {
  calls.add({drawn("x", {20}), drawn("y", {20}), zeros("sum", {20})}, [](std::vector<Value>& v) {
    for (int i = 0; i < 20; ++i) f32(v[2])[i] = f32(v[0])[i] += f32(v[1])[i];
  });
}

void repeat_heads(Calls& calls) {
  for (const int times : {2, 4})
    calls.add({drawn("x", {3, 7}), zeros("out", {3 * times, 7})}, [times](std::vector<Value>& v) {
      for (int i = 0; i < 3 * times * 7; ++i) f32(v[1])[i] = f32(v[0])[i / 7 / times * 7 + i % 7];
    });
}

/// Each of 6 query heads against its kv head: three side by side share one of two.
void grouped_dot(Calls& calls) {
  for (const int rows : {3, 5})
    calls.add({drawn("q", {rows, 6, 8}), drawn("k", {rows, 2, 8}), zeros("out", {rows, 6})},
              [rows](std::vector<Value>& v) {
                for (int r = 0; r < rows; ++r)
                  for (int h = 0; h < 6; ++h) {
                    double sum = 0;
                    for (int d = 0; d < 8; ++d)
                      sum += double(f32(v[0])[(r * 6 + h) * 8 + d]) * f32(v[1])[(r * 2 + h / 3) * 8 + d];
                    f32(v[2])[r * 6 + h] = static_cast<float>(sum);
                  }
              });
}

void clamp_into(Calls& calls) {
  calls.add({drawn("x", {60}), real_value("low", -0.5), real_value("high", 0.75), zeros("out", {60})},
            [](std::vector<Value>& v) {
              for (int i = 0; i < 60; ++i) f32(v[3])[i] = std::clamp(f32(v[0])[i], -0.5f, 0.75f);
            });
}

}  // namespace

Recording calls_of_label(const std::string& name) {
  static const std::map<std::string, void (*)(Calls&)> labels = {{"scaled_softmax", softmax},
                                                                 {"mild_softmax", mild_softmax},
                                                                 {"matmul", matmul},
                                                                 {"matmul_of_wide", matmul_of_wide},
                                                                 {"cumsum_rows", cumsum},
                                                                 {"rotary", rotary},
                                                                 {"silu_and_mul", silu_and_mul},
                                                                 {"embedding", embedding},
                                                                 {"row_means", row_means},
                                                                 {"store_rows", store_rows},
                                                                 {"copy_rows", copy_rows},
                                                                 {"running_sums", running_sums},
                                                                 {"first_largest", first_largest},
                                                                 {"lower_triangle", lower_triangle},
                                                                 {"causal_mean", causal_mean},
                                                                 {"copy_whole_rows", copy_whole_rows},
                                                                 {"square_bias", square_bias},
                                                                 {"token_quant", token_quant},
                                                                 {"row_norm", row_norm},
                                                                 {"row_sums", row_sums},
                                                                 {"layer_norm", layer_norm},
                                                                 {"transpose_copy", transpose_copy},
                                                                 {"scale_by", scale_by},
                                                                 {"masked", masked},
                                                                 {"add_both", add_both},
                                                                 {"repeat_heads", repeat_heads},
                                                                 {"grouped_dot", grouped_dot},
                                                                 {"clamp_into", clamp_into}};
  Calls calls(name);
  if (const auto known = labels.find(name); known != labels.end()) known->second(calls);
  return std::move(calls.recording);
}

}  // namespace isomer::lab
