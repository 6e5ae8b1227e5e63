#include "bundle/bundle.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>
#include <thread>

namespace isomer {
namespace {

namespace fs = std::filesystem;

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

/// The elements in row-major order.
std::vector<std::uint8_t> row_major(const Tensor& tensor) {
  std::vector<std::uint8_t> bytes;
  const std::int64_t element = size_of(tensor.dtype);
  bundle::for_each_row(tensor, [&](const std::byte* row) {
    for (std::int64_t j = 0; j < (tensor.rank > 0 ? tensor.size(-1) : 1); ++j) {
      const std::byte* at = row + (tensor.rank > 0 ? j * tensor.stride(-1) : 0) * element;
      for (std::int64_t b = 0; b < element; ++b) bytes.push_back(static_cast<std::uint8_t>(at[b]));
    }
  });
  return bytes;
}

class Bundles : public testing::Test {
 protected:
  Bundles() : folder(testing::TempDir() + "bundles_" + std::to_string(getpid())) {
    fs::create_directories(folder);
  }
  ~Bundles() override { fs::remove_all(folder); }

  std::string path(const std::string& name = "b.safetensors") const { return folder / name; }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
    return names;
  }
  std::string refusal(ErrorCode code, const std::vector<NamedTensor>& tensors,
                      const std::map<std::string, std::string>& metadata = {}, std::string to = "") const {
    try {
      save(to.empty() ? path() : to, tensors, metadata);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      return error.what();
    }
    return "accepted";
  }

  fs::path folder;
  std::vector<float> values = [] {
    std::vector<float> v(4096);
    std::iota(v.begin(), v.end(), 0.0f);
    return v;
  }();
};

TEST_F(Bundles, KeepEveryTypeBitForBit) {
  std::vector<NamedTensor> tensors;
  std::vector<std::uint8_t> patterns(12 * 8);
  std::iota(patterns.begin(), patterns.end(), std::uint8_t{120});
  for (int type = 1; type < kDTypeCount; ++type)
    tensors.push_back({std::string(name_of(static_cast<DType>(type))),
                       Tensor(patterns.data(), static_cast<DType>(type), {3, 4})});
  save(path(), tensors);
  const Bundle bundle = load(path());
  ASSERT_EQ(bundle.tensors().size(), tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    EXPECT_EQ(bundle.tensors()[i].name, tensors[i].name);
    EXPECT_EQ(bundle.tensors()[i].tensor.dtype, tensors[i].tensor.dtype);
    EXPECT_EQ(row_major(bundle.tensors()[i].tensor), row_major(tensors[i].tensor));
  }
  EXPECT_EQ(bundle.metadata().size(), 0u);
}

TEST_F(Bundles, KeepStridesWithTheValuesRowMajorInTheFile) {
  const float* v = values.data();
  const std::vector<NamedTensor> tensors = {
      {"compact", Tensor(v, DType::f32, {3, 5})},
      {"transposed", Tensor::strided(v, DType::f32, {3, 5}, {1, 3})},
      {"padded", Tensor::strided(v, DType::f32, {2, 3, 4}, {100, 8, 1})},
      {"broadcast", Tensor::strided(v, DType::f32, {4, 6}, {0, 1})},
      {"inner", Tensor::strided(v, DType::f32, {7}, {2})},
      {"repeated", Tensor::strided(v, DType::f32, {7}, {0})},
      {"window", Tensor::strided(v, DType::f32, {4, 3}, {1, 1})},
      {"scalar", Tensor(v + 9, DType::f32, {})},
      {"empty", Tensor(nullptr, DType::f32, {2, 0, 3})},
      {"ones", Tensor::strided(v, DType::f32, {1, 1}, {77, 99})},
  };
  save(path(), tensors, {{"op", "none"}});
  const Bundle bundle = load(path());
  for (const auto& [name, tensor] : tensors) {
    const Tensor& read = bundle[name];
    EXPECT_EQ(row_major(read), row_major(tensor)) << name;
    ASSERT_EQ(read.rank, tensor.rank) << name;
    for (int d = 0; d < tensor.rank; ++d) {
      EXPECT_EQ(read.size(d), tensor.size(d)) << name;
      if (!tensor.is_contiguous()) {
        EXPECT_EQ(read.stride(d), tensor.stride(d)) << name;
      }
    }
    if (!read.empty()) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(read.data) % 64, 0u) << name;
    }
  }
  EXPECT_EQ(bundle["empty"].data, nullptr);
  EXPECT_EQ(bundle.metadata(), (std::map<std::string, std::string>{{"op", "none"}}));
  // Another reader sees each tensor compact: 15 + 15 + 24 + 24 + 7 + 7 + 12 + 1 + 0 + 1 elements.
  const std::string bytes = bytes_of(path());
  std::uint64_t header = 0;
  std::memcpy(&header, bytes.data(), 8);
  EXPECT_EQ(bytes.size() - 8 - header, 106 * sizeof(float));
  EXPECT_EQ((8 + header) % 64, 0u);
}

