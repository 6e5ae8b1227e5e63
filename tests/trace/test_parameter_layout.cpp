// tools/parameter_layout.py on layout.o, which nvcc made of our own layout.hpp: the compiler of this test
// says where the header's fields lie.
#include "lab/diff/argument_words.hpp"
#include "tests/trace/fixture.hpp"
#include "tests/trace/fixtures/layout.hpp"

#include <isomer/error.hpp>

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace isomer::lab {
namespace {

using layout::Params;
using layout::Schedule;

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Said {
  int exit;
  std::string out, err;
};

/// What the script says of some files.
Said script(const std::string& files) {
  const std::string python = ISOMER_PYTHON_WITH_ELFTOOLS;
  if (python.empty())
    throw std::runtime_error("no python3 here has pyelftools: apt-get install python3-pyelftools");
  std::string folder = std::filesystem::temp_directory_path() / "isomer-layout-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no folder " + folder);
  const std::filesystem::path at = folder;
  const int status = std::system((python + " " ISOMER_PARAMETER_LAYOUT " --isomer " ISOMER_CLI " " + files +
                                  " >" + (at / "out").string() + " 2>" + (at / "err").string())
                                     .c_str());
  Said said{WEXITSTATUS(status), text_of(at / "out"), text_of(at / "err")};
  std::filesystem::remove_all(at);
  return said;
}

std::string place(const std::string& name, std::size_t offset, std::size_t size, const std::string& type) {
  return name + " at " + std::to_string(offset) + ", " + std::to_string(size) + " bytes, " + type;
}

/// Where a member lies in a Params: they are asked one by one, as a user's program would take their
/// addresses.
template <class ScheduleOf, class Member>
std::string place(const std::string& name, const Params<ScheduleOf>& params, const Member& member,
                  const std::string& type) {
  const auto offset = reinterpret_cast<const char*>(&member) - reinterpret_cast<const char*>(&params);
  return place(name, static_cast<std::size_t>(offset), sizeof member, type);
}

template <class ScheduleOf>
std::vector<std::string> shared_places(const Params<ScheduleOf>& params) {
  const layout::Mainloop& mainloop = params.mainloop;
  const layout::Epilogue& epilogue = params.epilogue;
  return {
      place("mainloop.count", params, mainloop.layout::Base::count, "int"),
      place("mainloop.x", params, mainloop.x, "pointer"),
      place("mainloop.count", params, mainloop.count, "int"),
      place("mainloop.stride.0", params, mainloop.stride.first_, "int"),
      // The constant between them takes no room and has its number.
      place("mainloop.stride.2", params, mainloop.stride.rest_.rest_.first_, "int"),
      place("mainloop.shape.0", params, mainloop.shape.first_, "int"),
      place("mainloop.shape.1", params, mainloop.shape.rest_.first_, "int"),
      place("mainloop.window.2", params, std::get<2>(mainloop.window), "float"),
      place("mainloop.window.1", params, std::get<1>(mainloop.window), "int"),
      place("mainloop.window.0", params, std::get<0>(mainloop.window), "int"),
      place("mainloop.divisors[0].divisor", params, mainloop.divisors[0].divisor, "int"),
      place("mainloop.divisors[0].multiplier", params, mainloop.divisors[0].multiplier, "uint"),
      place("mainloop.divisors[1].divisor", params, mainloop.divisors[1].divisor, "int"),
      place("mainloop.divisors[1].multiplier", params, mainloop.divisors[1].multiplier, "uint"),
      place("mainloop.opaque", params, mainloop.opaque, "bytes"),
      place("epilogue.scale", params, epilogue.scale, "float"),
      place("epilogue.y", params, epilogue.y, "pointer"),
      place("epilogue.mode", params, epilogue.mode, "uint"),
      place("epilogue.varlen", params, epilogue.varlen, "bool"),
  };
}

std::vector<std::string> places(const nlohmann::json& table) {
  std::vector<std::string> all;
  for (const auto& field : table["fields"])
    all.push_back(place(field["name"], field["offset"], field["size"], field["type"]));
  return all;
}

TEST(ParameterLayoutScript, SaysWhereTheHeadersFieldsLie) {
  const Said said = script(fixture("layout.o"));
  ASSERT_EQ(said.exit, 0) << said.err;
  const auto json = nlohmann::json::parse(said.out);
  EXPECT_EQ(json["version"], 1);
  // One of Schedule<>, one of Schedule<int> and Schedule<float>, none of scalars.
  ASSERT_EQ(json["layouts"].size(), 2u) << said.out;
  for (const auto& table : json["layouts"]) {
    EXPECT_EQ(table["family"], "layout::rows");
    EXPECT_EQ(table["parameter"], 0);
    EXPECT_EQ(table["bytes"], sizeof(Params<Schedule<>>));
  }
  static_assert(sizeof(Params<Schedule<>>) == sizeof(Params<Schedule<int>>));
  static_assert(sizeof(Params<Schedule<>>) == sizeof(Params<Schedule<float>>));
  const Params<Schedule<>> params{};
  std::vector<std::string> expected = shared_places(params);
  EXPECT_EQ(json["layouts"][1]["arity"], (std::vector<int>{1, 1}));
  EXPECT_EQ(places(json["layouts"][1]), expected);
  expected.push_back(place("scheduler.blocks", params, params.scheduler.blocks, "int"));
  expected.push_back(place("scheduler.heads", params, params.scheduler.heads, "int"));
  EXPECT_EQ(json["layouts"][0]["arity"], (std::vector<int>{1, 0}));
  EXPECT_EQ(places(json["layouts"][0]), expected);
  EXPECT_EQ(said.err, "parameter_layout: parameter 0 of layout::rows has several layouts of " +
                          std::to_string(sizeof(Params<Schedule<>>)) +
                          " bytes: 19 fields that they share are written\n");
}

TEST(ParameterLayoutScript, SaysWhatItLacks) {
  for (const auto& [file, says] : {std::pair{"libfamily.so", "has no debug information: compile it with -g"},
                                   {"absent.o", "absent.o: cannot be read: No such file or directory"},
                                   {"base.log", "base.log"}}) {
    const Said said = script(fixture(file));
    EXPECT_EQ(said.exit, 1) << file;
    EXPECT_EQ(said.out, "") << file;
    EXPECT_NE(said.err.find(says), std::string::npos) << said.err;
    EXPECT_EQ(said.err.find("Traceback"), std::string::npos) << said.err;
  }
}

template <class ScheduleOf>
LaunchGroup launched(const Params<ScheduleOf>& params, const std::string& name) {
  LaunchGroup group;
  group.name = parse_kernel_name(name);
  group.count = 2;
  group.first.arguments_known = true;
  ArgumentBytes bytes;
  bytes.bytes.resize(sizeof params);
  std::memcpy(bytes.bytes.data(), &params, sizeof params);
  for (const auto* pointer : {reinterpret_cast<const char*>(&params.mainloop.x),
                              reinterpret_cast<const char*>(&params.epilogue.y)}) {
    const auto offset = static_cast<std::uint32_t>(pointer - reinterpret_cast<const char*>(&params));
    std::uint64_t word = 0;
    std::memcpy(&word, pointer, sizeof word);
    if (word != 0) bytes.pointers[offset] = "0+" + std::to_string(word);
  }
  // Garbage in the padding before the base's pointer, another at every launch that is made.
  static std::uint8_t garbage = 0;
  std::fill_n(bytes.bytes.begin() + sizeof(layout::Base::count), 4, ++garbage);
  group.varying.assign(1, std::vector<std::uint8_t>(sizeof params, 0));
  group.first.arguments = {std::move(bytes)};
  return group;
}

std::string differences(const LaunchGroup& a, const LaunchGroup& b, const ParameterLayouts& layouts) {
  std::string all;
  for (const Difference& each : compare_arguments(a, b, layouts).differences)
    all += each.name + ": " + each.a + " / " + each.b + "\n";
  return all;
}

const char* const kPlain = "void layout::rows<layout::Schedule<> >(layout::Params<layout::Schedule<> >, int)";
const char* const kSorted =
    "void layout::rows<layout::Schedule<int> >(layout::Params<layout::Schedule<int> >, int)";

TEST(ParameterLayoutScript, ItsTableDecodesNestedArguments) {
  ParameterLayouts layouts;
  layouts.add(script(fixture("layout.o")).out, "the script's");
  float x = 0;
  Params<Schedule<>> a{}, b{};
  a.mainloop.layout::Base::count = b.mainloop.layout::Base::count = 5;
  a.mainloop.x = b.mainloop.x = &x;
  b.mainloop.stride.first_ = -1;
  b.mainloop.stride.rest_.rest_.first_ = std::int64_t{1} << 40;
  b.mainloop.count = -7;
  b.mainloop.window = {0, 3, 0.5F};
  b.mainloop.divisors[1].multiplier = 4000000000u;
  b.mainloop.opaque[3] = 0xFF;
  b.epilogue.scale = 0.25;
  b.epilogue.y = &x;
  b.epilogue.mode = layout::Mode::causal;
  b.epilogue.varlen = true;
  b.scheduler.heads = 16;
  const auto* second = reinterpret_cast<const char*>(&a.mainloop.count);
  const std::string of_mainloop =
      "mainloop.count at byte " + std::to_string(second - reinterpret_cast<const char*>(&a));
  EXPECT_EQ(differences(launched(a, kPlain), launched(b, kPlain), layouts),
            of_mainloop +
                ": 0 / -7\n"
                "mainloop.stride.0: 0 / -1\nmainloop.stride.2: 0 / 1099511627776\n"
                "mainloop.window.2: 0 / 0.5\nmainloop.window.1: 0 / 3\n"
                "mainloop.divisors[1].multiplier: 0 / 4000000000\n"
                "mainloop.opaque: byte 24 0x0000000000000000 / byte 24 0xff00000000000000\n"
                "epilogue.scale: 0 / 0.25\nepilogue.y: null / the address of mainloop.x\n"
                "epilogue.mode: 0 / 1\nepilogue.varlen: false / true\nscheduler.heads: 0 / 16\n");
  // The other instantiation has other fields behind the same size: those that both have are compared.
  Params<Schedule<int>> c{};
  c.mainloop.layout::Base::count = 6;
  c.mainloop.x = &x;
  c.scheduler.semaphore = reinterpret_cast<const int*>(0x1234);
  EXPECT_EQ(differences(launched(a, kPlain), launched(c, kSorted), layouts), "mainloop.count: 5 / 6\n");
}

TEST(ParameterLayouts, AreFoundByArityAndElseByFamilyAlone) {
  const auto table = [](const std::string& arity, const std::string& name) {
    return R"({"layouts":[{"family":"f",)" + arity + R"("parameter":0,"bytes":4,"fields":[{"name":")" + name +
           R"(","offset":0,"size":4,"type":"int"}]}]})";
  };
  ParameterLayouts layouts;
  layouts.add(table("", "any"), "any");
  layouts.add(table("\"arity\":[3,19],", "of_19"), "of_19");
  EXPECT_EQ(layouts.find("f", {3, 19}, 0, 4)->at(0).name, "of_19");
  EXPECT_EQ(layouts.find("f", {3, 20}, 0, 4)->at(0).name, "any");
  EXPECT_EQ(layouts.find("f", {3, 19}, 0, 8), nullptr);
  EXPECT_EQ(layouts.find("f", {3, 19}, 1, 4), nullptr);
  EXPECT_THROW(layouts.add(table("\"arity\":\"3\",", "x"), "x"), Error);
}

