#include "core/json_reader.hpp"

#include <isomer/error.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <map>

namespace isomer::core {
namespace {

std::string refusal(const std::string& text, const std::function<void(JsonReader&)>& read) {
  try {
    JsonReader json(text, "the text");
    read(json);
    json.end();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io);
    return error.what();
  }
  return "accepted";
}

std::string string_of(const std::string& text) {
  JsonReader json(text, "the text");
  std::string value = json.string();
  json.end();
  return value;
}

std::int64_t integer_of(const std::string& text) {
  JsonReader json(text, "the text");
  const std::int64_t value = json.integer();
  json.end();
  return value;
}

TEST(JsonReader, ReadsObjectsOfArraysWithSpaceAnywhere) {
  JsonReader json(" { \"a\" : [ 1 , 2 ] ,\n\"b\":[]\t} ", "the text");
  std::map<std::string, std::vector<std::int64_t>> read;
  json.object([&](const std::string& key) {
    read[key];
    json.array([&] { read[key].push_back(json.integer()); });
  });
  json.end();
  EXPECT_EQ(read, (std::map<std::string, std::vector<std::int64_t>>{{"a", {1, 2}}, {"b", {}}}));
}

TEST(JsonReader, ReadsEveryEscape) {
  EXPECT_EQ(string_of(R"("\"\\\/\b\f\n\r\t")"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(string_of(R"("\u0041\u00e9\u20AC\ud83d\ude00")"), "Aé€😀");
  EXPECT_EQ(string_of(R"("\u0000")"), std::string(1, '\0'));
}

TEST(JsonReader, ReadsTheWholeRangeOfInt64) {
  EXPECT_EQ(integer_of("0"), 0);
  EXPECT_EQ(integer_of("-0"), 0);
  EXPECT_EQ(integer_of("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(integer_of("-9223372036854775808"), INT64_MIN);
}

TEST(JsonReader, RefusesWhatJsonIsNot) {
  const auto text = [](JsonReader& json) { json.string(); };
  const auto number = [](JsonReader& json) { json.integer(); };
  const auto object = [](JsonReader& json) { json.object([&](const std::string&) { json.integer(); }); };
  const auto array = [](JsonReader& json) { json.array([&] { json.integer(); }); };
  const struct {
    const char* json;
    std::function<void(JsonReader&)> read;
    const char* why;
  } table[] = {
      {"", text, "byte 0: expected a string"},
      {"'a'", text, "byte 0: expected a string"},
      {"\"a", text, "byte 2: the string has no end"},
      {"\"a\nb\"", text, "byte 2: a control character in a string"},
      {"\"\\x\"", text, "byte 2: an unknown escape"},
      {"\"\\", text, "byte 2: an unknown escape"},
      {"\"\\u12g4\"", text, "byte 5: \\u without four hexadecimal digits"},
      {"\"\\ud800\"", text, "byte 7: half of a surrogate pair"},
      {"\"\\ud800\\u0041\"", text, "byte 13: half of a surrogate pair"},
      {"\"\\udc00\"", text, "byte 7: half of a surrogate pair"},
      {"\"\xff\"", text, "byte 3: the string before it is not UTF-8"},
      {"\"\xc0\xaf\"", text, "byte 4: the string before it is not UTF-8"},
      {"\"\xed\xa0\x80\"", text, "byte 5: the string before it is not UTF-8"},
      {"\"\xe2\x82\"", text, "byte 4: the string before it is not UTF-8"},
      {"\"\xf4\x90\x80\x80\"", text, "byte 6: the string before it is not UTF-8"},
      {"\"a\" b", text, "byte 4: text after the end"},
      {"", number, "byte 0: expected a whole number"},
      {"-", number, "byte 1: expected a whole number"},
      {"+1", number, "byte 0: expected a whole number"},
      {"01", number, "byte 0: a number with a leading zero"},
      {"1.0", number, "byte 1: expected a whole number"},
      {"1e3", number, "byte 1: expected a whole number"},
      {"9223372036854775808", number, "byte 18: a number beyond 64 bits"},
      {"-9223372036854775809", number, "byte 19: a number beyond 64 bits"},
      {"true", number, "byte 0: expected a whole number"},
      {"[1,2", array, "byte 4: expected ','"},
      {"[1,]", array, "byte 3: expected a whole number"},
      {"[,1]", array, "byte 1: expected a whole number"},
      {"[1 2]", array, "byte 3: expected ','"},
      {"[1}", array, "byte 2: expected ','"},
      {"{\"a\":1,}", object, "byte 7: expected a string"},
      {"{\"a\" 1}", object, "byte 5: expected ':'"},
      {"{a:1}", object, "byte 1: expected a string"},
      {"{\"a\":1,\"a\":2}", object, "byte 10: the key \"a\" is there twice"},
      {"{\"a\":1,\"\\u0061\":2}", object, "byte 15: the key \"a\" is there twice"},
      {"{\"a\":1", object, "byte 6: expected ','"},
      {"[1]", object, "byte 0: expected '{'"},
  };
  for (const auto& row : table)
    EXPECT_EQ(refusal(row.json, row.read), std::string("the text is not valid at ") + row.why) << row.json;
}

TEST(Quoted, ComesBackThroughTheReader) {
  std::string all;
  for (int c = 0; c < 128; ++c) all += static_cast<char>(c);
  all += "é€😀";
  EXPECT_EQ(string_of(json_quoted(all)), all);
}

}  // namespace
}  // namespace isomer::core
