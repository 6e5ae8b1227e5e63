// What an audit says of instructions: each seeded contradiction is found, its clean twin is not.
#include "audited.hpp"

namespace isomer::lab {
namespace {

class AuditOfInstructions : public Audited {
 protected:
  /// quantise(K [S, H, D] f16, dest [S] i32, scale [N, H, 1] f16), with a block of 1024.
  AuditOfInstructions() {
    sources(R"(
import triton
import triton.language as tl

@triton.jit
def _kernel(K, dest, scale, BLOCK_SIZE: tl.constexpr):
    tl.store(scale, tl.load(K))

def quantise(K, dest, scale, group=0):
    _kernel[(1,)](K, dest, scale, BLOCK_SIZE=1024)
)",
            "quantise(K, dest, scale)\nprint(scale)\n");
    for (int i = 0; i < 2; ++i)
      call("quantise", {tensor_value("K", DType::f16, {4, 2, 8}), indices("dest", {2, 0, 1, 3}),
                        tensor_value("scale", DType::f16, {4, 2, 1})});
  }
  Findings said(const std::string& text) {
    instruction(text);
    return found();
  }
};

TEST_F(AuditOfInstructions, ThatSayWhatIsFindNothing) {
  EXPECT_EQ(said("- K: float16 tensor [S, H, D]\n"
                 "- dest: int32 tensor [S]\n"
                 "* `scale` (half), shape (N, H, 1)\n"
                 "quantise(K, dest, scale)\n"
                 "BLOCK_SIZE = 1024\n"
                 "1. scale = max(abs(K[token, head])) / 127 in float32\n"
                 "2. K is divided in float32\n"),
            Findings{});
}

TEST_F(AuditOfInstructions, ADtypeThatTheTestDoesNotPassIsFound) {
  for (const char* text : {"- K: float32 tensor", "K (fp32): the keys", "* `K`, `scale`: torch.float32",
                           "    at::Tensor K,               // [seq_len, head_num, d_model] float32",
                           "1) **K** - at::kFloat", "- K:\n    the keys, as float32"}) {
    const Findings findings = said(text);
    ASSERT_FALSE(findings.empty()) << text;
    EXPECT_EQ(findings[0], "instruction contradicts-label K @1") << text;
  }
  EXPECT_EQ(said("- K: float16 or float32").size(), 0u);
  EXPECT_EQ(said("K is summed in float32").size(), 0u);
  EXPECT_EQ(said("K [4, 2, 8] and scale of the same dtype. Sums in float32, rounded once.").size(), 0u);
  EXPECT_EQ(said("- K: float32 tensor. Read only.").size(), 1u);
  EXPECT_EQ(said("- K: any float").size(), 0u);
}

TEST_F(AuditOfInstructions, ADtypeIsReadInProseTablesCodeAndChinese) {
  for (const char* text :
       {"The kernel must accept float32 K of shape [S, H, D].", "| `K` | `float32` | `[S, H, D]` |",
        "参数：K 必须是 float32 类型的三维张量；dest 为 int32", "Input K: torch.float32",
        "Input: K, a float32 tensor of rank 3 [S, H, D]",
        "void quantise(const float* K, const int* dest, __half* scale);", "K must be a float32 tensor.",
        "TORCH_CHECK(K.scalar_type() == at::kFloat, \"no\")", "assert K.dtype == torch.float32",
        "Expected dtypes: K=float32, dest=int32, scale=float16"}) {
    EXPECT_EQ(said(text), (Findings{"instruction contradicts-label K @1"})) << text;
  }
  for (const char* text :
       {"The kernel must accept float16 K of shape [S, H, D].", "| `K` | `float16` | `[S, H, D]` |",
        "参数：K 必须是 float16 类型的三维张量；dest 为 int32", "K 不是 float32", "K must not be float32",
        "void quantise(const __half* K, const int* dest, __half* scale); float* shared;",
        "Convert to float32 K and scale.", "It need not take float32 K.", "K was float32 once.",
        "An earlier port took float32 K only; this time support half.",
        "K=float16, dest=int32, scale=float16", "Sums are kept in float32 K-major order.",
        "TORCH_CHECK(K.scalar_type() == at::kHalf || K.scalar_type() == at::kFloat)",
        "float32 K or float16 K"})
    EXPECT_EQ(said(text), Findings{}) << text;
}

TEST_F(AuditOfInstructions, WhatStandsFarBehindInALongLineIsRead) {
  std::string english, chinese;
  for (int i = 0; i < 100; ++i) {
    english += "Every row is held against the original's on the same inputs; ";
    chinese += "每一行都与原来的结果比较，";
  }
  for (const char* dtype : {"float32", "float16"}) {
    const Findings expected =
        std::string(dtype) == "float32" ? Findings{"instruction contradicts-label K @1"} : Findings{};
    EXPECT_EQ(said(english + "the kernel must accept " + dtype + " K of shape [S, H, D]."), expected);
    EXPECT_EQ(said(english + "K: " + dtype + " tensor [S, H, D]"), expected);
    EXPECT_EQ(said(chinese + "K 必须是 " + dtype + " 类型的三维张量。"), expected);
  }
  EXPECT_EQ(said(english + "call quantise(K, dest)"), (Findings{"instruction contradicts-label scale @1"}));
  EXPECT_EQ(said(english + "BLOCK_SIZE = 256"), (Findings{"instruction contradicts-label BLOCK_SIZE @1"}));
}

TEST_F(AuditOfInstructions, TheDtypeOfAFormulaIsNoArguments) {
  for (const char* text : {"`0.5 * K * (1 + tanh(K))` in float32", "- `K * 0.5` in float32",
                           "K / scale, float32", "* K + 1: float32"})
    EXPECT_EQ(said(text), Findings{}) << text;
}

TEST_F(AuditOfInstructions, AnotherOrderOfTheArgumentsIsFound) {
  EXPECT_EQ(said("Arguments, in this order: dest, K, scale."),
            (Findings{"instruction contradicts-label @1"}));
  EXPECT_EQ(said("void quantise(dest, K, scale, group)"), (Findings{"instruction contradicts-label @1"}));
  EXPECT_EQ(said("Arguments, in this order: K, dest, scale."), Findings{});
  EXPECT_EQ(said("They are visited in this order: dest first, then K and scale."), Findings{});
}

TEST_F(AuditOfInstructions, ARankThatTheTestDoesNotPassIsFound) {
  for (const char* text :
       {"- scale: tensor [out_rows, head_num]", "scale (shape (rows, heads)): half", "scale: a 2-D tensor",
        "scale: rank 2", "at::Tensor scale // [rows, heads]", "scale has two dimensions: row and head.",
        "scale 是二维张量（float16）。", "scale must be two-dimensional", "if (scale.dim() != 2) throw 1;",
        "| scale | float16 | [rows, heads] |"})
    EXPECT_EQ(said(text), (Findings{"instruction contradicts-label scale @1"})) << text;
  for (const char* text :
       {"- scale: tensor [rows, heads, 1]", "scale: [..., 1]", "scale: [rows, *]",
        "scale[dest[token], head] = s", "scale: shape of K without its last dimension", "scale: a 3-D tensor",
        "scale has three dimensions", "scale 是三维张量", "TORCH_CHECK(scale.dim() == 2 || scale.dim() == 3)",
        "a two-dimensional grid of blocks"})
    EXPECT_EQ(said(text), Findings{}) << text;
}

TEST_F(AuditOfInstructions, AnotherNumberOfArgumentsIsFound) {
  EXPECT_EQ(said("Export quantise(K, dest)"), (Findings{"instruction contradicts-label scale @1"}));
  EXPECT_EQ(said("\nvoid quantise(at::Tensor K, at::Tensor scale)"),
            (Findings{"instruction contradicts-label dest @2"}));
  EXPECT_EQ(said("The exported function takes two arguments."),
            (Findings{"instruction contradicts-label @1"}));
  EXPECT_EQ(said("函数接收两个参数。"), (Findings{"instruction contradicts-label @1"}));
  EXPECT_EQ(said("Port quantise (both stages) to HIP."), Findings{});
  EXPECT_EQ(said("The function takes three arguments; the kernel of one block has 2 parameters."),
            Findings{});
  EXPECT_EQ(said("The function takes 4 arguments."), Findings{});
  // A port in C takes sizes as well; an example of a call is no signature.
  EXPECT_EQ(said("quantise(K, dest, scale, rows, heads)"), Findings{});
  EXPECT_EQ(said("quantise(K, dest, scale, group)"), Findings{});
  EXPECT_EQ(said("requantise(K)"), Findings{});
  EXPECT_EQ(said("call quantise(...)"), Findings{});
}

TEST_F(AuditOfInstructions, CountsInWordsAreHeldAgainstLabelAndCalls) {
  const std::string extension = "Write it as a PyTorch extension.\n";
  EXPECT_EQ(said(extension + "The function takes five arguments."),
            (Findings{"instruction contradicts-label @2"}));
  EXPECT_EQ(said(extension + "The function takes four arguments."), Findings{});
  EXPECT_EQ(said(extension + "void quantise(const half* K, int n)\nThe function takes five arguments."),
            (Findings{"instruction contradicts-label dest @2"}));
  EXPECT_EQ(said("The function accepts two input tensors."), (Findings{"instruction contradicts-label @1"}));
  EXPECT_EQ(said("The function accepts three tensors."), Findings{});
  EXPECT_EQ(said("The function accepts four tensors."), Findings{});
  EXPECT_EQ(said(extension + "The function accepts four tensors."),
            (Findings{"instruction contradicts-label @2"}));
  EXPECT_EQ(said("The kernel of the function takes two tensors."), Findings{});
  // Nothing is given back: what is written is meant.
  EXPECT_EQ(said("The function returns two tensors."), Findings{});
  for (RecordedCall& each : recording.calls) each.returned = {tensor_value("", DType::f16, {4})};
  EXPECT_EQ(said("The function returns two tensors."), (Findings{"instruction contradicts-label @1"}));
  EXPECT_EQ(said("quantise returns 1 tensors."), Findings{});
}

TEST_F(AuditOfInstructions, AnotherBlockSizeIsFound) {
  EXPECT_EQ(said("- Set block size: `BLOCK_SIZE = 256`"),
            (Findings{"instruction contradicts-label BLOCK_SIZE @1"}));
  EXPECT_EQ(said("BLOCK_SIZE: 256 threads"), (Findings{"instruction contradicts-label BLOCK_SIZE @1"}));
  EXPECT_EQ(said("Use BLOCK=256 threads."), (Findings{"instruction contradicts-label BLOCK_SIZE @1"}));
  EXPECT_EQ(said("A block size of 256."), (Findings{"instruction contradicts-label BLOCK_SIZE @1"}));
  EXPECT_EQ(said("any block size will do, 256 threads are a start"), Findings{});
  EXPECT_EQ(said("MY_BLOCK_SIZE = 256"), Findings{});
  EXPECT_EQ(said("choose BLOCK_SIZE as you like"), Findings{});
}

TEST_F(AuditOfInstructions, BytesThatAreNoTextAreReadWithoutHarm) {
  std::string bytes = "K: ";
  for (int i = 0; i < 100000; ++i) bytes += static_cast<char>(i * 7);
  EXPECT_EQ(said(bytes), Findings{});
  EXPECT_EQ(said(std::string(100000, 'K')), Findings{});
  EXPECT_EQ(said(std::string(100000, '[')), Findings{});
}

TEST(AuditOfExamples, QuantizeCopyKvHasTheFaultsOfItsReadme) {
  const CaseFolder folder = find_cases(ISOMER_PORTS "/quantize_copy_kv").at(0);
  Findings all;
  for (const Finding& each : audit(folder, load_recording(folder.recording.string())))
    all.push_back(std::string(each.subject == Subject::test ? "test " : "instruction ") + name_of(each.code) +
                  " " + each.argument);
  EXPECT_EQ(all, (Findings{"test output-not-compared Out_scale", "test unseeded ",
                           "instruction contradicts-label K", "instruction contradicts-label Out_scale",
                           "instruction contradicts-label Out_scale"}));
}

TEST(AuditOfExamples, SinHasAContradictionOfItsBlockSizeAlone) {
  const CaseFolder folder = find_cases(ISOMER_PORTS "/sin").at(0);
  const std::vector<Finding> all = audit(folder, load_recording(folder.recording.string()));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].code, Code::contradicts_label);
  EXPECT_EQ(all[0].argument, "BLOCK_SIZE");
  EXPECT_NE(all[0].evidence.find("BLOCK_SIZE = 256, but the label launches with 1024"), std::string::npos);
}

TEST(AuditOfExamples, TheCorrectedCasesAreClean) {
  for (const char* name :
       {"quantize_copy_kv", "flash_decode_stage2", "sin", "act_quant", "fp8_gemm", "attention"}) {
    const CaseFolder folder = find_cases(std::string(ISOMER_PORTS "/") + name + "_corrected").at(0);
    for (const Finding& each : audit(folder, load_recording(folder.recording.string())))
      ADD_FAILURE() << name << ": " << each.code << " " << each.argument << ": " << each.evidence;
  }
}

}  // namespace
}  // namespace isomer::lab
