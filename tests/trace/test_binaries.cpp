// What a binary says of its kernels, with no vendor's tool: the figures are those that ptxas -v and hipcc
// print.
#include "lab/binary/sass_opcodes.hpp"
#include "lab/report/kernels_report.hpp"
#include "tests/trace/fixture.hpp"

#include <isomer/error.hpp>

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

namespace isomer::lab {
namespace {

std::vector<std::uint32_t> sizes(const BinaryKernel& kernel) {
  std::vector<std::uint32_t> list;
  for (const BinaryKernel::Parameter& each : kernel.parameters) list.push_back(each.size);
  return list;
}

std::vector<std::uint32_t> offsets(const BinaryKernel& kernel) {
  std::vector<std::uint32_t> list;
  for (const BinaryKernel::Parameter& each : kernel.parameters) list.push_back(each.offset);
  return list;
}

using Sizes = std::vector<std::uint32_t>;

TEST(Binary, CubinTellsNamesResourcesAndParameters) {
  const std::vector<BinaryKernel> kernels = kernels_of("base.cubin");
  ASSERT_EQ(kernels.size(), 3u);
  const BinaryKernel& row = kernel_of(kernels, "tiny::softmax_row", "sm_90a");
  EXPECT_EQ(row.parsed->text, "tiny::softmax_row<128, true, float>");
  EXPECT_TRUE(row.resources_known);
  EXPECT_EQ(row.registers, 22u);
  EXPECT_EQ(row.shared_bytes, 256u) << "without the kibibyte that the system takes";
  EXPECT_EQ(row.spill_bytes, 0u);
  EXPECT_EQ(row.max_threads, 128u);
  EXPECT_EQ(sizes(row), (Sizes{24, 4}));
  EXPECT_EQ(offsets(row), (Sizes{0, 24}));
  EXPECT_EQ(row.code_hash.substr(0, 12), "0c12775dca6a") << "sha256sum's of that section";
  EXPECT_EQ(row.code_bytes % 128, 0u);
  EXPECT_EQ(row.compiler, "ptxas 13.0.88");
  EXPECT_EQ(row.options, "-arch sm_90a -m 64");
  EXPECT_EQ(instructions_of(row).at("BAR"), 1u) << "one __syncthreads";
  EXPECT_GE(instructions_of(row).at("LDS"), 16u);
  EXPECT_GE(instructions_of(row).at("EXIT"), 1u);
  std::uint64_t all = 0;
  for (const auto& [name, count] : instructions_of(row)) all += count;
  EXPECT_EQ(all * 16, row.code_bytes) << "every instruction is counted";
  EXPECT_EQ(kernel_of(kernels, "tiny::(anonymous namespace)::hidden(float*)", "sm_90a").shared_bytes, 0u);
  const BinaryKernel& plain = kernel_of(kernels, "plain", "sm_90a");
  EXPECT_EQ(plain.registers, 64u);
  EXPECT_EQ(plain.max_threads, 0u) << "no launch bound";
  EXPECT_EQ(sizes(plain), (Sizes{4, 8, 8}));
  EXPECT_EQ(offsets(plain), (Sizes{0, 8, 16}));
}

TEST(Binary, SpillsAreTheStackFrame) {
  const BinaryKernel plain = kernel_of(kernels_of("maxrregcount.cubin"), "plain", "sm_90a");
  EXPECT_EQ(plain.registers, 24u);
  EXPECT_EQ(plain.spill_bytes, 240u);
  EXPECT_GT(instructions_of(plain).at("STL"), 0u);
  EXPECT_EQ(plain.options, "-maxrregcount 24 -arch sm_90a -m 64");
}

TEST(Binary, OlderArchitecturesReserveNoSharedMemory) {
  const BinaryKernel row = kernel_of(kernels_of("sm_80.cubin"), "tiny::softmax_row", "sm_80");
  EXPECT_EQ(row.shared_bytes, 256u);
  EXPECT_EQ(sizes(row), (Sizes{24, 4}));
}

TEST(Binary, FatBinaryAndSharedLibraryHoldTheSameKernelsAsTheCubin) {
  const std::vector<BinaryKernel> cubin = kernels_of("base.cubin");
  for (const char* file : {"family.fatbin", "libfamily.so"}) {
    const std::vector<BinaryKernel> kernels = kernels_of(file);
    std::set<std::string> architectures;
    for (const BinaryKernel& kernel : kernels) architectures.insert(kernel.arch);
    EXPECT_EQ(architectures, (std::set<std::string>{"compute_90a", "sm_80", "sm_90a"})) << file;
    EXPECT_EQ(kernels.size(), 9u) << file;
    for (const BinaryKernel& kernel : cubin) {
      const BinaryKernel& same = kernel_of(kernels, kernel.parsed->family, "sm_90a");
      EXPECT_EQ(same.code_hash, kernel.code_hash) << file << " " << kernel.parsed->text;
      EXPECT_EQ(same.registers, kernel.registers);
      EXPECT_EQ(sizes(same), sizes(kernel));
      // PTX has parameters and launch bounds, and no machine code.
      const BinaryKernel& ptx = kernel_of(kernels, kernel.parsed->family, "compute_90a");
      EXPECT_FALSE(ptx.resources_known);
      EXPECT_EQ(sizes(ptx), sizes(kernel)) << kernel.parsed->text;
      EXPECT_EQ(offsets(ptx), offsets(kernel)) << kernel.parsed->text;
      EXPECT_EQ(ptx.max_threads, kernel.max_threads) << kernel.parsed->text;
      EXPECT_TRUE(ptx.opcodes.empty());
    }
  }
}

TEST(Binary, Lz4IsReadAsZstdIs) {
  const std::vector<BinaryKernel> kernels = kernels_of("lz4.fatbin");
  ASSERT_EQ(kernels.size(), 3u);
  EXPECT_EQ(kernel_of(kernels, "tiny::softmax_row", "compute_80").max_threads, 128u);
}

/// The kernels of a file by name: their shared memory.
std::map<std::string, std::uint32_t> shared_of(const char* file) {
  std::map<std::string, std::uint32_t> bytes;
  for (const BinaryKernel& kernel : kernels_of(file)) bytes[kernel.parsed->text] = kernel.shared_bytes;
  return bytes;
}

TEST(Binary, SharedMemoryIsTheSourcesBeforeAndAfterADeviceLink) {
  const std::map<std::string, std::uint32_t> expected = {
      {"some(float*)", 128}, {"none(float*)", 0}, {"dynamic(float*)", 0}};
  for (const char* file : {"shared.fatbin", "shared-rdc.fatbin", "shared-rdc.cubin", "shared-linked.fatbin"})
    EXPECT_EQ(shared_of(file), expected) << file;
}

TEST(Binary, SharedMemoryForADebuggerHasNoBytesInTheFile) {
  std::vector<std::uint8_t> cubin = fixture_bytes("shared-rdc.cubin");
  const auto number = [&](std::size_t at, int bytes) {
    std::uint64_t value = 0;
    for (int i = bytes - 1; i >= 0; --i) value = value << 8 | cubin[at + static_cast<std::size_t>(i)];
    return value;
  };
  const std::size_t table = number(40, 8), count = number(60, 2);
  int changed = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t header = table + i * 64;
    if (number(header + 4, 4) != 0x7000000a) continue;
    cubin[header + 32 + 2] = 9;  // its size is now more than half a megabyte, as large as no cubin here
    ++changed;
  }
  ASSERT_EQ(changed, 1);
  const std::vector<BinaryKernel> kernels = read_image(cubin.data(), cubin.size(), "cubin");
  ASSERT_EQ(kernels.size(), 3u);
  EXPECT_EQ(kernel_of(kernels, "some(float*)", "sm_90a").shared_bytes, 128u + (9u << 16));
}

void append(std::vector<std::uint8_t>& bytes, std::uint64_t value, int count) {
  for (int i = 0; i < count; ++i) bytes.push_back(static_cast<std::uint8_t>(value >> 8 * i));
}

/// The bundles of amd.o's section, one behind the other.
std::vector<std::uint8_t> amd_bundle() {
  const std::vector<std::uint8_t> object = fixture_bytes("amd.o");
  const std::string_view text(reinterpret_cast<const char*>(object.data()), object.size());
  const std::size_t begin = text.find("__CLANG_OFFLOAD_BUNDLE__");
  return {object.begin() + static_cast<std::ptrdiff_t>(begin), object.end()};
}

/// A bundle as clang compresses it, in a frame of zstd whose blocks are not compressed.
std::vector<std::uint8_t> compressed_bundle(int version, const std::vector<std::uint8_t>& plain) {
  std::vector<std::uint8_t> frame = {0x28, 0xb5, 0x2f, 0xfd, 0xa0};
  append(frame, plain.size(), 4);
  constexpr std::size_t kBlock = 1 << 16;
  for (std::size_t at = 0; at < plain.size(); at += kBlock) {
    const std::size_t size = std::min(kBlock, plain.size() - at);
    append(frame, size << 3 | (at + size == plain.size() ? 1 : 0), 3);
    frame.insert(frame.end(), plain.begin() + static_cast<std::ptrdiff_t>(at),
                 plain.begin() + static_cast<std::ptrdiff_t>(at + size));
  }
  std::vector<std::uint8_t> bytes = {'C', 'C', 'O', 'B'};
  append(bytes, static_cast<std::uint64_t>(version), 2);
  append(bytes, 1, 2);
  const int wide = version == 3 ? 8 : 4;
  const std::size_t header = 8 + static_cast<std::size_t>(version > 1 ? 2 * wide : wide) + 8;
  if (version > 1) append(bytes, header + frame.size(), wide);
  append(bytes, plain.size(), wide);
  append(bytes, 0x1234, 8);
  bytes.insert(bytes.end(), frame.begin(), frame.end());
  return bytes;
}

TEST(Binary, CompressedBundlesOfEveryVersionAreReadAsPlainOnes) {
  const std::vector<BinaryKernel> plain = kernels_of("amd.o");
  ASSERT_FALSE(plain.empty());
  for (const int version : {1, 2, 3}) {
    std::vector<std::uint8_t> bytes = compressed_bundle(version, amd_bundle());
    bytes.resize((bytes.size() + 4095) / 4096 * 4096);
    const std::size_t one = bytes.size();
    for (const int copies : {1, 2}) {
      if (copies == 2)
        bytes.insert(bytes.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(one));
      const std::vector<BinaryKernel> kernels = read_image(bytes.data(), bytes.size(), "bundle");
      ASSERT_EQ(kernels.size(), plain.size()) << "version " << version;
      for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_EQ(kernels[i].code_hash, plain[i].code_hash);
    }
  }
}

TEST(Binary, OneDamagedImageIsANoteAndTheOthersAreRead) {
  std::vector<std::uint8_t> bytes = compressed_bundle(2, amd_bundle());
  bytes.resize((bytes.size() + 4095) / 4096 * 4096);
  const std::vector<std::uint8_t> whole = bytes;
  bytes[40] ^= 0xff;  // in the frame's header
  bytes.insert(bytes.end(), whole.begin(), whole.end());
  std::vector<std::string> notes;
  const std::vector<BinaryKernel> kernels = read_image(bytes.data(), bytes.size(), "bundle", notes);
  EXPECT_EQ(kernels.size(), kernels_of("amd.o").size());
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_TRUE(notes[0].starts_with("compressed offload bundle 0 was left out: bundle: ")) << notes[0];
  EXPECT_THROW(read_image(bytes.data(), whole.size(), "bundle"), Error) << "no image is left";
}

TEST(Binary, PtxTextIsReadToo) {
  const std::string text = R"(// .version in a comment, .entry no(
.version 9.0
.target sm_80, debug
.address_size 64
.func helper() { ret; }
.visible .entry first(.param .u64 .ptr .align 4 a, .param .align 16 .b8 b[40], .param .u8 c)
.maxntid 64, 1, 1
.minnctapersm 2
{ .reg .b32 %r; { ret; } /* } */ ret; }
.entry second { ret; }
.entry third();
)";
  const std::vector<BinaryKernel> kernels =
      read_image(reinterpret_cast<const std::uint8_t*>(text.data()), text.size(), "text");
  ASSERT_EQ(kernels.size(), 3u);
  EXPECT_EQ(kernels[0].name, "first");
  EXPECT_EQ(kernels[0].arch, "compute_80");
  EXPECT_EQ(kernels[0].max_threads, 64u);
  EXPECT_EQ(sizes(kernels[0]), (Sizes{8, 40, 1}));
  EXPECT_EQ(offsets(kernels[0]), (Sizes{0, 16, 56}));
  EXPECT_EQ(kernels[1].name, "second");
  EXPECT_EQ(kernels[2].name, "third");
}

