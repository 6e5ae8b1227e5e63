import torch


def test_quantize_copy_kv():
    results = {}
    heads, dim = 4, 64

    # Every token to the row of its own number.
    keys1 = torch.randn((12, heads, dim), dtype=torch.float16).cuda()
    dest1 = torch.arange(0, 12, dtype=torch.int32).cuda()
    out1 = torch.zeros((12, heads, dim), dtype=torch.int8).cuda()
    scale1 = torch.zeros((12, heads, 1), dtype=torch.float16).cuda()
    destindex_copy_quantize_kv(keys1, dest1, out1, scale1)
    results["in order"] = out1

    # Few tokens into a larger cache, from its back.
    keys2 = torch.randn((5, heads, dim), dtype=torch.float16).cuda()
    dest2 = torch.tensor([15, 3, 9, 0, 12], dtype=torch.int32).cuda()
    out2 = torch.zeros((16, heads, dim), dtype=torch.int8).cuda()
    scale2 = torch.zeros((16, heads, 1), dtype=torch.float16).cuda()
    destindex_copy_quantize_kv(keys2, dest2, out2, scale2)
    results["scattered"] = out2

    # Keys as the middle part of a fused projection: rows further apart than they are long.
    fused = torch.randn((6, 3, heads, dim), dtype=torch.float16).cuda()
    keys3 = fused[:, 1]
    dest3 = torch.tensor([1, 0, 3, 2, 5, 4], dtype=torch.int32).cuda()
    out3 = torch.zeros((6, heads, dim), dtype=torch.int8).cuda()
    scale3 = torch.zeros((6, heads, 1), dtype=torch.float16).cuda()
    destindex_copy_quantize_kv(keys3, dest3, out3, scale3)
    results["from a fused projection"] = out3

    # Small activations, as of a layer that hardly speaks.
    keys4 = torch.randn((4, heads, dim), dtype=torch.float16).cuda() * 1e-3
    dest4 = torch.tensor([2, 0, 3, 1], dtype=torch.int32).cuda()
    out4 = torch.zeros((4, heads, dim), dtype=torch.int8).cuda()
    scale4 = torch.zeros((4, heads, 1), dtype=torch.float16).cuda()
    destindex_copy_quantize_kv(keys4, dest4, out4, scale4)
    results["small"] = out4
    return results


result_gold = test_quantize_copy_kv()