TEST_F(Bundles, PutZeroBetweenTheElementsOfAStridedTensor) {
  save(path(), {{"x", Tensor::strided(values.data() + 1, DType::f32, {3}, {2})}});
  const Bundle bundle = load(path());
  const auto* x = static_cast<const float*>(bundle["x"].data);
  EXPECT_EQ(std::vector<float>(x, x + 5), (std::vector<float>{1, 0, 3, 0, 5}));
}

TEST_F(Bundles, KeepFarStridesWithoutTouchingWhatLiesBetween) {
  // 2^36 elements apart: 256 GiB of addresses (a sanitizer leaves less than 1.5 TiB in all), two pages of
  // memory.
  std::string json = R"({"__metadata__":{"strides":"{\"x\":[68719476736]}"},)"
                     R"("x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  const std::uint64_t length = json.size();
  std::ofstream file(path(), std::ios::binary);
  file.write(reinterpret_cast<const char*>(&length), 8);
  file << json;
  file.write(reinterpret_cast<const char*>(values.data() + 1), 8);
  file.close();
  const Bundle bundle = load(path());
  EXPECT_EQ(*bundle["x"].at<float>(0), 1.0f);
  EXPECT_EQ(*bundle["x"].at<float>(1), 2.0f);
}

TEST_F(Bundles, KeepNamesAndTextOfAnyKind) {
  const std::string odd("a \"quoted\" \\ name\n with é, 😀 and \0 in it", 42);
  save(path(), {{odd, Tensor(values.data(), DType::f32, {2})}}, {{odd, odd}, {"", ""}});
  const Bundle bundle = load(path());
  EXPECT_EQ(bundle.tensors()[0].name, odd);
  EXPECT_EQ(bundle.metadata(), (std::map<std::string, std::string>{{odd, odd}, {"", ""}}));
}

TEST_F(Bundles, MayBeEmpty) {
  save(path(), {});
  EXPECT_TRUE(load(path()).tensors().empty());
}

TEST_F(Bundles, AreTheSameBytesForTheSameTensors) {
  const std::vector<NamedTensor> tensors = {{"b", Tensor(values.data(), DType::u8, {3})},
                                            {"a", Tensor(values.data(), DType::f32, {3})}};
  save(path("1"), tensors, {{"k", "v"}});
  save(path("2"), tensors, {{"k", "v"}});
  EXPECT_EQ(bytes_of(path("1")), bytes_of(path("2")));
}

TEST_F(Bundles, OutliveTheirCopiesAndTheFile) {
  save(path(), {{"x", Tensor(values.data(), DType::f32, {1000})}});
  Tensor x;
  {
    const Bundle first = load(path());
    const Bundle copy = first;
    fs::remove(path());
    x = copy["x"];
    EXPECT_EQ(first["x"].data, x.data);
    EXPECT_EQ(std::memcmp(x.data, values.data(), 4000), 0);
    // Ops that write in place may write into a bundle's memory.
    *x.at<float>(0) = 7.0f;
  }
}

TEST_F(Bundles, NameWhatTheyHoldWhereATensorIsMissing) {
  save(path(),
       {{"q", Tensor(values.data(), DType::f32, {1})}, {"k", Tensor(values.data(), DType::f32, {1})}});
  const Bundle bundle = load(path());
  EXPECT_EQ(bundle.find("v"), nullptr);
  try {
    bundle["v"];
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "bundle: no tensor v; there are q, k");
    EXPECT_EQ(error.code(), ErrorCode::bad_argument);
  }
}

TEST_F(Bundles, OfOtherWritersAreReadWithTheirStrides) {
  int bundles = 0, strided = 0;
  for (const auto& entry : fs::recursive_directory_iterator(ISOMER_TEST_DATA "/recordings")) {
    if (entry.path().extension() != ".safetensors") continue;
    const Bundle bundle = load(entry.path());
    ++bundles;
    EXPECT_FALSE(bundle.tensors().empty()) << entry.path();
    EXPECT_TRUE(bundle.metadata().contains("op")) << entry.path();
    for (const auto& [name, tensor] : bundle.tensors()) strided += !tensor.is_contiguous();
    // Written again, the file holds the same tensors.
    save(path(), bundle.tensors(), bundle.metadata());
    const Bundle again = load(path());
    EXPECT_EQ(again.metadata(), bundle.metadata());
    for (const auto& [name, tensor] : bundle.tensors()) {
      EXPECT_EQ(row_major(again[name]), row_major(tensor)) << entry.path() << " " << name;
      EXPECT_EQ(again[name].describe(), tensor.describe());
    }
  }
  EXPECT_GT(bundles, 100);
  EXPECT_GT(strided, 10);
}

