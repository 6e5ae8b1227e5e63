// FlashAttention-3's forward pass, recorded on an H200, with the table of its parameters' fields that
// tools/parameter_layout.py made of its headers: see fixtures/README.md.
#include "lab/capture/read_capture.hpp"
#include "lab/diff/diff_captures.hpp"
#include "tests/captures/launches.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <ostream>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace isomer::lab {
namespace {

const char* const kCaptures[] = {"plain",         "again", "causal", "varlen",
                                 "causal_varlen", "keys",  "heads",  "cluster"};

std::string fixture(const std::string& name) {
  return std::string(ISOMER_TEST_DATA) + "/captures/fixtures/fa3/" + name;
}

/// The built-in table, as a file that a user could have made.
std::string table_file() {
  return std::string(ISOMER_TEST_DATA) + "/../lab/names/layouts/flash_attention_3.json";
}

ParameterLayouts layouts() {
  ParameterLayouts table;
  table.add(content_of(table_file()), "the table");
  return table;
}

GroupedCapture groups(const std::string& name) {
  Grouping grouping;
  Capture about =
      read_capture(fixture(name + ".jsonl"), [&](Launch&& launch) { grouping.add(std::move(launch)); });
  return grouping.finish(std::move(about));
}

/// The attention kernel of a capture; varlen launches another before it.
const LaunchGroup& attention(const GroupedCapture& capture) {
  return *std::find_if(capture.groups.begin(), capture.groups.end(), [](const LaunchGroup& group) {
    return group.name.family == "flash::FlashAttnFwdSm90";
  });
}

std::string value(const std::vector<std::pair<std::string, std::string>>& named, const std::string& name) {
  const auto found =
      std::find_if(named.begin(), named.end(), [&](const auto& each) { return each.first == name; });
  return found == named.end() ? "" : found->second;
}

TEST(Fa3, LaunchesAreThoseOfItsBinary) {
  const auto binary = nlohmann::json::parse(content_of(fixture("kernels.json")));
  ASSERT_EQ(binary["kernels"].size(), 5u);
  for (const auto& kernel : binary["kernels"]) {
    const KernelName name = parse_kernel_name(kernel["name"].get<std::string>());
    EXPECT_EQ(name.text, kernel["demangled"]);
    EXPECT_EQ(name.family, "flash::FlashAttnFwdSm90");
    EXPECT_EQ(name.arity, kernel["arity"].get<std::vector<std::size_t>>());
    EXPECT_EQ(value(name.derived, "block_n"), kernel["derived"]["block_n"]);
    EXPECT_EQ(kernel["compiler"], "ptxas 13.0.88");
  }
  std::set<std::string> met;
  for (const char* capture : kCaptures) {
    const GroupedCapture recorded = groups(capture);
    EXPECT_TRUE(recorded.about.complete) << recorded.about.incomplete;
    EXPECT_EQ(recorded.about.facts.at("device"), "NVIDIA H200");
    const LaunchGroup& group = attention(recorded);
    EXPECT_EQ(group.count, 3u);
    const auto kernel = std::find_if(binary["kernels"].begin(), binary["kernels"].end(),
                                     [&](const auto& each) { return each["name"] == group.first.name; });
    ASSERT_NE(kernel, binary["kernels"].end()) << group.first.name;
    met.insert(group.first.name);
    EXPECT_EQ(group.first.code_hash, (*kernel)["code_hash"]) << capture;
    EXPECT_EQ(group.first.registers, (*kernel)["registers"]) << capture;
    EXPECT_EQ(group.first.shared_static, (*kernel)["shared_bytes"]) << capture;
    ASSERT_EQ(group.first.arguments.size(), 1u);
    EXPECT_EQ(group.first.arguments[0].bytes.size(), (*kernel)["arguments"][0]["size"]) << capture;
    EXPECT_EQ(triple_text(group.first.grid), "132x1x1");
    EXPECT_EQ(triple_text(group.first.block), std::to_string((*kernel)["max_threads"].get<int>()) + "x1x1");
  }
  EXPECT_EQ(met.size(), 5u);
}

/// What the program was asked for: its command is "./fa3 B HEADS HEADS_K SEQLEN_Q SEQLEN_K CAUSAL VARLEN
/// REPEATS". A batch with lengths of its own has one of SEQLEN and others of SEQLEN / 2 + 1.
struct Asked {
  int b, h, h_k, seqlen_q, seqlen_k;
  bool causal, varlen;
};

Asked asked(const GroupedCapture& capture) {
  std::istringstream words(capture.about.command);
  std::string program;
  Asked call{};
  words >> program >> call.b >> call.h >> call.h_k >> call.seqlen_q >> call.seqlen_k >> call.causal >>
      call.varlen;
  EXPECT_EQ(program, "./fa3");
  EXPECT_FALSE(words.fail());
  return call;
}

int total(const Asked& call, int seqlen) { return seqlen + (call.b - 1) * (seqlen / 2 + 1); }

/// The named fields of a launch, numbers as such and addresses as 1.
std::map<std::string, std::int64_t> decoded(const LaunchGroup& group, const ParameterLayouts& table) {
  const ArgumentBytes& argument = group.first.arguments.at(0);
  const auto* layout = table.find(group.name.family, group.name.arity, 0, argument.bytes.size());
  if (layout == nullptr) throw std::runtime_error("no layout of " + group.name.text);
  std::map<std::string, std::int64_t> values;
  for (const NamedField& each : named_fields(*layout, group.name.fields.get(), argument)) {
    std::int64_t number = 0;
    if (each.field->size > sizeof number) continue;
    if (each.field->type == "int" && each.field->size == sizeof(std::int32_t)) {
      std::int32_t narrow = 0;
      std::memcpy(&narrow, argument.bytes.data() + each.field->offset, sizeof narrow);
      number = narrow;
    } else {
      std::memcpy(&number, argument.bytes.data() + each.field->offset, each.field->size);
    }
    if (each.field->type == "pointer") number = argument.pointers.contains(each.field->offset) ? 1 : number;
    EXPECT_TRUE(values.emplace(each.name, number).second) << each.name;
  }
  return values;
}

TEST(Fa3, ArgumentsDecodeToWhatTheProgramWasAskedFor) {
  const ParameterLayouts table = layouts();
  for (const char* name : kCaptures) {
    SCOPED_TRACE(name);
    const GroupedCapture capture = groups(name);
    const LaunchGroup& group = attention(capture);
    const Asked call = asked(capture);
    EXPECT_EQ(value(group.name.derived, "causal"), call.causal ? "true" : "false");
    EXPECT_EQ(value(group.name.derived, "varlen"), call.varlen ? "true" : "false");
    EXPECT_EQ(value(group.name.derived, "block_m"), "128");
    EXPECT_EQ(value(group.name.derived, "block_n"), call.causal ? "128" : "176");
    std::map<std::string, std::int64_t> is = decoded(group, table);
    const std::int64_t row = 128, varlen = call.varlen;
    EXPECT_EQ(is.at("b"), call.b);
    EXPECT_EQ(is.at("h"), call.h);
    EXPECT_EQ(is.at("h_k"), call.h_k);
    EXPECT_EQ(is.at("d"), 128);
    EXPECT_EQ(is.at("dv"), 128);
    EXPECT_EQ(is.at("seqlen_q"), call.seqlen_q);
    EXPECT_EQ(is.at("num_sm"), 132);
    EXPECT_EQ(is.at("num_splits"), 1);
    EXPECT_EQ(is.at("q_row_stride"), call.h * row);
    EXPECT_EQ(is.at("k_row_stride"), call.h_k * row);
    EXPECT_EQ(is.at("v_head_stride"), row);
    EXPECT_EQ(is.at("k_batch_stride"), varlen != 0 ? 0 : call.seqlen_k * call.h_k * row);
    EXPECT_EQ(is.at("window_size_right"), call.causal ? 0 : call.seqlen_q - 1);
    for (const char* pointer : {"q_ptr", "k_ptr", "v_ptr", "o_ptr", "softmax_lse_ptr"})
      EXPECT_EQ(is.at(pointer), 1) << pointer;
    for (const char* pointer : {"cu_seqlens_q", "cu_seqlens_k"}) EXPECT_EQ(is.at(pointer), varlen) << pointer;
    for (const char* pointer : {"cu_seqlens_knew", "seqused_q", "seqused_k", "leftpad_k", "page_table"})
      EXPECT_EQ(is.at(pointer), 0) << pointer;
    EXPECT_EQ(is.contains("seqlen_k"), !call.varlen);
    EXPECT_EQ(is.contains("total_q"), call.varlen);
    if (call.varlen) {
      EXPECT_EQ(is.at("total_q"), total(call, call.seqlen_q));
      EXPECT_EQ(is.at("total_k"), total(call, call.seqlen_k));
    } else {
      EXPECT_EQ(is.at("seqlen_k"), call.seqlen_k);
    }
  }
}

struct Runs {
  const char *a, *b;
  Pair::Kind kind;
  /// All of them but times and tensor maps, whose words follow from the others.
  std::vector<Difference> differences;
};

void PrintTo(const Runs& runs, std::ostream* out) { *out << runs.a << " and " << runs.b; }

class Fa3Runs : public testing::TestWithParam<Runs> {};

TEST_P(Fa3Runs, DifferInWhatIsNamedAndInNothingElse) {
  const DiffResult result = diff_captures(groups(GetParam().a), groups(GetParam().b), layouts());
  ASSERT_EQ(result.pairs.size(), 1u);
  EXPECT_STREQ(word(result.pairs[0].kind), word(GetParam().kind));
  std::vector<Difference> found;
  for (const Difference& each : result.pairs[0].differences)
    if (each.name != "time" && each.name.find(".tma_") == each.name.npos) found.push_back(each);
  for (std::size_t i = 0; i < std::max(found.size(), GetParam().differences.size()); ++i) {
    const Difference is = i < found.size() ? found[i] : Difference();
    const Difference expected = i < GetParam().differences.size() ? GetParam().differences[i] : Difference();
    EXPECT_EQ(is.name, expected.name);
    EXPECT_EQ(is.a, expected.a) << expected.name;
    EXPECT_EQ(is.b, expected.b) << expected.name;
  }
}

const Runs kRuns[] = {
    {"plain",
     "causal",
     Pair::Kind::variant,
     {{"mainloop.TileShape_MNK", "128x176x128", "128x128x128"},
      {"mainloop.Is_causal", "false", "true"},
      {"epilogue.TileShape_MNK_PV", "128x128x176", "128x128x128"},
      {"scheduler", "flash::StaticPersistentTileScheduler", "flash::DynamicPersistentTileScheduler"},
      {"scheduler.NumMmaThreads", "", "256"},
      {"scheduler.NumProducerThreads", "", "32"},
      {"scheduler.PackGQA", "", "false"},
      {"scheduler.WarpSpecialized", "", "true"},
      {"block_n", "176", "128"},
      {"shared_dynamic", "216064", "166912"},
      {"window_size_right", "1284", "0"}}},
    {"plain",
     "varlen",
     Pair::Kind::variant,
     {{"mainloop.Varlen", "false", "true"},
      {"epilogue.Varlen", "false", "true"},
      {"scheduler", "flash::StaticPersistentTileScheduler", "flash::VarlenDynamicPersistentTileScheduler"},
      {"scheduler.kBlockM", "", "128"},
      {"scheduler.kBlockN", "", "176"},
      {"scheduler.NumMmaThreads", "", "256"},
      {"scheduler.NumProducerThreads", "", "32"},
      {"scheduler.PackGQA", "", "false"},
      {"scheduler.WarpSpecialized", "", "true"},
      {"scheduler.LPT", "", "false"},
      {"scheduler.Sort", "", "true"},
      {"scheduler.Prepared", "", "true"},
      {"programmatic stream serialization", "no", "yes"},
      {"seqlen_k", "1285", ""},
      {"cu_seqlens_q", "null", "an address"},
      {"cu_seqlens_k", "null", "an address"},
      {"q_batch_stride", "2631680", "0"},
      {"k_batch_stride", "328960", "0"},
      {"v_batch_stride", "328960", "0"},
      {"o_batch_stride", "2631680", "0"},
      {"total_q", "", "1285"},
      {"total_k", "", "1285"},
      {"mainloop.stride_Q_packed.3", "2631680", "0"},
      {"epilogue.stride_O_packed.3", "2631680", "0"},
      {"epilogue.stride_LSE.2", "20560", "0"},
      {"epilogue.stride_LSE_packed.2", "20560", "0"},
      {"epilogue.cu_seqlens", "null", "the address of cu_seqlens_q"}}},
    {"causal",
     "causal_varlen",
     Pair::Kind::variant,
     {{"mainloop.Varlen", "false", "true"},
      {"epilogue.Varlen", "false", "true"},
      {"scheduler", "flash::DynamicPersistentTileScheduler", "flash::VarlenDynamicPersistentTileScheduler"},
      {"scheduler.kBlockM", "", "128"},
      {"scheduler.kBlockN", "", "128"},
      {"scheduler.LPT", "", "true"},
      {"scheduler.Sort", "", "true"},
      {"scheduler.Prepared", "", "true"},
      {"programmatic stream serialization", "no", "yes"},
      {"b", "1", "2"},
      {"seqlen_k", "1285", ""},
      {"cu_seqlens_q", "null", "an address"},
      {"cu_seqlens_k", "null", "an address"},
      {"q_batch_stride", "2631680", "0"},
      {"k_batch_stride", "328960", "0"},
      {"v_batch_stride", "328960", "0"},
      {"o_batch_stride", "2631680", "0"},
      {"total_q", "", "1928"},
      {"total_k", "", "1928"},
      {"mainloop.shape_Q_packed.0", "1285", "1928"},
      {"mainloop.stride_Q_packed.3", "2631680", "0"},
      {"mainloop.shape_K_new.3", "1", "2"},
      {"mainloop.shape_Qv_packed.0", "1285", "1928"},
      {"mainloop.shape_pagetable.0", "1", "2"},
      {"epilogue.shape_O.0", "1285", "1928"},
      {"epilogue.shape_O_packed.0", "1285", "1928"},
      {"epilogue.stride_O_packed.3", "2631680", "0"},
      {"epilogue.stride_LSE.1", "1285", "1928"},
      {"epilogue.stride_LSE.2", "20560", "0"},
      {"epilogue.shape_LSE_packed.0", "1285", "1928"},
      {"epilogue.stride_LSE_packed.1", "1285", "1928"},
      {"epilogue.stride_LSE_packed.2", "20560", "0"},
      {"epilogue.cu_seqlens", "null", "the address of cu_seqlens_q"}}},
    {"plain",
     "keys",
     Pair::Kind::arguments,
     {{"seqlen_k", "1285", "1024"},
      {"window_size_left", "1284", "1023"},
      {"k_batch_stride", "328960", "262144"},
      {"v_batch_stride", "328960", "262144"},
      {"mainloop.shape_rotary.0", "1285", "1024"}}},
    {"plain",
     "heads",
     Pair::Kind::arguments,
     {{"h_k", "2", "4"},
      {"k_row_stride", "256", "512"},
      {"k_batch_stride", "328960", "657920"},
      {"v_row_stride", "256", "512"},
      {"v_batch_stride", "328960", "657920"},
      {"mainloop.shape_K_new.2", "2", "4"},
      {"mainloop.qhead_per_khead_divmod.divisor", "8", "4"},
      {"mainloop.qhead_per_khead_divmod.shift_right", "2", "1"}}},
    {"plain",
     "cluster",
     Pair::Kind::variant,
     {{"mainloop.ClusterShape", "1x1x1", "2x1x1"},
      {"epilogue.ClusterShape", "1x1x1", "2x1x1"},
      {"cluster", "1x1x1", "2x1x1"},
      {"seqlen_q", "1285", "1280"},
      {"window_size_right", "1284", "1279"},
      {"q_batch_stride", "2631680", "2621440"},
      {"o_batch_stride", "2631680", "2621440"},
      {"mainloop.shape_Q_packed.0", "1285", "1280"},
      {"mainloop.stride_Q_packed.3", "2631680", "2621440"},
      {"mainloop.shape_Qv_packed.0", "1285", "1280"},
      {"epilogue.shape_O.0", "1285", "1280"},
      {"epilogue.shape_O_packed.0", "1285", "1280"},
      {"epilogue.stride_O_packed.3", "2631680", "2621440"},
      {"epilogue.stride_LSE.1", "1285", "1280"},
      {"epilogue.stride_LSE.2", "20560", "20480"},
      {"epilogue.shape_LSE_packed.0", "1285", "1280"},
      {"epilogue.stride_LSE_packed.1", "1285", "1280"},
      {"epilogue.stride_LSE_packed.2", "20560", "20480"},
      {"scheduler.total_blocks", "176", "160"},
      {"scheduler.m_block_divmod.divisor", "11", "10"},
      {"scheduler.m_block_divmod.multiplier", "3123612579", "3435973837"}}},
    {"plain", "again", Pair::Kind::same, {}},
};

INSTANTIATE_TEST_SUITE_P(Recorded, Fa3Runs, testing::ValuesIn(kRuns),
                         [](const auto& info) { return std::string(info.param.a) + "_" + info.param.b; });

TEST(Fa3, AnotherRunIsTheSameAndWithoutATableItsNamelessBytesAreUnknown) {
  const DiffResult with = diff_captures(groups("plain"), groups("again"), layouts());
  EXPECT_TRUE(with.same());
  EXPECT_TRUE(with.pairs.at(0).unknown.empty());
  const DiffResult without = diff_captures(groups("plain"), groups("again"), {});
  EXPECT_TRUE(without.same());
  EXPECT_FALSE(without.pairs.at(0).unknown.empty());
  ASSERT_EQ(without.notes.size(), 1u);
  EXPECT_NE(without.notes[0].find("tools/parameter_layout.py"), std::string::npos) << without.notes[0];
}

TEST(Fa3, TheVerdictSaysWhichPointersSelectVarlen) {
  const DiffResult result = diff_captures(groups("plain"), groups("varlen"), layouts());
  ASSERT_EQ(result.verdict.size(), 3u);
  EXPECT_NE(result.verdict[0].find("GPU time: "), std::string::npos) << result.verdict[0];
  EXPECT_NE(result.verdict[1].find("Only B runs 1 kernel (flash::prepare_varlen_num_blocks_kernel)"),
            std::string::npos)
      << result.verdict[1];
  EXPECT_TRUE(result.verdict[2].starts_with(
      "Another instantiation of flash::FlashAttnFwdSm90: mainloop.Varlen is false in A and true in B"))
      << result.verdict[2];
  EXPECT_TRUE(
      result.verdict[2].ends_with(" Here cu_seqlens_q is null in A and an address in B. Here cu_seqlens_k is "
                                  "null in A and an address in B."))
      << result.verdict[2];
}

TEST(Fa3, TheCommandReadsTheTableFromItsEnvironment) {
  const Folder folder;
  const std::string out = folder.path / "out";
  const std::string command = "ISOMER_LAYOUTS=" + table_file() + " " + ISOMER_CLI + " diff " +
                              fixture("plain.jsonl") + " " + fixture("keys.jsonl") + " --json >" + out;
  EXPECT_NE(std::system(command.c_str()), 0);
  const auto json = nlohmann::json::parse(content_of(out));
  EXPECT_EQ(json["pairs"][0]["kind"], "arguments");
  EXPECT_EQ(json["pairs"][0]["differences"][0],
            nlohmann::json::parse(R"({"name":"seqlen_k","a":"1285","b":"1024"})"));
}

TEST(Fa3, ATableOfAnotherNameOfAFieldIsReadBesideTheCaptureAndFromTheEnvironment) {
  const Folder folder;
  std::string renamed = content_of(table_file());
  std::size_t changed = 0;
  for (std::size_t at = 0; (at = renamed.find("\"scheduler.", at)) != std::string::npos; ++changed)
    renamed.replace(at, 11, "\"elsewhere.");
  ASSERT_GT(changed, 0u);
  const std::string capture = folder.file("a.jsonl", content_of(fixture("plain.jsonl")));
  const std::string out = folder.path / "out";
  const auto shown = [&](const std::string& before) {
    EXPECT_EQ(std::system((before + " " + ISOMER_CLI + " show " + capture + " >" + out).c_str()), 0);
    return content_of(out);
  };
  EXPECT_EQ(shown("env -u ISOMER_LAYOUTS").find("elsewhere."), std::string::npos);
  const std::string table = folder.file("mine.json", renamed);
  EXPECT_NE(shown("ISOMER_LAYOUTS=" + table).find("elsewhere."), std::string::npos);
  folder.file("a.jsonl.layouts.json", renamed);
  EXPECT_NE(shown("env -u ISOMER_LAYOUTS").find("elsewhere."), std::string::npos);
}

/// A launch of FlashAttention-2's forward kernel, whose parameters are `bytes` long, of that seqlen_k.
Launch attention_2(const std::string& family, std::size_t bytes, std::int32_t seqlen_k) {
  Launch launch;
  launch.name = "void " + family + "<Flash_fwd_kernel_traits<64, 128, 128, 4>, false>(Flash_fwd_params)";
  launch.grid = launch.block = {{128, 1, 1}};
  launch.arguments_known = true;
  launch.arguments.emplace_back();
  std::vector<std::uint8_t>& words = launch.arguments[0].bytes;
  words.assign(bytes, 0);
  constexpr std::size_t kSeqlenK = 184;
  std::memcpy(words.data() + kSeqlenK, &seqlen_k, sizeof seqlen_k);
  return launch;
}

TEST(Fa2, ArgumentsHaveTheNamesOfItsStructInEveryRelease) {
  const ParameterLayouts built_in = ParameterLayouts::for_captures({});
  for (const char* family :
       {"flash::flash_fwd_kernel", "flash_fwd_kernel", "flash::flash_fwd_splitkv_kernel"})
    for (const std::size_t bytes : {448u, 456u, 464u, 472u}) {
      const auto* fields = built_in.find(family, {2, 4}, 0, bytes);
      ASSERT_NE(fields, nullptr) << family << " " << bytes;
      std::set<std::string> names;
      std::uint32_t end = 0;
      for (const Field& field : *fields) {
        EXPECT_TRUE(names.insert(field.name).second) << field.name;
        EXPECT_GE(field.offset, end) << field.name << " overlaps the one before it";
        end = field.offset + field.size;
      }
      for (const char* name : {"q_ptr", "seqlen_q", "cu_seqlens_q", "scale_softmax", "window_size_left",
                               "is_causal", "block_table", "num_splits", "alibi_slopes_ptr"})
        EXPECT_TRUE(names.contains(name)) << name << " of " << bytes;
      const DiffResult result = diff_captures(grouped({attention_2(family, bytes, 1024)}),
                                              grouped({attention_2(family, bytes, 2048)}), built_in);
      ASSERT_EQ(result.pairs.size(), 1u);
      EXPECT_EQ(result.pairs[0].kind, Pair::Kind::arguments);
      ASSERT_EQ(result.pairs[0].differences.size(), 1u);
      EXPECT_EQ(result.pairs[0].differences[0].name, "seqlen_k");
      EXPECT_EQ(result.pairs[0].differences[0].a, "1024");
      EXPECT_EQ(result.pairs[0].differences[0].b, "2048");
    }
}

}  // namespace
}  // namespace isomer::lab