TEST(Binary, AmdCodeObjectTellsTheSame) {
  const std::vector<BinaryKernel> kernels = kernels_of("amd.o");
  ASSERT_EQ(kernels.size(), 1u);
  const BinaryKernel& kernel = kernels[0];
  EXPECT_EQ(kernel.parsed->text, "shift<128>");
  EXPECT_EQ(kernel.arch, "gfx90a");
  EXPECT_GT(kernel.registers, 0u);
  EXPECT_EQ(kernel.shared_bytes, 128u);
  EXPECT_EQ(kernel.spill_bytes, 0u);
  EXPECT_EQ(kernel.max_threads, 128u);
  EXPECT_EQ(sizes(kernel), (Sizes{8, 4, 1})) << "hidden arguments are left out";
  EXPECT_EQ(kernel.code_hash.size(), 64u);
  EXPECT_GT(kernel.code_bytes, 0u);
}

TEST(Binary, WithoutANoteTellsItsToolkitAlone) {
  // Toolkits before 13 leave no note: it is another section's name then.
  std::vector<std::uint8_t> cubin = fixture_bytes("base.cubin");
  const std::string note = ".note.nv.tkinfo";
  const auto found = std::search(cubin.begin(), cubin.end(), note.begin(), note.end());
  ASSERT_NE(found, cubin.end());
  found[1] = 'x';
  const std::vector<BinaryKernel> kernels = read_image(cubin.data(), cubin.size(), "older");
  ASSERT_EQ(kernels.size(), 3u);
  for (const BinaryKernel& kernel : kernels) {
    EXPECT_EQ(kernel.compiler, "CUDA 13.0");
    EXPECT_EQ(kernel.options, "");
    EXPECT_EQ(kernel.arch, "sm_90") << "the letter stood in the note";
  }
}

