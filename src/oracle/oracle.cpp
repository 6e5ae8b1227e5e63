#include "oracle/oracle.hpp"

#include "core/codec.hpp"
#include "core/sentence.hpp"

namespace isomer::oracle {

const Oracle* find_oracle(std::string_view op) {
  for (const Oracle& oracle : oracles())
    if (oracle.contract->op == op) return &oracle;
  return nullptr;
}

Case parse_case(std::string_view line) {
  const std::string_view op = op_of(line);
  const Oracle* oracle = find_oracle(op);
  if (oracle == nullptr) {
    std::vector<std::string> names;
    for (const Oracle& each : oracles()) names.push_back(each.contract->op);
    core::fail(ErrorCode::bad_argument, "case: expected an op first (", core::either(names), "), got '", op,
               "'");
  }
  const auto after = static_cast<std::size_t>(op.data() - line.data()) + op.size();
  return Case::parse(*oracle->schema, line.substr(after));
}

void run_reference(const Oracle& oracle, const core::Call& call, const Variations& variations) {
  Expected expected(call);
  oracle.reference(call, variations, expected);
  write_values(call, expected);
}

void write_values(const core::Call& call, const Expected& expected) {
  for (const ExpectedTensor& output : expected.tensors) {
    const Tensor& tensor = call.tensor(call.contract->index_of(output.name));
    for (std::size_t i = 0; i < output.value.size(); ++i) {
      if (!output.written[i]) continue;
      std::int64_t offset = 0;
      auto index = static_cast<std::int64_t>(i);
      for (int d = tensor.rank - 1; d >= 0; --d) {
        offset += index % tensor.size(d) * tensor.stride(d);
        index /= tensor.size(d);
      }
      core::encode(tensor.dtype, output.value[i],
                   static_cast<std::byte*>(tensor.data) + offset * size_of(tensor.dtype));
    }
  }
}

}  // namespace isomer::oracle
