// Pairs of files of which it is known in what they differ: the command says that, and says it first.
#include "lab/diff/messages.hpp"
#include "tests/captures/launches.hpp"

#include <isomer/error.hpp>

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <sys/wait.h>
#include <cstdlib>
#include <functional>

namespace isomer::lab {
namespace {

std::string binary(const std::string& name) {
  return std::string(ISOMER_TEST_DATA) + "/trace/fixtures/" + name;
}
std::string capture(const std::string& name) {
  return std::string(ISOMER_TEST_DATA) + "/captures/fixtures/" + name;
}

/// A trace as PyTorch's profiler writes it.
struct Trace {
  std::string device = "NVIDIA H100 80GB HBM3";
  int multiprocessors = 132, major = 9, minor = 0;
  struct Kernel {
    std::string name;
    int count = 1;
    double microseconds = 10;
    std::string operation = {};
  };
  std::vector<Kernel> kernels;
  bool device_recorded = true;

  std::string text() const {
    nlohmann::json trace;
    trace["deviceProperties"] = {{{"id", 0},
                                  {"name", device},
                                  {"numSms", multiprocessors},
                                  {"computeMajor", major},
                                  {"computeMinor", minor}}};
    nlohmann::json& events = trace["traceEvents"] = nlohmann::json::array();
    int id = 0;
    for (const Kernel& kernel : kernels)
      for (int i = 0; i < kernel.count; ++i) {
        ++id;
        if (!kernel.operation.empty())
          events.push_back({{"ph", "X"},
                            {"cat", "cpu_op"},
                            {"name", kernel.operation},
                            {"args", {{"External id", id}, {"Input Dims", {{8, 16}}}}}});
        events.push_back({{"ph", "X"},
                          {"cat", "cuda_runtime"},
                          {"name", "cudaLaunchKernel"},
                          {"args", {{"External id", id}, {"correlation", id}}}});
        if (device_recorded)
          events.push_back(
              {{"ph", "X"},
               {"cat", "kernel"},
               {"name", kernel.name},
               {"ts", id * 100},
               {"dur", kernel.microseconds},
               {"args", {{"correlation", id}, {"grid", {8, 1, 1}}, {"block", {128, 1, 1}}, {"device", 0}}}});
      }
    return trace.dump();
  }
};

const char* const kAttention = "void attention<128, true>(float*)";
const char* const kNorm = "void norm<256>(float*)";

Trace two_kernels() {
  return {.kernels = {{kAttention, 8, 50, "aten::attention"}, {kNorm, 8, 5, "aten::norm"}}};
}
std::string changed(const std::function<void(Trace&)>& change) {
  Trace trace = two_kernels();
  change(trace);
  return trace.text();
}

std::string ncu(double instructions, double dram, double cycles) {
  return "\"ID\",\"Process ID\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\",\"Grid "
         "Size\",\"Device\",\"CC\",\"smsp__inst_executed.sum\",\"dram__bytes.sum\",\"smsp__cycles_active."
         "avg\"\n"
         "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"inst\",\"byte\",\"cycle\"\n"
         "\"0\",\"1\",\"void attention<128>(float*)\",\"1\",\"7\",\"(128, 1, 1)\",\"(8, 1, "
         "1)\",\"0\",\"9.0\",\"" +
         std::to_string(instructions) + "\",\"" + std::to_string(dram) + "\",\"" + std::to_string(cycles) +
         "\"\n";
}

/// A file, or the text of one. What is long is made where it is asked for: every test lists all of them.
class File {
 public:
  File(std::string file) : make_([file = std::move(file)] { return file; }) {}
  explicit File(std::function<std::string()> make) : make_(std::move(make)) {}
  /// A path, which begins with '/', or a text.
  std::string get() const { return make_(); }

