// Files that are not what they claim to be: each is refused with one sentence that says where.
#include "bundle/bundle.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include <sys/stat.h>

namespace isomer {
namespace {

std::string with_length(const std::string& json, const std::string& data, std::uint64_t length) {
  std::string file(8, '\0');
  std::memcpy(file.data(), &length, 8);
  return file + json + data;
}
std::string file_of(const std::string& json, const std::string& data = "") {
  return with_length(json, data, json.size());
}
std::string entry(const std::string& name, const std::string& dtype, const std::string& shape,
                  const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets +
         "}";
}
std::string strided(const std::string& strides, const std::string& shape, std::size_t elements) {
  return file_of(R"({"__metadata__":{"strides":")" + strides + R"("},)" +
                     entry("x", "U8", shape, "[0," + std::to_string(elements) + "]") + "}",
                 std::string("\1\2\3\4\5\6", elements));
}

std::string refusal(const std::string& bytes, ErrorCode code = ErrorCode::io) {
  try {
    bundle::read_bundle("f", bytes.size(), [&](std::uint64_t offset, void* to, std::size_t count) {
      ASSERT_LE(offset + count, bytes.size());
      std::memcpy(to, bytes.data() + offset, count);
    });
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "accepted";
}

TEST(BrokenBundles, AreRefusedWithOneSentence) {
  const std::string one = entry("x", "F32", "[2]", "[0,8]");
  const std::string eight(8, '\0');
  const struct {
    std::string bytes, why;
  } table[] = {
      {"", "it has 0 bytes, too few for a safetensors file"},
      {"\2\0\0", "it has 1 bytes, too few for a safetensors file"},
      {with_length("{}", "", 100),
       "it claims a header of 100 bytes, but ends 2 bytes after the length; it is cut off"},
      {with_length("{}", "", UINT64_MAX),
       "it claims a header of 18446744073709551615 bytes, where the format allows 100000000; it is no "
       "safetensors file"},
      {file_of(""), "the header does not begin with {"},
      {file_of(" {}"), "the header does not begin with {"},
      {file_of("[]"), "the header does not begin with {"},
      {file_of("{"), "the header is not valid at byte 1: expected a string"},
      {file_of("{}}"), "the header is not valid at byte 2: text after the end"},
      {file_of(std::string("{}\0", 3)), "the header is not valid at byte 2: text after the end"},
      {file_of("{\"\xff\":1}"), "the header is not valid at byte 4: the string before it is not UTF-8"},
      {file_of("{\"x\":1}"), "the header is not valid at byte 5: expected '{'"},
      {file_of("{" + one + "," + one + "}", eight),
       "the header is not valid at byte 57: the key \"x\" is there twice"},
      {file_of(R"({"__metadata__":{"a":1}})"), "the header is not valid at byte 21: expected a string"},
      {file_of(R"({"__metadata__":{"a":"1","a":"2"}})"),
       "the header is not valid at byte 28: the key \"a\" is there twice"},
      {file_of(R"({"__metadata__":{},"__metadata__":{}})"),
       "the header is not valid at byte 33: the key \"__metadata__\" is there twice"},
      {file_of(R"({"x":{}})"), "x lacks one of dtype, shape and data_offsets"},
      {file_of(R"({"x":{"dtype":"F32","shape":[2]}})", eight),
       "x lacks one of dtype, shape and data_offsets"},
      {file_of(R"({"x":{"dtype":"F32","colour":1}})"),
       "x has the field colour, expected dtype, shape and data_offsets"},
      {file_of("{" + entry("x", "U16", "[4]", "[0,8]") + "}", eight),
       "x has elements of type U16, which Isomer does not have"},
      {file_of("{" + entry("x", "F32", "[-2]", "[0,8]") + "}", eight),
       "x has -2 in its shape, expected 0 or more"},
      {file_of("{" + entry("x", "F32", "[2.0]", "[0,8]") + "}", eight),
       "the header is not valid at byte 30: expected a whole number"},
      {file_of("{" + entry("x", "U8", "[1,1,1,1,1,1,1,1,8]", "[0,8]") + "}", eight),
       "x has 9 dimensions, Isomer's tensors at most 8"},
      {file_of("{" + entry("x", "F32", "[3]", "[0,8]") + "}", eight),
       "x has 8 bytes of data, but its shape and type ask for 12"},
      {file_of("{" + entry("x", "F32", "[4611686018427387904,4]", "[0,8]") + "}", eight),
       "x has 8 bytes of data, but its shape and type ask for more than 64 bits count"},
      {file_of("{" + entry("x", "F32", "[4611686018427387904,4,0]", "[0,8]") + "}", eight),
       "x has 8 bytes of data, but its shape and type ask for 0"},
      {file_of("{" + entry("x", "F32", "[2]", "[8,0]") + "}", eight),
       "x's data_offsets are not a begin and an end"},
      {file_of("{" + entry("x", "F32", "[2]", "[0,4,8]") + "}", eight),
       "x's data_offsets are not a begin and an end"},
      {file_of("{" + entry("x", "F32", "[2]", "[-8,0]") + "}", eight),
       "x has -8 in its data_offsets, expected 0 or more"},
      {file_of("{" + one + "}", "1234567"),
       "the header speaks of 8 bytes of data, but the file has 7; it is cut off"},
      {file_of("{" + one + "}", "123456789"), "the header speaks of 8 bytes of data, but the file has 9"},
      {file_of("{}", "1"), "the header speaks of 0 bytes of data, but the file has 1"},
      {file_of("{" + entry("x", "F32", "[1]", "[4,8]") + "}", eight),
       "x's data begin at byte 4, but the data before them end at 0"},
      {file_of("{" + one + "," + entry("y", "F32", "[2]", "[4,12]") + "}", eight + "1234"),
       "y's data begin at byte 4, but the data before them end at 8"},
      {file_of("{" + one + "," + entry("y", "F32", "[2]", "[0,8]") + "}", eight),
       "y's data begin at byte 0, but the data before them end at 8"},
      {file_of("{" + one + "," + entry("y", "F32", "[1]", "[12,16]") + "}", eight + eight),
       "y's data begin at byte 12, but the data before them end at 8"},
      {file_of("{" + entry("x", "U8", "[9223372036854775807]", "[0,9223372036854775807]") + "}", eight),
       "the header speaks of 9223372036854775807 bytes of data, but the file has 8; it is cut off"},
      {strided("", "[6]", 6), "metadata strides is not valid at byte 0: expected '{'"},
      {strided("{\\\"x\\\":[1]} 1", "[6]", 6),
       "metadata strides is not valid at byte 10: text after the end"},
      {strided("{\\\"x\\\":[1,1]}", "[6]", 6), "x has 1 dimensions but 2 strides"},
      {strided("{\\\"x\\\":[-1]}", "[6]", 6), "x has -1 in its strides, expected 0 or more"},
      {strided("{\\\"y\\\":[1]}", "[6]", 6), "metadata strides names y, but the file has no such tensor"},
      {strided("{\\\"x\\\":[9223372036854775807]}", "[6]", 6),
       "x's strides span more bytes than 64 bits count"},
      {strided("{\\\"x\\\":[0]}", "[6]", 6), "x's strides give one place in memory to elements that differ"},
      {strided("{\\\"x\\\":[1,1]}", "[2,3]", 6),
       "x's strides give one place in memory to elements that differ"},
  };
  for (const auto& row : table) {
    // The subject is "load: f: " or, inside the header's text, "load: f: the header …".
    EXPECT_EQ(refusal(row.bytes), "load: f: " + row.why);
  }
  // Every prefix of a good file is refused too.
  const std::string good = file_of("{" + one + "}", eight);
  EXPECT_EQ(refusal(good), "accepted");
  for (std::size_t cut = 0; cut < good.size(); ++cut)
    EXPECT_NE(refusal(good.substr(0, cut)), "accepted") << cut;
}

TEST(BrokenBundles, AskingForMoreMemoryThanThereCanBeAreRefused) {
  EXPECT_EQ(refusal(strided("{\\\"x\\\":[1152921504606846976]}", "[6]", 6), ErrorCode::out_of_memory),
            "load: f: its tensors span 5764607523034234944 bytes, which cannot be allocated");
}

TEST(Load, RefusesWhatIsNoReadableFile) {
  const auto why = [](const std::string& path) {
    try {
      load(path);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::io);
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  const std::string folder = testing::TempDir();
  EXPECT_EQ(why(folder + "absent"), "load: cannot read " + folder + "absent: No such file or directory");
  EXPECT_EQ(why(folder), "load: cannot read " + folder + ": it is a directory");
  EXPECT_EQ(why(""), "load: cannot read : No such file or directory");
  const std::string pipe = folder + "isomer_pipe_" + std::to_string(getpid());
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(why(pipe), "load: cannot read " + pipe + ": it is not a regular file");
  std::filesystem::remove(pipe);
}

}  // namespace
}  // namespace isomer
