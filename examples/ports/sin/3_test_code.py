import torch


def test_call_kernel():
    results = {}
    few = torch.tensor([0.0, 0.5, 1.0, 2.0], dtype=torch.float32).cuda()
    results["few"] = call_kernel(few)
    even = torch.linspace(0.0, 6.25, 1000, dtype=torch.float32).cuda()
    results["even"] = call_kernel(even)
    empty = torch.tensor([], dtype=torch.float32).cuda()
    results["empty"] = call_kernel(empty)
    negative = torch.tensor([-0.5, -3.0, -100.0], dtype=torch.float32).cuda()
    results["negative"] = call_kernel(negative)
    return results


result_gold = test_call_kernel()