TEST(Binary, RegistersStandBesideTheMachineCodeWhereNoAttributeTellsThem) {
  // As in NVIDIA's own kernels of some libraries. The attribute gets another number.
  std::vector<std::uint8_t> cubin = fixture_bytes("sm_80.cubin");
  const std::vector<BinaryKernel> told = read_image(cubin.data(), cubin.size(), "told");
  int changed = 0;
  for (std::size_t i = 0; i + 4 <= cubin.size(); i += 4)
    if (cubin[i] == 4 && cubin[i + 1] == 0x2f && cubin[i + 2] == 8 && cubin[i + 3] == 0)
      cubin[i + 1] = 0x7f, ++changed;
  ASSERT_EQ(changed, 3);
  const std::vector<BinaryKernel> untold = read_image(cubin.data(), cubin.size(), "untold");
  ASSERT_EQ(untold.size(), told.size());
  for (std::size_t i = 0; i < told.size(); ++i) {
    EXPECT_GT(told[i].registers, 0u);
    EXPECT_EQ(untold[i].registers, told[i].registers) << told[i].name;
  }
}

TEST(Binary, KernelsAreFoundAmongTheDataOfALibraryToo) {
  // cuFFT keeps its fat binaries in a section like any other.
  std::vector<std::uint8_t> library = fixture_bytes("libfamily.so");
  const std::vector<BinaryKernel> before = read_image(library.data(), library.size(), "library");
  const std::string section = ".nv_fatbin";
  const auto found = std::search(library.begin(), library.end(), section.begin(), section.end());
  ASSERT_NE(found, library.end());
  found[1] = 'x';
  std::vector<std::string> notes;
  const std::vector<BinaryKernel> after = read_image(library.data(), library.size(), "library", notes);
  ASSERT_EQ(after.size(), before.size());
  for (std::size_t i = 0; i < after.size(); ++i) EXPECT_EQ(after[i].code_hash, before[i].code_hash);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("lie outside of .nv_fatbin"), std::string::npos) << notes[0];
}

