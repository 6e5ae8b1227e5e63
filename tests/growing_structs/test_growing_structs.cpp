// A program built against an earlier header passes a shorter struct; what it does not know keeps its default.
#include "c_api/entry.hpp"

#include <gtest/gtest.h>

#include <string>

namespace isomer::c {
namespace {

struct Earlier {
  isomer_uint64 size;
  isomer_int64 a;
};
struct Now {
  isomer_uint64 size;
  isomer_int64 a;
  double b;
};
constexpr Now kDefaults = {sizeof(Now), 1, 2.5};

/// The struct as the library sees the bytes of a caller's.
template <class Given>
Now seen(const Given& given) {
  union {
    Given given;
    Now now;
  } bytes{.given = given};
  return read("op", "options", &bytes.now, kDefaults, sizeof(Earlier));
}

std::string refusal(isomer_uint64 size) {
  try {
    seen(Now{size, 0, 0});
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_argument);
    return error.what();
  }
  return "accepted";
}

TEST(GrowingStructs, KeepTheDefaultsOfFieldsThatTheCallerDoesNotKnow) {
  const Now read = seen(Earlier{sizeof(Earlier), 7});
  EXPECT_EQ(read.a, 7);
  EXPECT_EQ(read.b, 2.5);
}

TEST(GrowingStructs, TakeEveryFieldThatTheCallerKnows) {
  const Now read = seen(Now{sizeof(Now), 7, 0.5});
  EXPECT_EQ(read.a, 7);
  EXPECT_EQ(read.b, 0.5);
}

TEST(GrowingStructs, AreRefusedAtSizesBeforeTheFirstHeaderAndAfterThisOne) {
  EXPECT_EQ(refusal(0), "op: options.size is 0, expected 24; begin the struct with its _INIT macro");
  EXPECT_EQ(refusal(8), "op: options.size is 8, expected 24; begin the struct with its _INIT macro");
  EXPECT_EQ(refusal(32), std::string("op: options.size is 32, but this library, version ") +
                             isomer_version() + ", knows 24; it is older than the header of the program");
}

}  // namespace
}  // namespace isomer::c
