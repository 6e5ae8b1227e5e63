#include "ops/fp8_gemm/fp8_gemm.hpp"
#include "ops/fp8_gemm/oracle/oracle.hpp"
#include "ops/fp8_gemm/oracle/reference_product.hpp"

namespace isomer::ops::fp8_gemm {

void reference(const core::Call& call, const oracle::Variations& vary, oracle::Expected& expected) {
  const auto& args = call.args<Fp8GemmArgs>();
  const Product product(args.a, args.a_s, args.b, args.b_s, vary);
  const Epilogue finish{args.bias, args.addend, vary};
  oracle::ExpectedTensor& c = expected["c"];
  const auto columns = static_cast<std::size_t>(args.c.size(-1));
  for (std::size_t flat = 0; flat < c.value.size(); ++flat) {
    const auto m = static_cast<std::int64_t>(flat / columns), n = static_cast<std::int64_t>(flat % columns);
    const Element element = product(m, n);
    const auto [value, bound] = finish(element, c.dtype, flat, n);
    c.set(flat, value, bound);
    if (element.unknown) c.set_unknown(flat);
  }
}

const std::vector<oracle::Variation>& variations() { return product_variations(); }

}  // namespace isomer::ops::fp8_gemm
