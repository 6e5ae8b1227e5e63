// What is kept of a call, how much, and for how long.
#include "lab/record/facts.hpp"
#include "recorded_folder.hpp"

#include "lab/record/kept.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace isomer::lab {
namespace {

TEST_F(RecordTorch, WhatIsWrittenInPlaceIsSeenBeforeAndAfter) {
  const Recorded got = recorded("def add(x, y):\n    y += x\n",
                                "import torch\nbase = torch.zeros(8).cuda()\n"
                                "add(torch.ones(2).to('cuda'), base[1::4])\nadd(base, base)\n");
  ASSERT_EQ(got.recording.calls.size(), 2u);
  const RecordedCall& call = got.recording.calls[0];
  EXPECT_TRUE(call.returned.empty());
  ASSERT_EQ(call.after.size(), 2u);
  EXPECT_EQ(call.before[1].tensor.describe(), "f32[2] strides [4]");
  EXPECT_EQ(*call.before[1].tensor.at<float>(1), 0.0f);
  EXPECT_EQ(*call.after[1].tensor.at<float>(1), 1.0f);
  EXPECT_EQ(static_cast<const float*>(call.after[1].storage.get())[4], 0.0f);
  // One tensor passed twice is one storage.
  const RecordedCall& twice = got.recording.calls[1];
  EXPECT_EQ(twice.before[0].storage.get(), twice.before[1].storage.get());
  EXPECT_EQ(*twice.after[0].tensor.at<float>(5), 2.0f);
}

TEST_F(RecordTorch, ElementsThatTheLabelLeavesUnsetAreKeptAsThat) {
  const Recorded got = recorded(
      "import torch\n\ndef halves(x):\n    y = torch.empty_like(x)\n    y[:, :2] = 2 * x[:, :2]\n    return "
      "x, y\n\n"
      "def whole(x):\n    y = torch.empty_like(x)\n    y.copy_(2 * x)\n    return y\n",
      "x = torch.full((3, 5), 18.5)\nhalves(x)\nwhole(x)\n");
  ASSERT_EQ(got.recording.calls.size(), 2u);
  const RecordedCall& call = got.recording.calls[0];
  ASSERT_EQ(call.unset.size(), 2u);
  EXPECT_FALSE(call.unset[0].is_tensor());
  ASSERT_TRUE(call.unset[1].is_tensor());
  for (int i = 0; i < 15; ++i)
    EXPECT_EQ(static_cast<const std::uint8_t*>(call.unset[1].tensor.data)[i], i % 5 < 2 ? 0 : 1) << i;
  EXPECT_TRUE(got.recording.calls[1].unset.empty());
}

TEST_F(RecordTorch, WhatTheTestCallsItsSizesAndWhetherTheLabelRoundsOnItsWayIsKept) {
  const Recorded got = recorded(
      "import torch\n\ndef dots(x, y):\n    return (x.float() * y.float()).sum(-1)\n\n"
      "def narrow(x, y):\n    return (x * y).float().sum(-1)\n\n"
      "def in_place(x, y):\n    return x.clone().mul_(y).float().sum(-1)\n\n"
      "def attended(x, y):\n    q = x[None, None]\n"
      "    return torch.nn.functional.scaled_dot_product_attention(q, q, q).float()\n",
      "import torch\ndef test():\n    B, L = 3, 5\n    x = torch.randn(B, L).half()\n    dots(x, x)\n    "
      "narrow(x, x)\n    in_place(x, x)\n    attended(x, x)\n"
      "test()\n");
  ASSERT_EQ(got.recording.calls.size(), 4u);
  const std::vector<Value>& around = got.recording.calls[0].around;
  ASSERT_EQ(around.size(), 2u);
  EXPECT_EQ(around[0].name, "B");
  EXPECT_EQ(around[0].integer, 3);
  EXPECT_EQ(around[1].name, "L");
  EXPECT_TRUE(got.recording.calls[0].full);
  for (const std::size_t each : {1, 2, 3}) EXPECT_FALSE(got.recording.calls[each].full) << each;
}

TEST_F(RecordTorch, AnOptionThatIsTakenAlwaysOrNeverIsIgnored) {
  const Recorded got = recorded(
      "import torch\n\ndef scaled(x, twice=False):\n    if twice:\n        x = 2 * x\n    return x + 1\n",
      "x = torch.arange(6.)\nscaled(x)\nscaled(x, True)\n");
  for (const EditedReference::Edit& each : got.recording.edited.edits)
    if (each.was.starts_with("if twice")) EXPECT_EQ(each.code, "ignores-argument") << each.becomes;
  EXPECT_TRUE(
      std::any_of(got.recording.edited.edits.begin(), got.recording.edited.edits.end(),
                  [](const EditedReference::Edit& each) { return each.was.starts_with("if twice"); }));
}

TEST_F(RecordTorch, WhatEditsOfTheLabelAnswerIsKept) {
  const Recorded got = recorded(
      "import torch\n\ndef affine(x, w, b):\n    y = x * w\n    return y + b\n\n"
      "def counted(x, n):\n    i = 0\n    while i < n:\n        x += i\n        i += 1\n",
      "x, w, b = torch.arange(6.) - 2, torch.arange(6.) + 3, torch.full((6,), 9.)\naffine(x, w, b)\n"
      "counted(x, 3)\n");
  const EditedReference& edited = got.recording.edited;
  ASSERT_EQ(edited.calls.size(), 2u);
  EXPECT_TRUE(edited.calls[0].outputs.at(0).returned);
  EXPECT_EQ(edited.calls[0].outputs[0].at.size(), 6u);
  EXPECT_FALSE(edited.calls[1].outputs.at(0).returned);
  const auto find = [&](const std::string& was, const std::string& becomes) {
    for (const EditedReference::Edit& each : edited.edits)
      if (each.was == was && each.becomes == becomes) return each;
    ADD_FAILURE() << was << " → " << becomes;
    return EditedReference::Edit{0, "", "", "", std::vector<float>(12)};
  };
  const EditedReference::Edit scale = find("x * w", "x"), term = find("y + b", "y");
  EXPECT_EQ(scale.line, 4);
  EXPECT_EQ(scale.code, "missing-scale");
  EXPECT_EQ(term.code, "missing-term");
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(scale.answers[static_cast<std::size_t>(i)], static_cast<float>(i - 2 + 9)) << i;
    EXPECT_EQ(term.answers[static_cast<std::size_t>(i)], static_cast<float>((i - 2) * (i + 3))) << i;
  }
  // An edit that never ends is none, and those behind it are asked all the same.
  for (const EditedReference::Edit& each : edited.edits)
    EXPECT_FALSE(each.was == "i += 1" && each.becomes == "pass");
  EXPECT_EQ(find("i < n", "i <= n").answers[6], -2.0f + 6.0f);
}

