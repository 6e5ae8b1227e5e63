// PyTorch extensions as they are found, about half of them right.
#include "ported/every_port.hpp"

namespace isomer::lab {
namespace {

INSTANTIATE_TEST_SUITE_P(Extensions, EveryPort, testing::ValuesIn(ported()), name_of_port);

}  // namespace
}  // namespace isomer::lab
