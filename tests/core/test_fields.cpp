// The tables of arguments and options say what the structs of C++ and C are: names, kinds, defaults, places.
#include <gtest/gtest.h>

#include "c_api/entry.hpp"
#include "core/fields.hpp"
#include "core/registry.hpp"

#include <isomer/sin.hpp>

#include <set>

namespace isomer::core {
namespace {

enum class Colour : std::uint8_t { red, green, blue };
struct PaintArgs {
  Tensor wall, brush;
};
struct PaintOptions {
  std::int64_t coats = 2;
  int litres = -3;
  float gloss = 0.25f;
  bool dry = true;
  Colour colour = Colour::green;
};
struct paint_args {
  isomer_uint64 size;
  const isomer_tensor* wall;
  const isomer_tensor* brush;
};
struct paint_options {
  isomer_uint64 size;
  int colour;
  int dry;
  isomer_int64 litres;
  double gloss;
  isomer_int64 coats;
};

const Contract& paint() {
  static const Contract contract = finish({
      .op = "paint",
      .summary = "for tests",
      .source = "tests",
      .args = args<PaintArgs, paint_args>(
          tensor<&PaintArgs::wall, &paint_args::wall>({.dtypes = {DType::f32}, .shapes = {"N"}}),
          tensor<&PaintArgs::brush, &paint_args::brush>({.optional = true, .dtypes = {DType::f32}})),
      .options = options<PaintOptions, paint_options>(
          option<&PaintOptions::coats, &paint_options::coats>("how often"),
          option<&PaintOptions::litres, &paint_options::litres>("how much", "enough"),
          option<&PaintOptions::gloss, &paint_options::gloss>("how bright"),
          option<&PaintOptions::dry, &paint_options::dry>("whether it dries"),
          option<&PaintOptions::colour, &paint_options::colour>("which colour")),
  });
  return contract;
}

TEST(Fields, HaveTheNamesKindsAndDefaultsOfTheirMembers) {
  using Kind = Option::Kind;
  const std::vector<Option>& list = paint().options;
  ASSERT_EQ(list.size(), 5u);
  const struct {
    const char *name, *type, *fallback;
    Kind kind;
    double value;
  } kWant[] = {{"coats", "int", "2", Kind::integer, 2},
               {"litres", "int", "enough", Kind::integer, -3},
               {"gloss", "f32", "0.25", Kind::f32, 0.25},
               {"dry", "bool", "true", Kind::boolean, 1},
               {"colour", "red | green | blue", "green", Kind::choice, 1}};
  for (std::size_t i = 0; i < list.size(); ++i) {
    EXPECT_EQ(list[i].name, kWant[i].name);
    EXPECT_EQ(list[i].type(), kWant[i].type) << list[i].name;
    EXPECT_EQ(list[i].fallback, kWant[i].fallback) << list[i].name;
    EXPECT_EQ(list[i].kind, kWant[i].kind) << list[i].name;
    EXPECT_EQ(list[i].value, kWant[i].value) << list[i].name;
  }
}

TEST(Fields, CountTheMembersOfAStruct) {
  static_assert(member_count<PaintArgs>() == 2 && member_count<paint_args>() == 3);
  static_assert(member_count<PaintOptions>() == 5 && member_count<paint_options>() == 6);
  static_assert(member_count<SinOptions>() == 0 && member_count<isomer_sin_options>() == 1);
  EXPECT_EQ(paint().args.size(), 2u);
}

TEST(Fields, BindTheTensorsInTheOrderOfTheContract) {
  float data[3] = {};
  PaintArgs tensors{.wall = Tensor(data, DType::f32, {3}), .brush = {}};
  const PaintOptions chosen;
  const Call call = bind(paint(), tensors, chosen);
  ASSERT_EQ(call.count, 2);
  EXPECT_EQ(call.tensors[0], &tensors.wall);
  EXPECT_EQ(call.tensors[1], &tensors.brush);
}

TEST(Fields, ReadTheStructsOfC) {
  std::int64_t shape = 3;
  float data[3] = {};
  const isomer_tensor wall = {data, {ISOMER_CPU, 0}, 1, ISOMER_F32, &shape, nullptr, 0};
  const paint_args given = {sizeof given, &wall, nullptr};
  PaintArgs tensors;
  c::fill_args(paint(), &given, &tensors);
  EXPECT_EQ(tensors.wall.data, data);
  EXPECT_FALSE(tensors.brush.defined());

  // More litres than an int has room for.
  const paint_options wanted = {sizeof wanted, 2, 7, INT64_MAX, 1.5, -1};
  PaintOptions chosen;
  c::fill_options(paint(), &wanted, &chosen);
  EXPECT_EQ(chosen.colour, Colour::blue);
  EXPECT_TRUE(chosen.dry);
  EXPECT_EQ(chosen.litres, INT_MAX);
  EXPECT_EQ(chosen.gloss, 1.5f);
  EXPECT_EQ(chosen.coats, -1);
  const paint_options violet = {sizeof violet, 3, 0, 0, 0, 0};
  try {
    c::fill_options(paint(), &violet, &chosen);
    FAIL() << "a colour that is none was taken";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "paint: colour is 3, expected 0 to 2");
  }
}

TEST(Fields, SayWhichChoiceIsNoEnumerator) {
  const PaintArgs tensors;
  PaintOptions chosen;
  EXPECT_EQ(not_an_enumerator(bind(paint(), tensors, chosen)), std::nullopt);
  chosen.colour = static_cast<Colour>(7);
  EXPECT_EQ(not_an_enumerator(bind(paint(), tensors, chosen)),
            "colour is 7, expected red (0), green (1) or blue (2)");
}

TEST(Fields, RefuseARowThatIsThereTwice) {
  Contract twice = paint();
  twice.offsets.clear();
  twice.options[1] = twice.options[0];
  EXPECT_THROW(finish(twice), Error);
  twice = paint();
  twice.offsets.clear();
  twice.args[1] = twice.args[0];
  EXPECT_THROW(finish(twice), Error);
}

TEST(Fields, OfEveryOpAreInTheCAbi) {
  ASSERT_FALSE(Registry::builtin().ops().empty());
  for (const Registry::Op& op : Registry::builtin().ops()) {
    std::set<std::size_t> places;
    for (const Arg& arg : op.contract->args) {
      EXPECT_NE(arg.offset_in_c, kNotInC) << op.contract->op << ": " << arg.name;
      EXPECT_TRUE(places.insert(arg.offset_in_c).second) << op.contract->op << ": " << arg.name;
    }
    places.clear();
    for (const Option& option : op.contract->options) {
      EXPECT_NE(option.offset_in_c, kNotInC) << op.contract->op << ": " << option.name;
      EXPECT_TRUE(places.insert(option.offset_in_c).second) << op.contract->op << ": " << option.name;
      EXPECT_FALSE(option.meaning.empty()) << op.contract->op << ": " << option.name;
    }
  }
}

}  // namespace
}  // namespace isomer::core