TEST_F(RecordTorch, StepsOfALabelChangePlaces) {
  const Recorded got = recorded(
      "import torch\n\ndef gate(x, b, reverse=False):\n    x = x + b\n    x = torch.sigmoid(x)\n"
      "    return torch.exp(x * b)\n",
      "gate(torch.arange(6.) - 2, torch.arange(6.) + 3)\n");
  std::vector<std::string> told;
  for (const EditedReference::Edit& each : got.recording.edited.edits)
    told.push_back(each.becomes + " " + each.code);
  for (const char* each : {"x = torch.sigmoid(x); x = x + b missing-term", "torch.exp(x) * b missing-scale",
                           "b, x argument-order", "1 ignores-argument"})
    EXPECT_NE(std::find(told.begin(), told.end(), each), told.end()) << each;
  // Nothing reads it, so that no edit of it changes an answer.
  for (const EditedReference::Edit& each : got.recording.edited.edits) EXPECT_NE(each.was, "reverse");
}

TEST_F(RecordTorch, NumbersThatTheLabelComputesAreKeptByTheirNames) {
  const Recorded got = recorded(
      "import math\n\ndef along(v, dim=0):\n    total = 0\n    if dim == 0:\n        M, N = v.shape[0], "
      "math.prod(v.shape[1:])\n"
      "    else:\n        M, N = math.prod(v.shape[:-1]), v.shape[dim]\n    for t in range(M):\n        "
      "total += t\n"
      "    flag, half = True, 0.5\n    return v.reshape(M, N) * half + total\n",
      "import torch\nalong(torch.randn(3, 4, 5))\nalong(torch.randn(3, 4, 5), 2)\n");
  ASSERT_EQ(got.recording.calls.size(), 2u);
  const auto numbers = [&](std::size_t call) {
    std::vector<std::pair<std::string, std::int64_t>> list;
    for (const Value& each : got.recording.calls[call].computed)
      if (each.kind == Value::Kind::integer) list.emplace_back(each.name, each.integer);
    EXPECT_EQ(got.recording.calls[call].computed.back().name, "half");
    EXPECT_EQ(got.recording.calls[call].computed.back().real, 0.5);
    return list;
  };
  using List = std::vector<std::pair<std::string, std::int64_t>>;
  EXPECT_EQ(numbers(0), (List{{"M", 3}, {"N", 20}}));
  EXPECT_EQ(numbers(1), (List{{"M", 12}, {"N", 5}}));
  for (const RecordedCall& call : got.recording.asked) EXPECT_EQ(call.computed.size(), 3u) << call.asked;
}

