#include "child/division.hpp"

#include <pthread.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "execution/worker.hpp"
#include "runtime/settings.hpp"
#include "watch/findings.hpp"
#include "watch/reporter.hpp"

namespace isomer::emulator {
namespace {

/// One of x86-64's `div` and `idiv`.
struct Division {
  bool of_signed = false;
  unsigned bytes = 4;        ///< of the operands
  std::int64_t divisor = 0;  ///< sign-extended where it is signed
  std::uint64_t next = 0;    ///< address of the instruction behind it
};

constexpr unsigned kOperandSize = 0x66, kOfThread = 0x64, kLow8 = 0xf6, kWider = 0xf7;

bool is_prefix(unsigned byte) {
  constexpr unsigned kPrefixes[] = {kOperandSize, 0x67, 0xf2, 0xf3, 0x2e, 0x36, 0x3e, 0x26, kOfThread, 0x65};
  for (const unsigned p : kPrefixes)
    if (byte == p) return true;
  return false;
}

/// General registers in the order in which instructions number them.
constexpr int kRegisters[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

std::int32_t offset_at(const std::uint8_t* at, unsigned bytes) {
  if (bytes == 1) return static_cast<std::int8_t>(*at);
  std::int32_t value = 0;
  std::memcpy(&value, at, bytes);
  return value;
}

/// The low bytes of a value, with the sign where it has one.
std::int64_t narrowed(std::uint64_t value, unsigned bytes, bool of_signed) {
  const unsigned unused = 64 - 8 * bytes;
  return of_signed ? static_cast<std::int64_t>(value << unused) >> unused
                   : static_cast<std::int64_t>(value << unused >> unused);
}

std::optional<Division> division_that_stopped(const gregset_t& registers) {
  const auto* at = reinterpret_cast<const std::uint8_t*>(registers[REG_RIP]);
  Division d;
  bool of_thread = false;
  for (; is_prefix(*at); ++at) {
    if (*at == kOperandSize) d.bytes = 2;
    of_thread |= *at == kOfThread;
  }
  unsigned rex = 0;
  if ((*at & 0xf0) == 0x40) rex = *at++;
  if ((rex & 8) != 0) d.bytes = 8;
  if (*at != kLow8 && *at != kWider) return {};
  if (*at++ == kLow8) d.bytes = 1;
  const unsigned form = *at++, mode = form >> 6, which = form >> 3 & 7, low = form & 7;
  if (which < 6) return {};  // 6: div, 7: idiv
  d.of_signed = which == 7;
  const auto value_of = [&](unsigned number) {
    return static_cast<std::uint64_t>(registers[kRegisters[number]]);
  };
  std::uint64_t operand = 0;
  if (mode == 3) {
    // ah to bh are the second bytes of the first four registers.
    const bool second = d.bytes == 1 && rex == 0 && low >= 4;
    operand = second ? value_of(low - 4) >> 8 : value_of(low | (rex & 1) << 3);
  } else {
    std::uint64_t address = of_thread ? pthread_self() : 0;  // where its block begins
    bool from_next = false;
    unsigned offset_bytes = mode == 1 ? 1 : mode == 2 ? 4 : 0;
    if (low == 4) {
      const unsigned scaled = *at++, base = scaled & 7, index = (scaled >> 3 & 7) | (rex & 2) << 2;
      if (index != 4) address += value_of(index) << (scaled >> 6);
      if (base == 5 && mode == 0)
        offset_bytes = 4;
      else
        address += value_of(base | (rex & 1) << 3);
    } else if (low == 5 && mode == 0) {
      from_next = true;
      offset_bytes = 4;
    } else {
      address += value_of(low | (rex & 1) << 3);
    }
    address += static_cast<std::uint64_t>(std::int64_t{offset_at(at, offset_bytes)});
    at += offset_bytes;
    if (from_next) address += reinterpret_cast<std::uint64_t>(at);
    std::memcpy(&operand, reinterpret_cast<const void*>(address),
                d.bytes);  // as the processor has just read it
  }
  d.divisor = narrowed(operand, d.bytes, d.of_signed);
  d.next = reinterpret_cast<std::uint64_t>(at);
  return d;
}

/// Writes the low bytes of a register as the processor does: four of them clear those above.
void put(greg_t& to, std::uint64_t value, unsigned bytes) {
  if (bytes >= 4)
    to = static_cast<greg_t>(bytes == 8 ? value : value & 0xffffffffu);
  else
    std::memcpy(&to, &value, bytes);
}

}  // namespace

bool divides_as_a_device(ucontext_t* context) {
  gregset_t& registers = context->uc_mcontext.gregs;
  if (!current_thread()) return false;
  const std::optional<Division> d = division_that_stopped(registers);
  const std::int64_t lowest = d ? std::numeric_limits<std::int64_t>::min() >> (64 - 8 * d->bytes) : 0;
  const auto dividend = static_cast<std::uint64_t>(registers[REG_RAX]);
  const bool by_zero = d && d->divisor == 0;
  // Two bytes are divided by one in ax, all others in rax with their sign in rdx.
  const bool overflows =
      d && d->of_signed && d->divisor == -1 && d->bytes > 1 && narrowed(dividend, d->bytes, true) == lowest;
  if (!by_zero && !overflows) return false;
  // Quotient and remainder, of any width (seen on an H100).
  const std::uint64_t quotient = by_zero ? ~std::uint64_t{0} : dividend;
  const std::uint64_t remainder = by_zero ? ~std::uint64_t{0} : 0;
  // One past the instruction's begin, as a return address would be.
  const auto* site = reinterpret_cast<const void*>(registers[REG_RIP] + 1);
  if ((!settings().watch || current_block()->launch().watch) &&
      !watch::told(Kind::integer_division, site, nullptr)) {
    const std::int64_t divided = narrowed(dividend, d->bytes == 1 ? 2 : d->bytes, d->of_signed);
    const std::string number =
        d->of_signed ? std::to_string(divided) : std::to_string(static_cast<std::uint64_t>(divided));
    watch::report_event(
        Kind::integer_division, site,
        by_zero
            ? fmt::format("divides {} by zero: a device goes on with a result of which every bit is set",
                          number)
            : fmt::format("divides {} by -1, and no integer of its type holds the result: a device goes on "
                          "with {} and the remainder 0",
                          number, number));
  }
  if (d->bytes == 1) {
    put(registers[REG_RAX], (quotient & 0xff) | (remainder & 0xff) << 8, 2);
  } else {
    put(registers[REG_RAX], quotient, d->bytes);
    put(registers[REG_RDX], remainder, d->bytes);
  }
  registers[REG_RIP] = static_cast<greg_t>(d->next);
  return true;
}

}  // namespace isomer::emulator
