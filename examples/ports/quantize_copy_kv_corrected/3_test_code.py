import torch


def test_quantize_copy_kv():
    torch.manual_seed(11)
    results = {}
    heads, dim = 4, 64

    keys1 = torch.randn((5, heads, dim), dtype=torch.float16).cuda()
    dest1 = torch.tensor([15, 3, 9, 0, 12], dtype=torch.int32).cuda()
    out1 = torch.zeros((16, heads, dim), dtype=torch.int8).cuda()
    scale1 = torch.zeros((16, heads, 1), dtype=torch.float16).cuda()
    destindex_copy_quantize_kv(keys1, dest1, out1, scale1)
    results["scattered"] = out1, scale1

    fused = torch.randn((6, 3, heads, dim), dtype=torch.float16).cuda()
    keys2 = fused[:, 1]
    dest2 = torch.tensor([1, 0, 3, 2, 5, 4], dtype=torch.int32).cuda()
    out2 = torch.zeros((6, heads, dim), dtype=torch.int8).cuda()
    scale2 = torch.zeros((6, heads, 1), dtype=torch.float16).cuda()
    destindex_copy_quantize_kv(keys2, dest2, out2, scale2)
    results["from a fused projection"] = out2, scale2
    return results


result_gold = test_quantize_copy_kv()