TEST_F(RecordTorch, TensorsThatTheLabelComputesAreKeptByTheirNames) {
  const Recorded got = recorded(
      "import torch\n\ndef ids_of(lengths):\n    ids = torch.arange(lengths.numel())\n"
      "    return torch.repeat_interleave(ids, lengths)\n\n"
      "def segments(x, lengths, out):\n    starts = torch.empty(lengths.numel() + 1, dtype=torch.int32)\n"
      "    starts[0] = 0\n    starts[1:] = lengths.cumsum(0)\n    rows = ids_of(lengths)\n"
      "    part = torch.empty(8)\n    part[:4] = 1\n    same, into = x.view(-1), out[1:]\n"
      "    odd, large = x + 0j, torch.zeros(70000)\n    total = out.index_add_(0, rows, x).sum()\n"
      "    return total\n",
      "import torch\nsegments(torch.randn(5, 2), torch.tensor([3, 0, 2]), torch.zeros(3, 2))\n"
      "segments(torch.randn(4, 2), torch.tensor([1, 3]), torch.zeros(2, 2))\n");
  ASSERT_EQ(got.recording.calls.size(), 2u);
  const auto told = [&](const RecordedCall& call) {
    std::vector<std::string> list;
    for (const Value& each : call.computed) list.push_back(each.name + " " + each.tensor.describe());
    return list;
  };
  using List = std::vector<std::string>;
  EXPECT_EQ(told(got.recording.calls[0]), (List{"ids i64[3]", "rows i64[5]", "starts i32[4]"}));
  EXPECT_EQ(told(got.recording.calls[1]), (List{"ids i64[2]", "rows i64[4]", "starts i32[3]"}));
  EXPECT_EQ(*got.recording.calls[1].computed[2].tensor.at<std::int32_t>(2), 4);
  ASSERT_FALSE(got.recording.asked.empty());
  for (const RecordedCall& call : got.recording.asked) EXPECT_EQ(call.computed.size(), 3u) << call.asked;
}

TEST_F(RecordTorch, ATensorThatTheLabelMakesOfAnArgumentThatIsNoneIsKept) {
  const Recorded got = recorded(
      "import torch\n\ndef segments(x, lengths, starts=None):\n    if starts is None:\n"
      "        starts = lengths.cumsum(0) - lengths\n    x = x.contiguous()\n"
      "    return torch.stack([x[int(b) : int(b + n)].sum(0) for b, n in zip(starts, lengths)])\n",
      "import torch\nsegments(torch.randn(5, 2), torch.tensor([3, 2]))\n"
      "segments(torch.randn(5, 2), torch.tensor([3, 2]), torch.tensor([2, 0]))\n");
  ASSERT_EQ(got.recording.calls.size(), 2u);
  const auto kept = [&](std::size_t call) {
    std::string described;
    for (const Value& each : got.recording.calls[call].computed)
      if (each.name == "starts") described = each.tensor.describe();
    return described;
  };
  EXPECT_EQ(kept(0), "i64[2]");
  EXPECT_EQ(kept(1), "");
}

TEST_F(RecordTorch, HowFarRoundingMovesAnAnswerIsKeptWhereThatIsMuch) {
  // A variance that is the difference of two numbers which are nearly the same, and one that is none.
  const Recorded got = recorded("def variance(v):\n    return (v * v).mean(1) - v.mean(1) ** 2, v.sum(1)\n",
                                "import torch\ntorch.manual_seed(3)\nvariance(torch.randn(8, 300) * 0.01 + "
                                "5)\nvariance(torch.randn(8, 300))\n");
  ASSERT_EQ(got.recording.calls.size(), 2u);
  const std::vector<Value>& noise = got.recording.calls[0].noise;
  ASSERT_EQ(noise.size(), 2u);
  ASSERT_TRUE(noise[0].is_tensor());
  EXPECT_EQ(noise[0].tensor.numel(), 8);
  EXPECT_TRUE(got.recording.calls[1].noise.empty() || !got.recording.calls[1].noise[0].is_tensor());
  const auto* moved = static_cast<const float*>(noise[0].tensor.data);
  EXPECT_GT(*std::max_element(moved, moved + 8), 1e-8f);
}