TEST_F(Bundles, AreWrittenWholeOrNotAtAll) {
  save(path(), {{"old", Tensor(values.data(), DType::f32, {4})}});
  save(path(), {{"new", Tensor(values.data(), DType::f32, {4})}});
  EXPECT_NE(load(path()).find("new"), nullptr);
  EXPECT_EQ(files(), std::vector<std::string>{"b.safetensors"});
  // A folder of that name cannot be replaced by a file; nothing stays behind.
  fs::create_directory(folder / "taken");
  fs::create_directory(folder / "taken" / "inside");
  EXPECT_EQ(refusal(ErrorCode::io, {{"x", Tensor(values.data(), DType::f32, {4})}}, {}, path("taken")),
            "save: cannot write " + path("taken") + ": Is a directory");
  EXPECT_EQ(files().size(), 2u);
  EXPECT_EQ(refusal(ErrorCode::io, {}, {}, path("no/such/folder")),
            "save: cannot write " + path("no/such/folder") + ": No such file or directory");
}

TEST_F(Bundles, MayBeWrittenByManyThreadsAtOnce) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) save(path(), {{"x", Tensor(values.data(), DType::f32, {4096})}});
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::memcmp(load(path())["x"].data, values.data(), 4096 * 4), 0);
  EXPECT_EQ(files(), std::vector<std::string>{"b.safetensors"});
}

TEST_F(Bundles, AreNotWrittenFromTensorsThatCannotBeSaved) {
  const Tensor fine(values.data(), DType::f32, {2});
  Tensor ranked = fine, negative = fine;
  ranked.rank = 9;
  negative.shape[0] = -2;
  const ErrorCode bad = ErrorCode::bad_argument;
  EXPECT_EQ(refusal(bad, {{"x", {}}}), "save: tensor x is absent");
  EXPECT_EQ(refusal(bad, {{"x", fine}, {"x", fine}}), "save: tensor x is there twice");
  EXPECT_EQ(refusal(bad, {{"__metadata__", fine}}),
            "save: tensor __metadata__ has a name that the format keeps for itself");
  EXPECT_EQ(refusal(bad, {{"\xff", fine}}), "save: a tensor's name is not UTF-8");
  EXPECT_EQ(refusal(bad, {{"x", Tensor(values.data(), DType::f32, {2}, {DeviceType::cuda, 0})}}),
            "save: tensor x is on cuda:0, expected cpu; copy it to the host first");
  EXPECT_EQ(refusal(bad, {{"x", ranked}}), "save: tensor x has 9 dimensions, expected 0 to 8");
  ranked.rank = -1;
  EXPECT_EQ(refusal(bad, {{"x", ranked}}), "save: tensor x has -1 dimensions, expected 0 to 8");
  Tensor typed = fine;
  typed.dtype = static_cast<DType>(200);
  EXPECT_EQ(refusal(bad, {{"x", typed}}), "save: tensor x has an unknown dtype");
  EXPECT_EQ(refusal(bad, {{"x", negative}}), "save: tensor x has size -2 in dimension 0, expected 0 or more");
  EXPECT_EQ(refusal(bad, {{"x", Tensor::strided(values.data(), DType::f32, {2}, {-1})}}),
            "save: tensor x has stride -1 in dimension 0, expected 0 or more");
  EXPECT_EQ(refusal(bad, {{"x", Tensor(nullptr, DType::f32, {2})}}), "save: tensor x has no data");
  EXPECT_EQ(refusal(bad, {{"x", Tensor(values.data(), DType::f32, {INT64_MAX, 4})}}),
            "save: tensor x spans more bytes than an address has");
  EXPECT_EQ(refusal(bad, {}, {{"strides", "{}"}}), "save: metadata strides is a key that save itself writes");
  EXPECT_EQ(refusal(bad, {}, {{"key", "\xff"}}), "save: metadata key is not UTF-8");
  EXPECT_EQ(files(), std::vector<std::string>{});
}

}  // namespace
}  // namespace isomer
