"""PyTorch's attention through one backend: sdpa.py flash|cudnn|math [--graph] [--profile OUT.json.gz] [--repeat N]."""
import argparse

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

words = argparse.ArgumentParser()
words.add_argument("backend", choices=["flash", "cudnn", "math"])
words.add_argument("--graph", action="store_true")
words.add_argument("--causal", action="store_true")
words.add_argument("--profile")
words.add_argument("--repeat", type=int, default=3)
words = words.parse_args()

backend = {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION, "math": SDPBackend.MATH}[words.backend]
torch.manual_seed(1)
q, k, v = (torch.randn(1, 16, 1285, 128, dtype=torch.float16, device="cuda") for _ in range(3))


def attention():
    with sdpa_kernel(backend):
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=words.causal)


def repeat():
    for _ in range(words.repeat):
        attention()
    torch.cuda.synchronize()


if words.graph:
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        attention()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        attention()
    for _ in range(words.repeat):
        graph.replay()
    torch.cuda.synchronize()
elif words.profile:
    from torch.profiler import ProfilerActivity, profile

    attention()
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as recorded:
        repeat()
    recorded.export_chrome_trace(words.profile)
else:
    repeat()