TEST(ParameterLayouts, AskForTextsOfTheNameWhereTheArityDoesNotTellStructsApart) {
  ParameterLayouts layouts;
  layouts.add(R"({"layouts":[
    {"family":"f","arity":[2],"where":["g::Sum<","float"],"parameter":0,"bytes":4,
     "fields":[{"name":"sum","offset":0,"size":4,"type":"int"}]},
    {"family":"f","arity":[2],"where":["g::Product<"],"parameter":0,"bytes":4,
     "fields":[{"name":"product","offset":0,"size":4,"type":"int"}]}]})",
              "where");
  EXPECT_EQ(layouts.find("f", {2}, 0, 4, "f<g::Sum<float>, int>")->at(0).name, "sum");
  EXPECT_EQ(layouts.find("f", {2}, 0, 4, "f<g::Product<int>, int>")->at(0).name, "product");
  EXPECT_EQ(layouts.find("f", {2}, 0, 4, "f<g::Sum<int>, int>"), nullptr);
  EXPECT_THROW(
      layouts.add(R"({"layouts":[{"family":"f","where":"x","parameter":0,"bytes":4,"fields":[]}]})", "x"),
      Error);
}

/// A GEMM of CUTLASS 4 for Hopper, by the function that makes its output.
std::string gemm(const std::string& thread =
                     "cutlass::epilogue::thread::LinearCombination<float, 1, float, float, "
                     "(cutlass::epilogue::thread::ScaleType::Kind)0, "
                     "(cutlass::FloatRoundStyle)2, float>") {
  const std::string
      stride = "cute::tuple<long, cute::C<1>, long>",
      layout =
          "cute::ComposedLayout<cute::Swizzle<3, 4, 3>, cute::smem_ptr_flag_bits<32>, "
          "cute::Layout<cute::tuple<cute::C<8>, cute::C<32>>, cute::tuple<cute::C<32>, cute::C<1>>>>";
  const std::string load = "cute::SM90_TMA_LOAD_MULTICAST, " + layout + ", void, cute::identity";
  return "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int, int, int>, "
         "cutlass::gemm::collective::CollectiveMma<cutlass::gemm::MainloopSm90TmaGmmaWarpSpecialized<7, "
         "cute::tuple<cute::C<4>, cute::C<2>, cute::C<1>>, "
         "cutlass::gemm::KernelTmaWarpSpecializedCooperative>, "
         "cute::tuple<cute::C<128>, cute::C<128>, cute::C<32>>, float, " +
         stride + ", float, " + stride + ", cute::TiledMMA<int>, " + load + ", " + load +
         ">, cutlass::epilogue::collective::detail::Sm90TmaWarpSpecializedAdapter<"
         "cutlass::epilogue::collective::DefaultEpilogue<float, " +
         stride + ", " + stride + ", " + thread +
         ", cutlass::gemm::EpilogueDefault>>, void, void>>(cutlass::gemm::kernel::Params)";
}