TEST(Binary, OpcodesThatNobodySawStayNumbers) {
  EXPECT_EQ(opcode_name(0x223), "FFMA");
  EXPECT_EQ(opcode_name(0x823), "FFMA") << "with a constant";
  EXPECT_EQ(opcode_name(0x1fe), "0x1fe");
}

TEST(KernelsReport, JsonHasTheFieldsOfTheDesign) {
  std::string text;
  kernels_json(kernels_of("family.fatbin"), [&](std::string_view part) { text += part; });
  const nlohmann::json json = nlohmann::json::parse(text);
  EXPECT_EQ(json.at("version"), 1);
  ASSERT_EQ(json.at("kernels").size(), 9u);
  int machine = 0;
  for (const nlohmann::json& kernel : json.at("kernels")) {
    for (const char* field : {"name", "demangled", "arch", "code_hash"})
      EXPECT_TRUE(kernel.at(field).is_string()) << field;
    EXPECT_TRUE(kernel.at("parameters").is_object());
    const bool known = !kernel.at("arch").get<std::string>().starts_with("compute_");
    machine += known ? 1 : 0;
    for (const char* field : {"registers", "shared_bytes", "spill_bytes"})
      EXPECT_EQ(kernel.at(field).is_number(), known) << "what PTX does not tell is null";
  }
  EXPECT_EQ(machine, 6);
}