 private:
  std::function<std::string()> make_;
};

using ChangeOfLayer = std::function<void(std::vector<Trace::Kernel>&, int layer)>;

std::string model_text(int layers, const ChangeOfLayer& change) {
  Trace trace;
  for (int step = 0; step < 2; ++step) {
    trace.kernels.push_back({"void embedding<256>(float*)", 1, 5});
    for (int layer = 0; layer < layers; ++layer) {
      std::vector<Trace::Kernel> kernels;
      for (const char* name :
           {"void norm<256>(float*)", "void gemm<128,128>(float*)", "void rotary(float*)", kAttention,
            "void gemm<128,64>(float*)", "void norm<256>(float*)", "void gemm<256,128>(float*)",
            "void silu(float*)", "void gemm<128,256>(float*)"})
        kernels.push_back({name, 1, 20});
      if (change) change(kernels, layer);
      trace.kernels.insert(trace.kernels.end(), kernels.begin(), kernels.end());
    }
    trace.kernels.push_back({"void norm<256>(float*)", 1, 4});
    trace.kernels.push_back({"void head<128>(float*)", 1, 100});
  }
  return trace.text();
}
/// Two steps of a model of `layers` layers, of nine launches each; `change` makes each layer's launches
/// another's.
File model(int layers, const ChangeOfLayer& change = {}) {
  return File([=] { return model_text(layers, change); });
}
using Layer = std::vector<Trace::Kernel>;

/// Attention of two releases of one library: the later one's main loop has one more parameter.
std::string release(const char* mainloop) {
  return changed([&](Trace& trace) {
    trace.kernels[0].name =
        std::string(
            "void cutlass::device_kernel<flash::enable_sm90<flash::FlashAttnFwdSm90<"
            "flash::CollectiveMainloopFwdSm90<2, cute::tuple<cute::C<1>, cute::C<1>, cute::C<1>>, "
            "cute::tuple<cute::C<128>, cute::C<176>, cute::C<128>>, ") +
        mainloop + ">, int, int>>>(int)";
  });
}

struct Truth {
  std::string what;
  File a, b;
  int exit;
  std::string kind;  ///< of the most important pair; "only" for a kernel of one side; "" for no answer
  std::string says;  ///< the first sentence about the difference holds it
};
void PrintTo(const Truth& truth, std::ostream* out) { *out << truth.what; }

std::string with_other_toolkit(const std::string& file) {
  std::string bytes = content_of(file);
  for (std::size_t at = 0; (at = bytes.find("V13.0.88", at)) != std::string::npos;)
    bytes.replace(at, 8, "V12.9.41");
  return bytes;
}

const std::vector<Truth>& truths() {
  static const std::vector<Truth> all = {
      {"one file", binary("base.cubin"), binary("base.cubin"), 0, "same", "have the same machine code"},
      {"another folder", binary("folder_one.fatbin"), binary("folder_two.fatbin"), 0, "same",
       "4 kernels have the same machine code"},
      {"another folder, for a device link", binary("folder_one.fatbin"), binary("folder_two-rdc=true.fatbin"),
       0, "same", "4 kernels have the same machine code"},
      {"one more closure", binary("folder_one.fatbin"), binary("folder_one-DONE_MORE.fatbin"), 1, "only",
       "1 kernel only in B"},
      {"an option of ptxas", binary("base.cubin"), binary("maxrregcount.cubin"), 1, "code",
       "option --maxrregcount none → 24"},
      {"an option that leaves no trace", binary("base.cubin"), binary("fast_math.cubin"), 1, "code",
       "options of nvcc that leave no trace"},
      {"the source", binary("base.cubin"), binary("source.cubin"), 1, "code", "the sources differ"},
      {"the architecture", binary("base.cubin"), binary("sm_80.cubin"), 1, "code", "arch sm_90a → sm_80"},
      {"the toolkit", binary("base.cubin"), with_other_toolkit(binary("source.cubin")), 1, "code",
       "compiler ptxas 13.0.88 → ptxas 12.9.41"},
      {"a number of a template", binary("base.cubin"), binary("block.cubin"), 1, "variant", "#0 128 → 64"},
      {"a flag of a template", binary("base.cubin"), binary("causal.cubin"), 1, "variant", "#1 true → false"},

      {"one capture", capture("argument.jsonl"), capture("argument.jsonl"), 0, "same",
       "The same kernels, launched in the same way"},
      {"a template parameter at run time", capture("base.jsonl"), capture("template.jsonl"), 1, "variant",
       "Another instantiation of family::soft_rows: #0 is 32 in A and 64 in B"},
      {"an option at run time", capture("base.jsonl"), capture("option.jsonl"), 1, "code",
       "has other machine code"},
      {"a launch", capture("base.jsonl"), capture("launch.jsonl"), 1, "geometry", "with another geometry"},
      {"an argument", capture("base.jsonl"), capture("argument.jsonl"), 1, "arguments", "other arguments"},
      {"another run of FlashAttention-3", capture("fa3/plain.jsonl"), capture("fa3/again.jsonl"), 0, "same",
       "The same kernels, launched in the same way"},
      {"FlashAttention-3 through PyTorch", capture("fa3/standalone.jsonl"), capture("fa3/pytorch.jsonl"), 1,
       "only", "Only B runs 1 kernel (at::native::vectorized_elementwise_kernel)"},
      {"causal", capture("fa3/plain.jsonl"), capture("fa3/causal.jsonl"), 1, "variant",
       "mainloop.Is_causal is false in A and true in B"},
      {"variable lengths", capture("fa3/plain.jsonl"), capture("fa3/varlen.jsonl"), 1, "only",
       "Only B runs 1 kernel (flash::prepare_varlen_num_blocks_kernel)"},
      {"the length of keys", capture("fa3/plain.jsonl"), capture("fa3/keys.jsonl"), 1, "arguments",
       "seqlen_k is 1285 in A and 1024 in B"},
      {"a capture that was cut", capture("base.jsonl"), capture("killed.jsonl"), 2, "", "is incomplete"},

      {"one trace", two_kernels().text(), two_kernels().text(), 0, "same",
       "The same kernels, launched in the same way"},
      {"the architecture of the device", two_kernels().text(), changed([](Trace& trace) {
         trace.device = "NVIDIA A100-SXM4-80GB";
         trace.multiprocessors = 108;
         trace.major = 8;
         for (Trace::Kernel& kernel : trace.kernels) kernel.microseconds *= 2;
       }),
       1, "time",
       "Different machines: NVIDIA H100 80GB HBM3 (132 SMs, sm_90) and NVIDIA A100-SXM4-80GB (108 SMs, "
       "sm_80)."},
      {"the device", two_kernels().text(), changed([](Trace& trace) {
         trace.device = "NVIDIA H200";
         for (Trace::Kernel& kernel : trace.kernels) kernel.microseconds *= 0.8;
       }),
       1, "time",
       "Different devices of one architecture: NVIDIA H100 80GB HBM3 (132 SMs, sm_90) and NVIDIA H200 (132 "
       "SMs, "
       "sm_90)"},
      {"a slower kernel", two_kernels().text(),
       changed([](Trace& trace) { trace.kernels[1].microseconds = 20; }), 1, "time",
       "GPU time: 440.00 µs in A (16 launches), 560.00 µs in B (16 launches), +27.3 %. Most of the "
       "difference is "
       "norm<256>: +120.00 µs of +120.00 µs."},
      {"more launches", two_kernels().text(), changed([](Trace& trace) { trace.kernels[1].count = 9; }), 1,
       "count", "launches is 8 in A and 9 in B"},
      {"an additional kernel", two_kernels().text(), changed([](Trace& trace) {
         trace.kernels.push_back({"void cast(float*)", 8, 2});
       }),
       1, "only", "Only B runs 1 kernel (cast"},
      {"one operation by three kernels", two_kernels().text(), changed([](Trace& trace) {
         trace.kernels[0] = {"void scores(float*)", 8, 30, "aten::attention"};
         trace.kernels.insert(trace.kernels.begin() + 1, {"void softmax(float*)", 8, 9, "aten::attention"});
         trace.kernels.insert(trace.kernels.begin() + 2, {"void values(float*)", 8, 30, "aten::attention"});
       }),
       1, "only",
       "aten::attention [[8,16]] is attention in A and 3 kernels (scores, softmax, values) in B: one "
       "operation"},
      {"other kernels on another vendor's device", two_kernels().text(), changed([](Trace& trace) {
         trace.device = "AMD Instinct MI300X";
         trace.multiprocessors = 304;
         trace.minor = 4;
         trace.kernels[0] = {"attention_mfma", 1, 50};
       }),
       1, "only", "and AMD Instinct MI300X (304 CUs, gfx94x)"},
      {"a time that others take back", two_kernels().text(), changed([](Trace& trace) {
         trace.kernels[0].microseconds = 30;
         trace.kernels[1].microseconds = 15;
       }),
       1, "time",
       "attention<128, true> differs most, by -160.00 µs; all else together differs by +80.00 µs."},
      {"one more kernel in each layer", model(32),
       model(32,
             [](Layer& layer, int) {
               layer.insert(layer.begin() + 3, {"void cast(float*)", 1, 2});
             }),
       1, "only", "Only B runs 1 kernel (cast), in each of 32 layers of 9 launches, after rotary"},
      {"a kernel that no layer has any more", model(32),
       model(32, [](Layer& layer, int) { layer.erase(layer.begin() + 2); }), 1, "only",
       "Only A runs 1 kernel (rotary), in each of 32 layers of 9 launches, after gemm"},
      {"one more kernel in one layer", model(32),
       model(32,
             [](Layer& layer, int number) {
               if (number == 7) layer.insert(layer.begin() + 3, {"void cast(float*)", 1, 2});
             }),
       1, "only", "Only B runs 1 kernel (cast), in layer 8 of 32 (9 launches each), after rotary"},
      {"a template parameter in some layers", model(32),
       model(32,
             [](Layer& layer, int number) {
               if (number % 2 == 0) layer[3].name = "void attention<128, false>(float*)";
             }),
       1, "variant",
       "Another instantiation of attention, in 16 of 32 layers of 9 launches (layer 1 is the first): #1 is "
       "true "
       "in A and false in B"},
      {"a step of each layer by three kernels", model(32),
       model(32,
             [](Layer& layer, int) {
               layer[3].name = "void scores(float*)";
               layer.insert(layer.begin() + 4,
                            {{"void softmax(float*)", 1, 9}, {"void values(float*)", 1, 30}});
             }),
       1, "only",
       "Between rotary and gemm, in each of 32 layers of 9 launches, A runs attention and B runs 3 kernels "
       "(scores, softmax, values): one step by other kernels"},
      {"more layers", model(32), model(40), 1, "count",
       "9 launches repeat 32 times in A and 40 times in B: another number of layers or steps"},
      {"a release of the library",
       release("cutlass::half_t, float, cutlass::arch::Sm90, false, false, false, false, false, false, true, "
               "true, false, false, false"),
       release("128, cutlass::half_t, float, cutlass::arch::Sm90, false, false, false, false, false, false, "
               "true, true, false, false, false"),
       1, "variant",
       "Another release of the library that has flash::FlashAttnFwdSm90: added parameters "
       "mainloop.kHeadDimV"},
      {"a profile without the device", two_kernels().text(),
       changed([](Trace& trace) { trace.device_recorded = false; }), 2, "",
       "was not recording CUDA activities"},
      {"an empty profile", changed([](Trace& trace) { trace.kernels.clear(); }), two_kernels().text(), 2, "",
       "has no kernel of a GPU, and"},

      {"counters of another run", ncu(1000000, 5000000, 900), ncu(1000000, 5100000, 1300), 0, "same",
       "The same kernels, launched in the same way"},
      {"three times the instructions", ncu(1000000, 5000000, 900), ncu(3000000, 5000000, 2500), 1, "metric",
       "smsp__inst_executed.sum [inst] is 1000000 in A and 3000000 (×3.00) in B"},
      {"more bytes of device memory", ncu(1000000, 5000000, 900), ncu(1000000, 22500000, 2500), 1, "metric",
       "dram__bytes.sum [byte] is 5000000 in A and 22500000 (×4.50) in B"},
  };
  return all;
}

class KnownTruth : public testing::TestWithParam<Truth> {};

TEST_P(KnownTruth, IsTheVerdictAndTheFirstSentence) {
  const Truth& truth = GetParam();
  const Folder folder;
  const auto path = [&](const char* name, const File& given) {
    const std::string file = given.get();
    return file.starts_with('/') ? file : folder.file(name, file);
  };
  const std::string out = folder.path / "out", err = folder.path / "err";
  const int status =
      std::system((std::string("env -u ISOMER_LAYOUTS ") + ISOMER_CLI + " diff '" + path("a", truth.a) +
                   "' '" + path("b", truth.b) + "' --json >" + out + " 2>" + err)
                      .c_str());
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), truth.exit) << content_of(err);
  if (truth.exit == 2) {
    EXPECT_NE(content_of(err).find(truth.says), std::string::npos) << content_of(err);
    return;
  }
  const nlohmann::json json = nlohmann::json::parse(content_of(out));
  EXPECT_EQ(json["verdict"], truth.exit == 0 ? "same" : "different");
  // Where both sides ran, and then what differs.
  std::string first;
  for (std::size_t i = 0; i < std::min<std::size_t>(2, json["sentences"].size()); ++i)
    first += json["sentences"][i].get<std::string>() + "\n";
  EXPECT_NE(first.find(truth.says), std::string::npos) << json["sentences"].dump(1);
  const bool only = !json["only_a"].empty() || !json["only_b"].empty();
  static const std::vector<std::string> kOrder = {"variant", "geometry", "arguments", "code",
                                                  "count",   "metric",   "time",      "same"};
  std::size_t most = kOrder.size() - 1;
  for (const nlohmann::json& pair : json["pairs"])
    most = std::min(most, static_cast<std::size_t>(std::find(kOrder.begin(), kOrder.end(), pair["kind"]) -
                                                   kOrder.begin()));
  EXPECT_EQ(only ? "only" : kOrder[most], truth.kind) << json["pairs"].dump(1);
}

