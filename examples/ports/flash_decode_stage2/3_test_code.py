import torch


def test_flash_decode_stage2():
    torch.manual_seed(5)
    results = {}

    def inputs(batch, heads, blocks, dim, lengths):
        return {
            "mid_out": torch.randn((batch, heads, blocks, dim), dtype=torch.float32, device="cuda"),
            "mid_out_logexpsum": torch.randn((batch, heads, blocks), dtype=torch.float32, device="cuda"),
            "B_Seqlen": torch.tensor(lengths, dtype=torch.int32, device="cuda"),
            "Out": torch.zeros((batch, heads, dim), dtype=torch.float32, device="cuda"),
        }

    case1 = inputs(2, 4, 3, 64, [48, 33])
    flash_decode_stage2(case1["mid_out"], case1["mid_out_logexpsum"], case1["B_Seqlen"], case1["Out"], 16)
    results["all blocks"] = case1["Out"]

    # The second sequence has no token yet.
    case2 = inputs(2, 2, 4, 32, [50, 0])
    flash_decode_stage2(case2["mid_out"], case2["mid_out_logexpsum"], case2["B_Seqlen"], case2["Out"], 16)
    results["an empty sequence"] = case2["Out"]
    return results


result_gold = test_flash_decode_stage2()