TEST_F(RecordTorch, RoundingOnTheWayIsLookedAtAsWell) {
  // Whole numbers, whose last bits stay: what is made of them is rounded all the same.
  const Recorded got = recorded(
      "import torch\ndef spread(v):\n    w = torch.softmax(torch.arange(float(v.shape[1])) / 50, 0)\n"
      "    return (v * v * w).sum(1) - (v * w).sum(1) ** 2\n",
      "import torch\ntorch.manual_seed(3)\nspread(torch.randint(100, 104, (8, 300)).float())\n");
  ASSERT_EQ(got.recording.calls.size(), 1u);
  ASSERT_EQ(got.recording.calls[0].noise.size(), 1u);
  const Value& noise = got.recording.calls[0].noise[0];
  ASSERT_TRUE(noise.is_tensor());
  EXPECT_GT(*noise.tensor.at<float>(0), 1e-5F);
}

TEST_F(RecordTorch, RandomInputsAreTheSameEveryTime) {
  const char* test = "import torch\ntwice(torch.randn(4))\n";
  const Recorded a = recorded(kPlain, test), b = recorded(kPlain, test);
  EXPECT_EQ(std::memcmp(a.recording.calls[0].before[0].storage.get(),
                        b.recording.calls[0].before[0].storage.get(), 16),
            0);
}

TEST_F(RecordTorch, WhatNoTensorOfIsomerIsComesAsAText) {
  const Recorded got = recorded(
      "def f(*args):\n    return None\n",
      "import torch\nf(torch.ones(2, dtype=torch.complex64), 'mode', 2**70, torch.bfloat16, [1, None], "
      "torch.tensor([True, False]), float('inf'))\n");
  const std::vector<Value>& before = got.recording.calls.at(0).before;
  ASSERT_EQ(before.size(), 7u);
  EXPECT_EQ(before[0].kind, Value::Kind::text);
  EXPECT_EQ(before[1].text, "mode");
  EXPECT_EQ(before[2].text, "1180591620717411303424");
  EXPECT_EQ(before[3].kind, Value::Kind::dtype);
  EXPECT_EQ(before[3].text, "bf16");
  EXPECT_EQ(before[4].items.size(), 2u);
  EXPECT_EQ(before[5].tensor.describe(), "u8[2]");
  EXPECT_GT(before[6].real, 1e300);
}

TEST_F(RecordTorch, MoreThanTheLimitIsRefused) {
  std::ofstream(folder / "1_label_source.py") << kPlain;
  std::ofstream(folder / "3_test_code.py") << "import torch\ntwice(torch.ones(1000))\n";
  RecordSettings settings = settings_of_folder(folder);
  settings.python = {ISOMER_PYTHON};
  settings.max_bytes = 1000;
  try {
    record(settings);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "record: the calls hold more than 1000 bytes; --max-bytes allows more");
  }
}

TEST_F(RecordTorch, CallsBeyondTheLimitAreLeftOutAndSaidSo) {
  std::ofstream(folder / "1_label_source.py") << kPlain;
  std::ofstream(folder / "3_test_code.py")
      << "import torch\ntwice(torch.ones(50))\ntwice(torch.ones(3000))\ntwice(torch.ones(60))\n";
  RecordSettings settings = settings_of_folder(folder);
  settings.python = {ISOMER_PYTHON};
  settings.max_bytes = 1000;
  const Recorded got = record(settings);
  ASSERT_EQ(got.recording.calls.size(), 1u);
  EXPECT_EQ(got.recording.calls[0].before[0].tensor.describe(), "f32[50]");
  ASSERT_EQ(got.raised.size(), 1u);
  EXPECT_NE(got.raised[0].find("more than 1000 bytes; --max-bytes allows more"), std::string::npos);
}

TEST_F(RecordTorch, WhatACallLeavesAsItIsIsKeptOnce) {
  std::ofstream(folder / "1_label_source.py") << "def both(x, y):\n    return x\n";
  std::ofstream(folder / "3_test_code.py")
      << "import torch\nx = torch.arange(100.)\nfor _ in range(9):\n    both(x, x.clone())\n";
  RecordSettings settings = settings_of_folder(folder);
  settings.python = {ISOMER_PYTHON};
  settings.max_bytes = 800;  // x and its equal, which are two
  const Recorded got = record(settings);
  EXPECT_TRUE(got.raised.empty());
  ASSERT_EQ(got.recording.calls.size(), 9u);
  const RecordedCall& call = got.recording.calls[8];
  EXPECT_EQ(*call.returned.at(0).tensor.at<float>(99), 99.0f);
}