INSTANTIATE_TEST_SUITE_P(Diff, KnownTruth, testing::ValuesIn(truths()), [](const auto& info) {
  std::string name;
  for (const char c : info.param.what) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
});

TEST(Diff, TellsWhereTheTimeWentByKernelAndByOperator) {
  const Folder folder;
  const std::string a = folder.file("a", two_kernels().text()),
                    b = folder.file("b", changed([](Trace&trace) {
                                      trace.kernels[1].microseconds = 20;
                                      trace.kernels[0].microseconds = 45;
                                    }));
  const std::string out = folder.path / "out";
  EXPECT_NE(std::system((std::string(ISOMER_CLI) + " diff " + a + " " + b + " --json >" + out).c_str()), 0);
  const nlohmann::json json = nlohmann::json::parse(content_of(out));
  ASSERT_EQ(json["times"].size(), 2u);
  EXPECT_EQ(json["times"][0]["name"], "norm<256>");
  EXPECT_NEAR(json["times"][0]["b_ns"].get<double>() - json["times"][0]["a_ns"].get<double>(), 120e3, 1);
  EXPECT_NEAR(json["times"][0]["share"].get<double>(), 0.75, 1e-9);
  EXPECT_NEAR(json["times"][1]["cumulative"].get<double>(), 1, 1e-9);
  ASSERT_EQ(json["operators"].size(), 2u);
  EXPECT_EQ(json["operators"][0]["name"], "aten::norm [[8,16]]");
  EXPECT_EQ(json["operators"][1]["launches_a"], 8);
  const std::string page = folder.path / "page.html";
  EXPECT_NE(std::system(
                (std::string(ISOMER_CLI) + " diff " + a + " " + b + " --html " + page + " >" + out).c_str()),
            0);
  const std::string html = content_of(page);
  const std::size_t norm = html.find("+120.00 µs"), attention = html.find("-40.00 µs");
  EXPECT_TRUE(norm != std::string::npos && attention != std::string::npos && norm < attention) << html;
  EXPECT_NE(html.find("GPU time by operator"), std::string::npos);
}

