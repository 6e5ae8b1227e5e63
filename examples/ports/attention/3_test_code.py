import torch


def test_attention():
    torch.manual_seed(8)
    results = {}

    def inputs(batch, queries, keys, heads, kv_heads, dim):
        return (
            torch.randn((batch, queries, heads, dim), dtype=torch.float16, device="cuda"),
            torch.randn((batch, keys, kv_heads, dim), dtype=torch.float16, device="cuda"),
            torch.randn((batch, keys, kv_heads, dim), dtype=torch.float16, device="cuda"),
        )

    q1, k1, v1 = inputs(1, 6, 19, 4, 2, 32)
    results["the last queries of a sequence"] = attention(q1, k1, v1, True, 0.25)
    q2, k2, v2 = inputs(2, 5, 9, 6, 3, 16)
    results["all keys"] = attention(q2, k2, v2, False, 0.25)
    return results


result_gold = test_attention()
