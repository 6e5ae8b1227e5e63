// Sizes that a test does not have, and what the label answers to them.
#include "recorded_folder.hpp"

#include <algorithm>

namespace isomer::lab {
namespace {

std::vector<std::string> shapes_of(const Recording& recording, const std::string& asked = "size") {
  std::vector<std::string> all;
  for (const RecordedCall& call : recording.asked)
    if (call.asked == asked)
      all.push_back(call.before[0].tensor.describe() + " " + std::to_string(call.size_before) + "→" +
                    std::to_string(call.size));
  return all;
}

TEST_F(RecordTorch, OddSizesAreAskedOfEveryArgumentThatHasThem) {
  const Recorded got =
      recorded("import torch\n\ndef dot(x, w, n, out):\n    out.copy_((x[:, :n] * w).sum(1))\n",
               "torch.manual_seed(1)\ndot(torch.randn(3, 64), torch.randn(64), 64, "
               "torch.zeros(3))\nprint(torch.rand(1))\n");
  EXPECT_EQ(shapes_of(got.recording),
            (std::vector<std::string>{"f32[3, 63] 64→63", "f32[3, 61] 64→61", "f32[3, 32] 64→32"}));
  for (const RecordedCall& call : got.recording.asked) {
    if (call.asked != "size") continue;
    EXPECT_EQ(call.before[1].tensor.size(0), call.size);
    EXPECT_EQ(call.before[2].integer, call.size);
    double sum = 0;
    for (int i = 0; i < call.size; ++i)
      sum += double(*call.before[0].tensor.at<float>(2, i)) * *call.before[1].tensor.at<float>(i);
    EXPECT_NEAR(*call.after[3].tensor.at<float>(2), sum, 1e-4);
  }
}

TEST_F(RecordTorch, WhatALabelIsNotMadeForIsNotAskedOfIt) {
  const char* test = "f(torch.ones(6, 64))\n";
  // Groups that do not come out even; memory that nobody writes; what raises; what is another each time; what
  // is finite for no smaller size.
  for (const char* body :
       {"n = x.shape[1] // 8\n    return x[:, : 8 * n].sum(1)",
        "y = torch.empty(64)\n    y[: x.shape[1]] = x[0]\n    return y", "return x.view(-1, 8, 8)",
        "return x + torch.empty_like(x)", "return x / max(0, x.shape[1] - 63)"}) {
    const Recorded got = recorded(std::string("import torch\n\ndef f(x):\n    ") + body + "\n",
                                  "import torch\n" + std::string(test));
    for (const std::string& each : shapes_of(got.recording))
      EXPECT_EQ(each.find("f32[6, 6"), std::string::npos) << body << ": " << each;
  }
}

TEST_F(RecordTorch, SizesThatOthersFollowFromAreLeftAsTheyAre) {
  // Heads and the groups of their keys; an index that the smaller table does not hold; views, which are no
  // whole rows.
  EXPECT_TRUE(shapes_of(recorded("def f(q, k):\n    return q.sum(), k.sum()\n",
                                 "import torch\nf(torch.ones(8, 3), torch.ones(2, 3))\n")
                            .recording)
                  .empty());
  EXPECT_TRUE(shapes_of(recorded("def f(ids, table):\n    return table[ids]\n",
                                 "import torch\nf(torch.tensor([0, 9, 3]), torch.rand(10, 3))\n")
                            .recording)
                  .empty());
  EXPECT_TRUE(
      shapes_of(
          recorded("def f(x):\n    return 2 * x\n", "import torch\nf(torch.ones(3, 64)[:, ::2])\n").recording)
          .empty());
}

TEST_F(RecordTorch, LargerSizesAreAskedOfEveryArgumentThatHasThem) {
  const Recorded got =
      recorded("import torch\n\ndef dot(x, w, n, out):\n    out.copy_((x[:, :n] * w).sum(1))\n",
               "torch.manual_seed(1)\ndot(torch.randn(5, 12), torch.randn(12), 12, "
               "torch.zeros(5))\nprint(torch.rand(1))\n");
  EXPECT_EQ(shapes_of(got.recording, "larger"),
            (std::vector<std::string>{"f32[5, 131] 12→131", "f32[131, 12] 5→131", "f32[5, 4099] 12→4099",
                                      "f32[1027, 12] 5→1027"}));
  const Tensor &own = got.recording.calls[0].before[0].tensor, *wide = nullptr;
  for (const RecordedCall& call : got.recording.asked) {
    if (call.asked != "larger" || call.size_before != 12) continue;
    EXPECT_EQ(call.before[1].tensor.size(0), call.size);
    EXPECT_EQ(call.before[2].integer, call.size);
    wide = &call.before[0].tensor;
    double sum = 0;
    for (int i = 0; i < call.size; ++i)
      sum += double(*wide->at<float>(2, i)) * *call.before[1].tensor.at<float>(i);
    EXPECT_NEAR(*call.after[3].tensor.at<float>(2), sum, 1e-2);
  }
  // The test's own elements come first, and no round of them is like another.
  ASSERT_NE(wide, nullptr);
  for (int i = 0; i < 12; ++i) EXPECT_EQ(*wide->at<float>(1, i), *own.at<float>(1, i));
  int alike = 0;
  for (int i = 12; i < 4099; ++i) alike += *wide->at<float>(1, i) == *wide->at<float>(1, i - 12);
  EXPECT_LT(alike, 40);
}

TEST_F(RecordTorch, ALargerSizeOfWhichTheLabelReadsNoMoreIsNotAsked) {
  // Three coefficients of every row, however many there are; and a sum of the rows.
  const Recorded got = recorded("def f(c, x):\n    return (c[:, 0] + c[:, 1] * x + c[:, 2] * x * x).sum()\n",
                                "import torch\ntorch.manual_seed(1)\nf(torch.rand(7, 3), torch.rand(7))\n");
  std::vector<std::int64_t> asked;
  for (const RecordedCall& call : got.recording.asked)
    if (call.asked == "larger") asked.push_back(call.size_before);
  EXPECT_EQ(asked, (std::vector<std::int64_t>{7, 7}));
}

TEST_F(RecordTorch, AnIndexStaysOneAndALengthGrowsWithItsSize) {
  const Recorded got = recorded(
      "def f(x, ids, lengths):\n    return x[ids] * lengths[0]\n",
      "import torch\nf(torch.rand(9, 5), torch.tensor([0, 8, 8, 3]), torch.tensor([9, 9, 2, 7, 1, 9]))\n");
  std::vector<std::int64_t> asked;
  for (const RecordedCall& call : got.recording.asked) {
    if (call.asked != "larger" || call.size > 200) continue;
    asked.push_back(call.size_before);
    for (std::int64_t i = 0; i < call.before[1].tensor.numel(); ++i)
      EXPECT_LT(*call.before[1].tensor.at<std::int64_t>(i), 9);
  }
  EXPECT_EQ(asked, (std::vector<std::int64_t>{5, 4, 6, 9}));
  // Ends of sequences, and places of which none is another's, are left as they are.
  EXPECT_TRUE(shapes_of(recorded("def f(ends, x):\n    return ends * 2\n",
                                 "import torch\nf(torch.tensor([0, 3, 3, 7]), 1)\n")
                            .recording,
                        "larger")
                  .empty());
}

TEST_F(RecordTorch, OfASquareOneOfTheTwoSizesIsAskedAsWell) {
  const Recorded got =
      recorded("def f(x, w):\n    return x @ w.T\n", "import torch\nf(torch.rand(3, 8), torch.rand(8, 8))\n");
  std::vector<std::string> weights;
  for (const RecordedCall& call : got.recording.asked)
    if (call.asked == "larger" && call.size_before == 8 && call.size < 200)
      weights.push_back(call.before[1].tensor.describe());
  EXPECT_EQ(weights, (std::vector<std::string>{"f32[131, 131]", "f32[131, 8]", "f32[8, 131]"}));
}

TEST_F(RecordTorch, WhatIsEqualInOneCallAloneGrowsByItself) {
  // A box has five numbers, which is as high as the first image is.
  const Recorded got = recorded(
      "def f(x, boxes):\n    return x + boxes[..., 0] * boxes[..., 4]\n",
      "import torch\nf(torch.rand(5, 7), torch.rand(5, 7, 5))\nf(torch.rand(6, 4), torch.rand(6, 4, 5))\n");
  int taller = 0;
  for (const RecordedCall& call : got.recording.asked) {
    if (call.asked != "larger") continue;
    EXPECT_EQ(call.before[1].tensor.size(2), 5);
    EXPECT_EQ(call.before[1].tensor.size(0), call.before[0].tensor.size(0));
    taller += call.size_before == 5;
  }
  EXPECT_GT(taller, 0);
}

TEST_F(RecordTorch, WhatIsInOrderStaysSoAndWhatIsCountedIsLeft) {
  const Recorded got = recorded(
      "def f(t, w, x, counts):\n    return (t[:, 1:] - t[:, :-1]) * w, x * 2 + counts.sum()\n",
      "import torch\ntorch.manual_seed(2)\nf(torch.rand(3, 9).sort(-1).values, torch.rand(3, 8).softmax(-1), "
      "torch.rand(11), torch.tensor([4, 7]))\n");
  int seen = 0;
  for (const RecordedCall& call : got.recording.asked) {
    if (call.asked != "larger") continue;
    EXPECT_NE(call.size_before, 11);
    const Tensor &t = call.before[0].tensor, &w = call.before[1].tensor;
    for (std::int64_t row = 0; row < t.size(0); ++row) {
      for (std::int64_t i = 1; i < t.size(1); ++i) EXPECT_LE(*t.at<float>(row, i - 1), *t.at<float>(row, i));
      double sum = 0;
      for (std::int64_t i = 0; i < w.size(1); ++i) sum += double(*w.at<float>(row, i));
      EXPECT_NEAR(sum, 1, 1e-4);
    }
    ++seen;
  }
  EXPECT_GT(seen, 0);
}

}  // namespace
}  // namespace isomer::lab