TEST(Diff, PageHasADashForWhatASideLacksAndTheColoursThatItUses) {
  const Folder folder;
  const std::string a = folder.file("a", two_kernels().text()),
                    b = folder.file("b", changed([](Trace&trace) {
                                      trace.kernels.push_back({"void cast(float*)", 8, 2});
                                    }));
  const std::string page = folder.path / "page.html";
  EXPECT_NE(std::system(
                (std::string(ISOMER_CLI) + " diff " + a + " " + b + " --html " + page + " >" + page + ".txt")
                    .c_str()),
            0);
  const std::string html = content_of(page);
  EXPECT_NE(html.find("A –"), std::string::npos);
  EXPECT_EQ(html.find("A 0.00 µs</div>"), std::string::npos) << "no time is not a time of nothing";
  EXPECT_NE(html.find(">only here<"), std::string::npos);
  EXPECT_EQ(html.find(">variant<"), std::string::npos);
}

TEST(Messages, AreTheSameInEveryLanguage) {
  const std::vector<std::string> languages = Messages::languages();
  EXPECT_EQ(languages, (std::vector<std::string>{"en", "zh"}));
  for (const std::string& language : languages)
    EXPECT_EQ(Messages::of(language).identifiers(), Messages::english().identifiers()) << language;
  EXPECT_THROW(Messages::of("xx"), Error);
  const Folder folder;
  const std::string out = folder.path / "out";
  EXPECT_NE(std::system((std::string(ISOMER_CLI) + " diff --lang zh " + capture("base.jsonl") + " " +
                         capture("template.jsonl") + " >" + out)
                            .c_str()),
            0);
  EXPECT_NE(content_of(out).find("family::soft_rows 的模板实例不同：#0 在 A 中为 32，在 B 中为 64"),
            std::string::npos)
      << content_of(out);
}