TEST(ParameterLayouts, NameTheSizesOfCutlassGemm) {
  const auto launch = [](int rows, float alpha, std::uint8_t padding, const std::string& name) {
    LaunchGroup group;
    group.name = parse_kernel_name(name);
    group.count = 1;
    group.first.arguments_known = true;
    ArgumentBytes bytes;
    bytes.bytes.resize(1024);
    std::memcpy(bytes.bytes.data() + 4, &rows, sizeof rows);
    std::memcpy(bytes.bytes.data() + 768, &alpha, sizeof alpha);
    bytes.bytes[100] = padding;
    group.varying.assign(1, std::vector<std::uint8_t>(1024, 0));
    group.first.arguments = {std::move(bytes)};
    return group;
  };
  const ParameterLayouts layouts = ParameterLayouts::for_captures({});
  EXPECT_EQ(differences(launch(4096, 1, 7, gemm()), launch(2048, 2, 9, gemm()), layouts),
            "M: 4096 / 2048\nalpha: 1 / 2\n");
  // Of another epilogue no table knows the struct: its words decide nothing.
  const std::string other = gemm("mine::Epilogue<float>");
  EXPECT_EQ(differences(launch(4096, 1, 7, other), launch(2048, 2, 9, other), layouts), "");
}

TEST(FieldNames, DependOnTheFieldsThatTheirRulesName) {
  const std::vector<Field> fields = {
      {"shape", 0, 4, "int"}, {"cu", 8, 8, "pointer"}, {"batch", 16, 4, "int"}};
  const FieldRules rules = {read_field_rule("batch", "b unless cu"), read_field_rule("absent", "never"),
                            read_field_rule("shape", "page if absent; total if cu ;seqlen")};
  ArgumentBytes argument;
  argument.bytes.resize(24);
  const auto names = [&] {
    std::string all;
    for (const NamedField& each : named_fields(fields, &rules, argument))
      all += each.name + (each.known ? "! " : " ");
    return all;
  };
  EXPECT_EQ(names(), "b! seqlen! cu ");
  argument.bytes[15] = 1;
  EXPECT_EQ(names(), "total! cu batch ");
  for (const char* text : {"", " ", "a b", "a if", "if x", "a if x y", "a;", ";a"})
    EXPECT_THROW(read_field_rule("f", text), Error) << text;
}

}  // namespace
}  // namespace isomer::lab