TEST_F(RecordTorch, WhatWasRecordedForACheckIsKeptUntilItsSourcesChange) {
  const fs::path cache = folder / "cache", label = folder / "1_label_source.py",
                 test = folder / "3_test_code.py";
  setenv("ISOMER_CACHE", cache.c_str(), 1);
  std::ofstream(label) << kPlain;
  std::ofstream(test) << "import torch\ntwice(torch.ones(1))\n";
  EXPECT_EQ(kept_recording(label, test).calls.size(), 1u);
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(cache / "recordings")) files.push_back(entry.path());
  ASSERT_EQ(files.size(), 1u);
  const auto written = fs::last_write_time(files[0]);
  EXPECT_EQ(kept_recording(label, test).calls.size(), 1u);
  EXPECT_EQ(fs::last_write_time(files[0]), written);
  fs::resize_file(files[0], 100);
  EXPECT_EQ(kept_recording(label, test).calls.size(), 1u);
  EXPECT_GT(fs::file_size(files[0]), 100u);
  std::ofstream(test) << "import torch\ntwice(torch.ones(1))\ntwice(torch.ones(2))\n";
  EXPECT_EQ(kept_recording(label, test).calls.size(), 2u);
  unsetenv("ISOMER_CACHE");
}

TEST_F(RecordTorch, TheExamplesAreWhatTheirSourcesGive) {
  for (const char* name : {"quantize_copy_kv", "flash_decode_stage2", "sin", "attention"}) {
    RecordSettings settings = settings_of_folder(fs::path(ISOMER_PORTS) / name);
    settings.python = {ISOMER_PYTHON};
    const Recording now = record(settings).recording;
    const Recording kept = load_recording((fs::path(ISOMER_PORTS) / name / "recording.safetensors").string());
    ASSERT_EQ(now.calls.size(), kept.calls.size()) << name;
    for (const char* key : {"test_sha256", "label_sha256", "facts"})
      EXPECT_EQ(now.metadata.at(key), kept.metadata.at(key)) << name << ": record it again";
    for (std::size_t c = 0; c < now.calls.size(); ++c) {
      ASSERT_EQ(now.calls[c].before.size(), kept.calls[c].before.size());
      for (std::size_t i = 0; i < now.calls[c].before.size(); ++i)
        EXPECT_EQ(now.calls[c].before[i].tensor.describe(), kept.calls[c].before[i].tensor.describe())
            << name;
    }
  }
}

TEST_F(RecordTorch, WhatTheAnswerDependsOnIsKept) {
  const Recorded got = recorded(
      "import torch\n\ndef before(x, w, turned: bool, unread=0.5):\n"
      "    return torch.cumsum(x, 1) - x + w\n",
      "torch.manual_seed(3)\nbefore(torch.randn(3, 5), torch.randn(5), True, 0.25)\n");
  const std::optional<Facts> facts = facts_of(got.recording);
  ASSERT_TRUE(facts.has_value());
  const auto of = [&](const std::string& argument, int dim) -> LabelInfluence {
    for (const LabelInfluence& each : facts->influence)
      if (each.argument == argument && each.dim == dim) return each;
    ADD_FAILURE() << argument << " " << dim;
    return {};
  };
  EXPECT_TRUE(of("x", 1).first);
  EXPECT_FALSE(of("x", 1).last);
  EXPECT_TRUE(of("x", 0).last);
  ASSERT_EQ(of("x", 1).reach.size(), 1u);
  EXPECT_EQ(of("x", 1).reach[0].counts, (std::vector<std::int64_t>{3, 3}));
  EXPECT_EQ(of("w", 0).reach.at(0).counts, (std::vector<std::int64_t>{3, 1}));
  EXPECT_FALSE(of("turned", -1).first);
  EXPECT_FALSE(of("unread", -1).first);
  EXPECT_TRUE(of("w", -1).first);
  EXPECT_EQ(got.recording.calls[0].idle, (std::vector<bool>{false, false, true, true}));
}

TEST_F(RecordTorch, WhatDoesNotMatterToASingleCallIsKept) {
  const Recorded got = recorded(
      "import torch\n\ndef scale(x, w, first: int):\n    return x * w if x.shape[0] > first else x + 0\n",
      "torch.manual_seed(3)\nscale(torch.randn(3, 5), torch.randn(5), 2)\n"
      "scale(torch.randn(2, 5), torch.randn(5), 2)\n");
  ASSERT_EQ(got.recording.calls.size(), 2u);
  EXPECT_FALSE(got.recording.calls[0].idle.at(1));
  EXPECT_TRUE(got.recording.calls[1].idle.at(1));
  EXPECT_FALSE(got.recording.calls[1].idle.at(0));
}

}  // namespace
}  // namespace isomer::lab