TEST(Show, PrintsTheChecklistOfOneLaunchAndOfTwo) {
  const Folder folder;
  const std::string out = folder.path / "out";
  const auto show = [&](const std::string& words) {
    EXPECT_EQ(
        std::system(
            (std::string("env -u ISOMER_LAYOUTS ") + ISOMER_CLI + " show " + words + " >" + out).c_str()),
        0);
    return content_of(out);
  };
  const std::string one = show(capture("fa3/plain.jsonl") + " --kernel FlashAttnFwdSm90");
  for (const char* words : {"Template parameters", "mainloop.Is_causal", "Run-time parameters", "seqlen_q",
                            "1285", "Computed constants", "block_m"})
    EXPECT_NE(one.find(words), std::string::npos) << words << "\n" << one;
  // Every line of the checklist by which people tell two builds of FlashAttention-3 apart.
  const nlohmann::json of_one = nlohmann::json::parse(show(capture("fa3/plain.jsonl") + " --json"))["a"][0];
  for (const char* name : {"ArchTag", "Element", "kHeadDimV", "Is_causal", "Is_local", "Has_softcap",
                           "Varlen", "PagedKVNonTMA", "AppendKV", "HasQv", "PackGQA", "Split", "V_colmajor"})
    EXPECT_TRUE(of_one["template"].contains(std::string("mainloop.") + name)) << name;
  for (const auto& [name, value] : {std::pair{"b", "1"},
                                    {"h", "16"},
                                    {"h_k", "2"},
                                    {"d", "128"},
                                    {"seqlen_q", "1285"},
                                    {"seqlen_k", "1285"},
                                    {"total_q", "1285"},
                                    {"total_k", "1285"},
                                    {"cu_seqlens_q", "null"},
                                    {"is_varlen_q", "false"},
                                    {"q_row_stride", "2048"}})
    EXPECT_EQ(of_one["parameters"].value(name, ""), value) << name;
  for (const char* name : {"block_m", "block_n", "stages", "head_dim", "scheduler"})
    EXPECT_TRUE(of_one["constants"].contains(name)) << name;
  const nlohmann::json varlen =
      nlohmann::json::parse(show(capture("fa3/varlen.jsonl") + " --json --kernel FwdSm90"));
  EXPECT_EQ(varlen["a"][0]["parameters"].value("is_varlen_q", ""), "true");
  const std::string two = show("--lang zh " + capture("fa3/plain.jsonl") + " " + capture("fa3/keys.jsonl") +
                               " --kernel FlashAttn");
  EXPECT_NE(two.find("≠"), std::string::npos) << two;
  EXPECT_NE(two.find("Runtime 参数"), std::string::npos) << two;
  // Where another run has its memory is no difference, nor is it one inside of a tensor map.
  const std::string again = show(capture("fa3/plain.jsonl") + " " + capture("fa3/again.jsonl"));
  EXPECT_EQ(again.find("≠"), std::string::npos) << again;
  EXPECT_NE(again.find("tma_load_K.tma_desc_.opaque"), std::string::npos) << again;
  const std::string through_pytorch =
      show(capture("fa3/standalone.jsonl") + " " + capture("fa3/pytorch.jsonl") + " --kernel Flash");
  EXPECT_EQ(through_pytorch.find("≠"), std::string::npos) << through_pytorch;
  const nlohmann::json json = nlohmann::json::parse(show(capture("fa3/plain.jsonl") + " --json"));
  EXPECT_EQ(json["a"][0]["parameters"]["seqlen_k"], "1285");
}

}  // namespace
}  // namespace isomer::lab