TEST(KernelsReport, TableNamesEachKernelAndItsParameters) {
  const std::string table = kernels_table(kernels_of("base.cubin"));
  for (const char* words : {"tiny::softmax_row", "#0=128", "#1=true", "sm_90a", "ptxas 13.0.88", "3 kernels"})
    EXPECT_NE(table.find(words), std::string::npos) << words << "\n" << table;
}

/// A sentence about `text`, or "" where it is read.
std::string refusal(const std::vector<std::uint8_t>& bytes) {
  try {
    read_image(bytes.data(), bytes.size(), "file");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io) << error.what();
    EXPECT_TRUE(std::string(error.what()).starts_with("file: ")) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return error.what();
  }
  return "";
}

std::vector<std::uint8_t> bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

TEST(BadBinary, IsRefusedWithOneSentence) {
  EXPECT_NE(refusal({}).find("is not a binary with kernels"), std::string::npos);
  EXPECT_NE(refusal(bytes_of("hello, world")).find("is not a binary with kernels"), std::string::npos);
  EXPECT_NE(refusal(bytes_of("\177ELF")).find("the ELF header lies outside"), std::string::npos);
  EXPECT_NE(refusal(bytes_of("\177ELF\1\1")).find("64-bit little-endian"), std::string::npos);
  EXPECT_NE(refusal(bytes_of("CCOB1234")).find("compressed offload bundle"), std::string::npos);
  EXPECT_NE(refusal(bytes_of("!<arch>\n")).find("static library without kernels"), std::string::npos);
  std::vector<std::uint8_t> program = fixture_bytes("base.cubin");
  program[18] = 62;  // an x86-64 program: no section of kernels
  EXPECT_NE(refusal(program).find("an ELF file without kernels"), std::string::npos);
  EXPECT_THROW(read_binary("/nonexistent"), Error);
  EXPECT_THROW(read_binary("/"), Error);
}

TEST(BadBinary, CutAnywhereIsASentenceOrFewerKernels) {
  for (const char* name : {"base.cubin", "family.fatbin", "lz4.fatbin", "libfamily.so", "amd.o"}) {
    const std::vector<std::uint8_t> whole = fixture_bytes(name);
    int refused = 0;
    for (std::size_t size = 0; size < whole.size(); size += whole.size() / 400 + 1)
      refused += refusal({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}).empty() ? 0 : 1;
    EXPECT_GT(refused, 300) << name;
  }
}

TEST(BadBinary, DamagedAnywhereIsASentenceOrOtherKernels) {
  for (const char* name : {"base.cubin", "family.fatbin", "amd.o"}) {
    const std::vector<std::uint8_t> whole = fixture_bytes(name);
    std::uint64_t state = 88172645463325252u;
    for (int i = 0; i < 1500; ++i) {
      std::vector<std::uint8_t> bytes = whole;
      for (int k = 0; k < 4; ++k) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        // Headers matter most, and lie at both ends.
        const std::size_t at = k % 2 == 0 ? state % bytes.size() : state % 512;
        bytes[at] = static_cast<std::uint8_t>(state >> 40);
      }
      refusal(bytes);
    }
  }
}

TEST(BadBinary, CannotAskForMoreMemoryThanItsImagesShrankFrom) {
  std::vector<std::uint8_t> fat = fixture_bytes("lz4.fatbin");
  const std::uint64_t huge = std::uint64_t{1} << 60;
  std::memcpy(fat.data() + 16 + 56, &huge, sizeof huge);
  EXPECT_NE(refusal(fat).find("says that it unpacks to"), std::string::npos);
}

TEST(BadBinary, MetadataThatNestsWithoutEndIsRefused) {
  std::vector<std::uint8_t> object = fixture_bytes("amd.o");
  // The note of the code object begins with a map; arrays of one element instead, as deep as the note is
  // long.
  const std::string key = "amdhsa.kernels";
  const auto found = std::search(object.begin(), object.end(), key.begin(), key.end());
  ASSERT_NE(found, object.end());
  for (auto at = found - 2; at < found + 200; ++at) *at = 0x91;
  EXPECT_NE(refusal(object).find("not MessagePack"), std::string::npos);
}

}  // namespace
}  // namespace isomer::lab
