import torch


def quantised(rows, columns):
    return torch.randn((rows, columns), dtype=torch.float32, device="cuda").to(torch.float8_e4m3fn)


def test_fp8_gemm():
    torch.manual_seed(4)
    results = {}
    a1, b1 = quantised(5, 256), quantised(40, 256)
    a_s1 = torch.rand((5, 2), dtype=torch.float32, device="cuda") + 0.5
    b_s1 = torch.rand((1, 2), dtype=torch.float32, device="cuda") + 0.5
    results["a few rows"] = fp8_gemm(a1, a_s1, b1, b_s1)

    a2, b2 = quantised(3, 128), quantised(130, 128)
    a_s2 = torch.rand((3, 1), dtype=torch.float32, device="cuda") + 0.5
    b_s2 = torch.rand((2, 1), dtype=torch.float32, device="cuda") + 0.5
    results["a ragged N"] = fp8_gemm(a2, a_s2, b2, b_s2)
    return results


result_gold = test_fp8_gemm()
