// Inline PTX of matrices: those that a warp loads, stores and multiplies, products of a warpgroup, and boxes
// of tensors that the copy engine moves.
#include "source/ptx_matrices.hpp"

#include <cstdio>
#include <map>
#include <set>

#include <fmt/format.h>

namespace isomer::emulator::source {
namespace {

/// `ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {…}, [p]`, and `stmatrix` with its operands the other way.
std::string loaded(const Words& parts, const Words& operands, const PtxOperands& of) {
  const bool known = has(parts, "m8n8") && parts.back() == "b16" && operands.size() == 2;
  const Words to = of.vector(operands.at(0));
  if (!known || (to.size() != 1 && to.size() != 2 && to.size() != 4)) throw Unknown{};
  std::string out = fmt::format("const auto isomer_all = ldmatrix<{}, {}>({})", to.size(),
                                has(parts, "trans"), of.address(operands[1]));
  for (std::size_t i = 0; i < to.size(); ++i) out += fmt::format("; put({}, isomer_all.v[{}])", to[i], i);
  return out;
}
/// `stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [p], {…}`.
std::string stored(const Words& parts, const Words& operands, const PtxOperands& of) {
  const bool known = has(parts, "m8n8") && parts.back() == "b16" && operands.size() == 2;
  const Words from = of.vector(operands.at(1));
  if (!known || (from.size() != 1 && from.size() != 2 && from.size() != 4)) throw Unknown{};
  std::string words;
  for (const std::string& each : from) words += fmt::format("{}as<u32>({})", words.empty() ? "" : ", ", each);
  return fmt::format("stmatrix<{0}, {1}>({2}, Several<u32, {0}>{{{{{3}}}}})", from.size(),
                     has(parts, "trans"), of.address(operands[0]), words);
}

/// `wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {d}, a, b, p, 1, 1, 0, 0`: a product of a warpgroup
/// into f32. d's registers have to be one array: what is in flight is watched there.
std::string product_of_warpgroup(const Words& parts, const Words& operands, const PtxOperands& of) {
  static const std::map<std::string, int> elements = {{"f16", 0}, {"bf16", 1}, {"e4m3", 2}, {"e5m2", 3}};
  if (parts.size() != 8 || parts[5] != "f32" || parts[6] != parts[7] || elements.count(parts[6]) == 0)
    throw Unknown{};
  const int element = elements.at(parts[6]);
  int columns = 0, depth = 0;
  if (std::sscanf(parts[4].c_str(), "m64n%dk%d", &columns, &depth) != 2 || columns < 8 || columns > 256 ||
      columns % 8 != 0 || depth != (element < 2 ? 16 : 32))
    throw Unknown{};
  const bool in_registers = operands.at(1).rfind('{', 0) == 0, wide = element < 2;
  const std::size_t turns = !wide ? 0 : in_registers ? 1 : 2;
  const Words d = of.vector(operands.at(0));
  if (operands.size() != 6 + turns || d.size() != static_cast<std::size_t>(columns) / 2) throw Unknown{};
  const auto number = [&](std::size_t i) { return "as<s32>(" + of.operand(operands.at(i)) + ")"; };
  std::string registers, a;
  for (const std::string& each : d) registers += (registers.empty() ? "&" : ", &") + each;
  if (in_registers) {
    const Words words = of.vector(operands[1]);
    if (words.size() != 4) throw Unknown{};
    for (const std::string& each : words) a += fmt::format("{}as<u32>({})", a.empty() ? "" : ", ", each);
  }
  return fmt::format(
      "void* const isomer_d[] = {{{}}}; const u32 isomer_a[] = {{{}}}; "
      "const ::isomer::emulator::ProductRequest isomer_request{{{}, {}, {} != 0, {} != 0, {} != 0, {}, "
      "as<u64>({}), {} * {} < 0}}; isomer_emulator_product(&isomer_request, adjacent(isomer_d), {})",
      registers, in_registers ? a : "0", element, columns, wide && !in_registers ? number(6) : "0",
      wide ? number(in_registers ? 6 : 7) : "0", number(3),
      in_registers ? "0" : "as<u64>(" + of.operand(operands[1]) + ")", of.operand(operands[2]), number(4),
      number(5), in_registers ? "isomer_a" : "nullptr");
}

/// `cp.async.bulk.tensor.3d…`: [to], [map, {c0, c1, c2}], [barrier] and perhaps a hint; there and back.
std::string box_copied(const Words& parts, const Words& operands, const PtxOperands& of) {
  const bool asks = parts[3] == "prefetch";
  const auto at = parts.begin() + (asks ? 5 : 4);
  if (at >= parts.end() || at->size() != 2 || (*at)[1] != 'd') throw Unknown{};
  static const std::set<std::string> known = {
      "shared::cluster", "shared::cta",       "global", "tile", "bulk_group", "mbarrier::complete_tx::bytes",
      "L2::cache_hint",  "multicast::cluster"};
  for (auto word = at + 1; word != parts.end(); ++word)
    if (known.count(*word) == 0 && !asks) throw Unknown{};
  if (asks) return "static_cast<void>(0)";
  const bool stores = has(parts, "bulk_group");
  const std::string& box = operands.at(stores ? 0 : 1);
  if (box.size() < 3 || box[0] != '[') throw Unknown{};
  const Words inside = split(box.substr(1, box.size() - 2), ',');
  const Words place = of.vector(inside.at(1));
  const bool to_many = has(parts, "multicast::cluster");
  const std::size_t behind = (has(parts, "L2::cache_hint") ? 1 : 0) + (to_many ? 1 : 0);
  if (inside.size() != 2 || place.size() != static_cast<std::size_t>((*at)[0] - '0') ||
      operands.size() != (stores ? 2 : 3) + behind)
    throw Unknown{};
  std::string coordinates;
  for (const std::string& each : place)
    coordinates += fmt::format("{}as<s32>({})", coordinates.empty() ? "" : ", ", each);
  const auto shared = [&](std::size_t i) { return "in_shared(" + of.address(operands.at(i)) + ")"; };
  const std::string calls = to_many  ? fmt::format("box_load_in(as<u32>({}), ", of.operand(operands[3]))
                            : stores ? "box_store("
                                     : "box_load(";
  return fmt::format("const int isomer_box[] = {{{}}}; isomer_emulator_{}as<void*>({}), {}, isomer_box, {})",
                     coordinates, calls, of.operand(inside[0]), place.size(),
                     stores ? shared(1) : shared(0) + ", " + shared(2));
}

/// A product of a warp.
std::string product(Words parts, const Words& operands, const PtxOperands& of) {
  // mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32; integers may saturate.
  const bool saturates = std::erase(parts, "satfinite") != 0;
  if (parts.size() != 10 || parts[1] != "sync" || parts[4] != "row" || parts[5] != "col" ||
      operands.size() != 4)
    throw Unknown{};
  static const std::map<std::string, std::pair<const char*, int>> elements = {
      {"f16", {"F16", 16}},      {"bf16", {"Bf16", 16}}, {"tf32", {"Tf32", 32}}, {"e4m3", {"E4m3Bits", 8}},
      {"e5m2", {"E5m2Bits", 8}}, {"s8", {"s8", 8}},      {"u8", {"u8", 8}}};
  const auto a = elements.find(parts[7]), b = elements.find(parts[8]);
  if (a == elements.end() || b == elements.end() || a->second.second != b->second.second) throw Unknown{};
  const Words d = of.vector(operands[0]), ra = of.vector(operands[1]), rb = of.vector(operands[2]),
              c = of.vector(operands[3]);
  const auto whole = [](const std::string& type) { return type == "s8" || type == "u8"; };
  const auto small = [](const std::string& type) { return type == "f16" || type[0] == 'e'; };
  const bool floats = parts[6] == "f32" && parts[9] == "f32" && !whole(parts[7]) && !whole(parts[8]),
             halves = parts[6] == "f16" && parts[9] == "f16" && small(parts[7]) && small(parts[8]),
             integers = parts[6] == "s32" && parts[9] == "s32" && whole(parts[7]) && whole(parts[8]);
  const int k = std::stoi(parts[3].substr(parts[3].find('k') + 1));
  const bool eight_rows = parts[3] == "m8n8k16";  // which integers alone have
  const auto registers = static_cast<std::size_t>((eight_rows ? 8 : 16) * k * a->second.second / 32 / 32);
  const std::size_t sums = halves || eight_rows ? 2 : 4;
  if ((parts[3].rfind("m16n8k", 0) != 0 && !(eight_rows && integers)) || (!floats && !integers && !halves) ||
      (saturates && !integers) || d.size() != sums || c.size() != sums || ra.size() != registers ||
      rb.size() * (eight_rows ? 1 : 2) != registers || registers > 4)
    throw Unknown{};
  const char* sum = integers ? "s32" : "f32";
  std::string start;  // sums of f16 are carried out in f32 and rounded at the end
  for (const std::string& each : halves ? c : Words{})
    start += fmt::format("{0}of_f16(u16(as<u32>({1}))), of_f16(u16(as<u32>({1}) >> 16))",
                         start.empty() ? "" : ", ", each);
  const auto list = [](const char* type, const Words& words) {
    std::string all;
    for (const std::string& each : words)
      all += fmt::format("{}as<{}>({})", all.empty() ? "" : ", ", type, each);
    return all;
  };
  std::string out = fmt::format(
      "{0} isomer_d[{8}]; const {0} isomer_c[{8}] = {{{1}}}; const u32 isomer_a[] = {{{2}}}, isomer_b[] = "
      "{{{3}}}; "
      "mma<{4}, {5}, {0}, {6}, {7}, {8}>(isomer_d, isomer_a, isomer_b, isomer_c)",
      sum, halves ? start : list(sum, c), list("u32", ra), list("u32", rb), a->second.first, b->second.first,
      registers, saturates, eight_rows ? 2 : 4);
  for (std::size_t i = 0; i < d.size(); ++i)
    out += halves ? fmt::format("; put({}, u32(f16_of(isomer_d[{}])) | u32(f16_of(isomer_d[{}])) << 16)",
                                d[i], 2 * i, 2 * i + 1)
                  : fmt::format("; put({}, isomer_d[{}])", d[i], i);
  return out;
}

}  // namespace

std::string ptx_of_matrices(const Words& parts, const Words& operands, const PtxOperands& of) {
  const auto begins = [&](std::initializer_list<const char*> words) {
    return parts.size() >= words.size() && std::equal(words.begin(), words.end(), parts.begin());
  };
  if (begins({"ldmatrix"})) return loaded(parts, operands, of);
  if (begins({"stmatrix"})) return stored(parts, operands, of);
  if (begins({"mma"})) return product(parts, operands, of);
  if (begins({"wgmma", "mma_async"})) return product_of_warpgroup(parts, operands, of);
  if (begins({"cp", "async", "bulk", "tensor"}) || begins({"cp", "async", "bulk", "prefetch", "tensor"}))
    return box_copied(parts, operands, of);
  return "";
}

}  // namespace isomer::emulator::source
