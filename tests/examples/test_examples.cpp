// Every example runs and prints what its text says.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <regex>
#include <set>
#include <string>

#include <sys/wait.h>

namespace {

struct Example {
  const char* program;
  const char* prints;  ///< a regular expression of the whole output
};

const Example kExamples[] = {
    {"sin", "0\\.000000\n0\\.479426\n0\\.841471\n0\\.997495\n"},
    {"act_quant",
     "block 0: scale 0\\.01771763, last element 0x7e\nblock 1: scale 0\\.03557478, last element 0x7e\n"
     "block 2: scale 0\\.05343192, last element 0x7e\nblock 3: scale 0\\.07128906, last element 0x7e\n"},
    {"weight_dequant", "1 2\n3 4\n"},
    {"fp8_gemm", "within FP8's rounding of the product in f32\n"},
    {"decoder_layer", "[0-4]\\.[0-9]+ % off the layer in double\n"},
    {"expert_layer", "451\\.0 451\\.0 -1\\.0\n225\\.5 -1\\.0 -1\\.0\n"},
    {"grouped_fp8_gemm", "128 128 128 128\n-1 -1 -1 -1\n384 384 -1 -1\n"},
    {"quantize_copy_kv",
     "slot 0: 31 63 95 127, scale 0\\.314961\nslot 1: 99 99 99 99, scale 99\\.000000\n"
     "slot 2: 0 0 0 0, scale 0\\.000000\nslot 3: 99 99 99 99, scale 99\\.000000\n"
     "slot 4: 99 99 99 99, scale 99\\.000000\nslot 5: 31 63 95 -127, scale 0\\.031496\n"},
    {"flash_decode", "6\\.500 14\\.000\n"},
    {"attention",
     "query 0: out 0\\.000, denominator 1\\.000\nquery 1: out 0\\.500, denominator 2\\.000\n"
     "query 2: out 1\\.000, denominator 3\\.000\nquery 3: out 1\\.500, denominator 4\\.000\n"},
    {"attention_in_c",
     "query 0: out 0\\.000, ln of the denominator 0\\.0000\nquery 1: out 0\\.500, ln of the denominator "
     "0\\.6931\n"
     "query 2: out 1\\.000, ln of the denominator 1\\.0986\nquery 3: out 1\\.500, ln of the denominator "
     "1\\.3863\n"},
    {"merge_attention", "the halves merged equal attention over all keys\n"},
    {"plan",
     "layer 0: 0\\.000\nlayer 1: 1\\.000\nlayer 2: 2\\.000\n"
     "attention: out overlaps q in memory, expected an output of its own\n"},
    {"bundle", "f32\\[3, 4\\] strides \\[16, 2\\], last element 38, op sin\n"},
    {"standalone_attention",
     "(not [^\n]*\n)*attention runs on cpu/[^\n]*\n=+ KERNEL INSTANTIATION =+\n(.*=.*\n)+=+ RUNTIME PARAMS "
     "=+\n"
     "(.*=.*\n)+=+ COMPUTED =+\n(.*=.*\n)+( [^\n]*grid [^\n]*\n)+ran in [0-9.]+ ms\n"},
};

void PrintTo(const Example& example, std::ostream* out) { *out << example.program; }

class Examples : public testing::TestWithParam<Example> {};

TEST_P(Examples, PrintWhatTheyPromise) {
  FILE* pipe = popen((std::string(ISOMER_EXAMPLES "/") + GetParam().program + " 2>&1").c_str(), "r");
  std::string text;
  char part[4096];
  while (const std::size_t read = fread(part, 1, sizeof part, pipe)) text.append(part, read);
  EXPECT_EQ(pclose(pipe), 0) << text;
  EXPECT_TRUE(std::regex_match(text, std::regex(GetParam().prints))) << text;
}

INSTANTIATE_TEST_SUITE_P(Programs, Examples, testing::ValuesIn(kExamples),
                         [](const auto& example) { return std::string(example.param.program); });

TEST(ExampleTable, HasEveryProgramOfTheFolder) {
  std::set<std::string> in_folder, in_table;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(ISOMER_EXAMPLE_SOURCES)) {
    const bool port = entry.path().string().starts_with(ISOMER_EXAMPLE_SOURCES "/ports/");  // no programs
    if (!port && (entry.path().extension() == ".cpp" || entry.path().extension() == ".c"))
      in_folder.insert(entry.path().stem());
  }
  for (const Example& example : kExamples) in_table.insert(example.program);
  EXPECT_EQ(in_table, in_folder);
}

TEST(StandaloneAttention, SaysWhatIsWrongWithItsArguments) {
  FILE* pipe = popen(ISOMER_EXAMPLES "/standalone_attention 1 16 16 3 128 2>&1", "r");
  char text[512] = {};
  const std::size_t read = fread(text, 1, sizeof text - 1, pipe);
  EXPECT_EQ(WEXITSTATUS(pclose(pipe)), 1);
  EXPECT_EQ(std::string(text, read), "attention: k has 3 kv heads, which do not divide 16 query heads\n");
}

}  // namespace
