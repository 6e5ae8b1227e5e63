// Integers of 64 bits rounded in one direction: __ll2float_rd and its relatives. Included by math.h.
#pragma once

namespace isomer::emulator {
/// What x is more than its nearest double: exact.
template <class I>
ISOMER_EMULATOR_FUNCTION double more_than_double(I x) {
  return static_cast<double>(static_cast<__int128>(x) - static_cast<__int128>(static_cast<double>(x)));
}
template <class I>
ISOMER_EMULATOR_FUNCTION float float_of(I x, int way) {
  return directed(static_cast<double>(x), sign_of(more_than_double(x)), way);
}
template <class I>
ISOMER_EMULATOR_FUNCTION double double_of(I x, int way) {
  return directed_double(static_cast<double>(x), more_than_double(x), way);
}
}  // namespace isomer::emulator

#define ISOMER_EMULATOR_FROM_LONG(NAME, I)                                                                \
  ISOMER_EMULATOR_FUNCTION float __##NAME##2float_rn(I x) { return static_cast<float>(x); }               \
  ISOMER_EMULATOR_FUNCTION float __##NAME##2float_rz(I x) { return isomer::emulator::float_of(x, 0); }    \
  ISOMER_EMULATOR_FUNCTION float __##NAME##2float_ru(I x) { return isomer::emulator::float_of(x, 1); }    \
  ISOMER_EMULATOR_FUNCTION float __##NAME##2float_rd(I x) { return isomer::emulator::float_of(x, -1); }   \
  ISOMER_EMULATOR_FUNCTION double __##NAME##2double_rn(I x) { return static_cast<double>(x); }            \
  ISOMER_EMULATOR_FUNCTION double __##NAME##2double_rz(I x) { return isomer::emulator::double_of(x, 0); } \
  ISOMER_EMULATOR_FUNCTION double __##NAME##2double_ru(I x) { return isomer::emulator::double_of(x, 1); } \
  ISOMER_EMULATOR_FUNCTION double __##NAME##2double_rd(I x) { return isomer::emulator::double_of(x, -1); }
ISOMER_EMULATOR_FROM_LONG(ll, long long)
ISOMER_EMULATOR_FROM_LONG(ull, unsigned long long)
#undef ISOMER_EMULATOR_FROM_LONG
