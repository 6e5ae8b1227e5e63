# Made from the contracts by `python -m isomer._stub`; tests/test_stub.py fails where it is not current.
from collections.abc import Callable
from typing import Any, Literal

from ._lab import LaunchRecord as LaunchRecord, Trace as Trace, case_folder as case_folder, check as check
from ._lab import diff as diff, trace as trace
from ._recording import Recording as Recording, record as record
from ._reports import Candidate as Candidate, CaseResult as CaseResult, Difference as Difference, Finding as Finding
from ._reports import Pair as Pair, Report as Report, TensorDifference as TensorDifference
from ._types import Argument as Argument, Clause as Clause, Device as Device, Explanation as Explanation
from ._types import Implementation as Implementation, KernelLaunch as KernelLaunch, Op as Op, Option as Option
from ._types import Error as Error, Plan as Plan, Queue as Queue

Tensor = Any
"""An array of NumPy, PyTorch, JAX or CuPy, or any object with DLPack, the buffer protocol or an array interface."""
DType = Any

__version__: str

def devices() -> list[Device]: ...
def ops() -> list[Op]: ...
def explain(op: Callable[..., Any] | str, *tensors: Tensor, queue: Queue | None = None, **given: Any) -> Explanation: ...

def sin(x: Tensor, *, y: Tensor | None = None, queue: Queue | None = None) -> Any:
    """y[i] = sin(x[i]), computed in f32.

    Tensors, of NumPy, PyTorch, JAX or CuPy, all on one device; none is copied:
        x: f32 or f16 or bf16 [...]; angles in radians.
        y: f32 or f16 or bf16 [...]; sines; allocated where it is not given.

    queue is where the call runs; None is the CPU, or the current stream of PyTorch or CuPy on the tensors'
    device. Returns the outputs. Raises isomer.Error, with nothing written, where the call breaks a clause:

    Tolerance: 2 ulp for f32, 1 ulp for f16 and bf16.
    Source of the semantics: TritonBench sin_kernel.py.
    """

def act_quant(x: Tensor, *, y: Tensor | None = None, s: Tensor | None = None, block_size: int = 128, amax_floor: float = 0.0001, scale_format: Literal['f32', 'ue8m0'] = 'f32', scale_layout: Literal['row_major', 'column_major'] = 'row_major', queue: Queue | None = None) -> tuple[Any, Any]:
    """s = max(max|x|, amax_floor) / 448 by block, y = e4m3fn(x / s).

    Tensors, of NumPy, PyTorch, JAX or CuPy, all on one device; none is copied:
        x: f32 or f16 or bf16 [..., K], last dimension contiguous; activations.
        y: e4m3fn [..., K], last dimension contiguous; quantised activations; allocated where it is not
            given.
        s: f32 [..., K/block_size]; scales: x is about y · s; allocated where it is not given.

    Options:
        block_size: int, default 128; elements of a row that share a scale: 32, 64, 128 or 256.
        amax_floor: f32, default 0.0001; least amax of a block.
        scale_format: f32 | ue8m0, default f32; ue8m0: the scale rounded up to a power of two.
        scale_layout: row_major | column_major, default row_major; column_major: adjacent rows, columns
            a multiple of 4 apart.

    queue is where the call runs; None is the CPU, or the current stream of PyTorch or CuPy on the tensors'
    device. Returns the outputs. Raises isomer.Error, with nothing written, where the call breaks a clause:
        - block_size is 32, 64, 128 or 256
        - K is a multiple of block_size
        - amax_floor is finite and not negative
        - scale_format and scale_layout are enumerators
        - s lies as scale_layout says

    Tolerance: exact.
    Source of the semantics: DeepSeek-V3 inference/kernel.py, act_quant.
    """

def silu_mul_quant(x: Tensor, *, y: Tensor | None = None, s: Tensor | None = None, row_counts: Tensor | None = None, amax_floor: float = 0.0001, scale_format: Literal['f32', 'ue8m0'] = 'f32', scale_layout: Literal['row_major', 'column_major'] = 'row_major', queue: Queue | None = None) -> tuple[Any, Any]:
    """h = silu(first half of x) * second half, s = max(max|h|, amax_floor) / 448 by block of 128, y = e4m3fn(h / s).

    Tensors, of NumPy, PyTorch, JAX or CuPy, all on one device; none is copied:
        x: f32 or f16 or bf16 [M, W] or [G, R, W], last dimension contiguous; gate and, behind it, what
            the gate multiplies.
        y: e4m3fn [M, W/2] or [G, R, W/2], last dimension contiguous; quantised product; rows past a
            count stay untouched; allocated where it is not given.
        s: f32 [M, W/256] or [G, R, W/256]; scales: h is about y · s; allocated where it is not given.
        row_counts: i32 [G]; rows that each entry has.

    Options:
        amax_floor: f32, default 0.0001; least amax of a block.
        scale_format: f32 | ue8m0, default f32; ue8m0: the scale rounded up to a power of two.
        scale_layout: row_major | column_major, default row_major; column_major: adjacent rows, columns
            a multiple of 4 apart.

    queue is where the call runs; None is the CPU, or the current stream of PyTorch or CuPy on the tensors'
    device. Returns the outputs. Raises isomer.Error, with nothing written, where the call breaks a clause:
        - x, y and s have rank 2, or 3 with row_counts
        - W is a multiple of 256
        - amax_floor is finite and not negative
        - scale_format and scale_layout are enumerators
        - s lies as scale_layout says
        - row_counts are in [0, R]

    Tolerance: h within 2^-19 of itself; s and y as act_quant makes them of such an h.
    Source of the semantics: DeepSeek-V3 inference/model.py, Expert, with act_quant of inference/kernel.py behind it.
    """

def weight_dequant(x: Tensor, s: Tensor, *, y: Tensor | None = None, block_size: int = 128, dtype: DType | None = None, queue: Queue | None = None) -> Any:
    """y[m, n] = x[m, n] * s[m/B, n/B] in f32, rounded once to y's type.

    Tensors, of NumPy, PyTorch, JAX or CuPy, all on one device; none is copied:
        x: e4m3fn [M, N], last dimension contiguous; quantised weights.
        s: f32 [ceil(M/block_size), ceil(N/block_size)], last dimension contiguous; one scale for each
            block of block_size rows and columns.
        y: f32 or f16 or bf16 [M, N], last dimension contiguous; weights; allocated where it is not
            given.

    Options:
        block_size: int, default 128; rows and columns that share a scale, at least 1.

    dtype is that of an output that is allocated: a dtype of NumPy or PyTorch or a name as 'bf16'; None
    takes that of the first tensor, or bf16 where it cannot be that.
    queue is where the call runs; None is the CPU, or the current stream of PyTorch or CuPy on the tensors'
    device. Returns the outputs. Raises isomer.Error, with nothing written, where the call breaks a clause:
        - block_size is at least 1

    Tolerance: exact.
    Source of the semantics: DeepSeek-V3 inference/kernel.py, weight_dequant.
    """

def weight_quant(x: Tensor, *, y: Tensor | None = None, s: Tensor | None = None, block_size: int = 128, amax_floor: float = 0.0001, scale_format: Literal['f32', 'ue8m0'] = 'f32', scale_layout: Literal['row_major', 'column_major'] = 'row_major', queue: Queue | None = None) -> tuple[Any, Any]:
    """s = max(max|x|, amax_floor) / 448 by B x B block, y = e4m3fn(x / s).

    Tensors, of NumPy, PyTorch, JAX or CuPy, all on one device; none is copied:
        x: f32 or f16 or bf16 [M, N], last dimension contiguous; weights.
        y: e4m3fn [M, N], last dimension contiguous; quantised weights; allocated where it is not given.
        s: f32 [ceil(M/block_size), ceil(N/block_size)]; one scale for each block of block_size rows and
            columns: x is about y · s; allocated where it is not given.

    Options:
        block_size: int, default 128; rows and columns that share a scale, at least 1.
        amax_floor: f32, default 0.0001; least amax of a block.
        scale_format: f32 | ue8m0, default f32; ue8m0: the scale rounded up to a power of two.
        scale_layout: row_major | column_major, default row_major; column_major: adjacent rows, columns
            a multiple of 4 apart.

    queue is where the call runs; None is the CPU, or the current stream of PyTorch or CuPy on the tensors'
    device. Returns the outputs. Raises isomer.Error, with nothing written, where the call breaks a clause:
        - block_size is at least 1
        - amax_floor is finite and not negative
        - scale_format and scale_layout are enumerators
        - s lies as scale_layout says

    Tolerance: exact.
    Source of the semantics: the inverse of DeepSeek-V3 inference/kernel.py, weight_dequant.
    """

def fp8_gemm(a: Tensor, a_s: Tensor, b: Tensor, b_s: Tensor, *, c: Tensor | None = None, bias: Tensor | None = None, addend: Tensor | None = None, b_ready: int = 0, dtype: DType | None = None, queue: Queue | None = None) -> Any:
    """c = sum over kb of (sum over k in kb of a*b) * a_s[m,kb] * b_s[n/128,kb], + bias + addend.

    Tensors, of NumPy, PyTorch, JAX or CuPy, all on one device; none is copied:
        a: e4m3fn [..., K], last dimension contiguous; left operand; the leading dimensions together are
            the M rows.
        a_s: f32 [..., ceil(K/128)]; scale per row and 128 columns of a, row- or column-major.
        b: e4m3fn [N, K], last dimension contiguous; right operand, K contiguous.
        b_s: f32 [ceil(N/128), ceil(K/128)]; scale per 128x128 block of b.
        c: f32 or f16 or bf16 [..., N], last dimension contiguous; product; the same view as addend
            accumulates in place; allocated where it is not given.
        bias: f32 or f16 or bf16 [N]; added to every row in f32.
        addend: f32 or f16 or bf16 [..., N], last dimension contiguous; added to the product in f32.

    Options:
        b_ready: int, default 0; 1 promises that nothing which is still under way in the queue writes b.

    dtype is that of an output that is allocated: a dtype of NumPy or PyTorch or a name as 'bf16'; None
    takes that of the first tensor, or bf16 where it cannot be that.
    queue is where the call runs; None is the CPU, or the current stream of PyTorch or CuPy on the tensors'
    device. Returns the outputs. Raises isomer.Error, with nothing written, where the call breaks a clause:
        - b_ready is 0 or 1

    Tolerance: u_c*|ref| + 2^-20*(sum over kb of |a_s*b_s|*sum|a*b|, + |bias| + |addend|), u_c = 2^-24 f32,
    2^-11 f16, 2^-8 bf16; never below half a subnormal of c; where Hopper's tensor cores sum e4m3 products
    2^-9 of the products' magnitude more.
    Source of the semantics: DeepSeek-V3 inference/kernel.py (fp8_gemm).
    """

def grouped_fp8_gemm(a: Tensor, a_s: Tensor, b: Tensor, b_s: Tensor, *, c: Tensor | None = None, expert_ids: Tensor | None = None, row_counts: Tensor | None = None, bias: Tensor | None = None, addend: Tensor | None = None, dtype: DType | None = None, queue: Queue | None = None) -> Any:
    """fp8_gemm of every row with the weights of its expert.

    Tensors, of NumPy, PyTorch, JAX or CuPy, all on one device; none is copied:
        a: e4m3fn [M, K] or [G, R, K], last dimension contiguous; rows of all experts, or with
            row_counts R rows for each expert.
        a_s: f32 [M, ceil(K/128)] or [G, R, ceil(K/128)]; scale per row and 128 columns of a, row- or
            column-major.
        b: e4m3fn [G, N, K], last dimension contiguous; weights of each expert.
        b_s: f32 [G, ceil(N/128), ceil(K/128)]; scale per 128x128 block of b.
        c: f32 or f16 or bf16 [M, N] or [G, R, N], last dimension contiguous; product; padding rows
            become 0, rows past a count stay untouched; allocated where it is not given.
        expert_ids: i32 [M]; expert of each row, ascending, segments at multiples of 128; -1 is a
            padding row.
        row_counts: i32 [G]; rows that each expert has.
        bias: f32 or f16 or bf16 [G, N]; added to every row of its expert in f32.
        addend: f32 or f16 or bf16 [M, N] or [G, R, N], last dimension contiguous; added to the product
            in f32.

    dtype is that of an output that is allocated: a dtype of NumPy or PyTorch or a name as 'bf16'; None
    takes that of the first tensor, or bf16 where it cannot be that.
    queue is where the call runs; None is the CPU, or the current stream of PyTorch or CuPy on the tensors'
    device. Returns the outputs. Raises isomer.Error, with nothing written, where the call breaks a clause:
        - exactly one of expert_ids and row_counts is given
        - a, a_s, c and addend have rank 2 with expert_ids, rank 3 with row_counts
        - expert_ids are in [-1, G)
        - rows are sorted by expert, segments begin at multiples of 128, and padding fills the rest
        - row_counts are in [0, R]

    Tolerance: that of fp8_gemm.
    Source of the semantics: DeepGEMM m_grouped_fp8_gemm_nt_contiguous and m_grouped_fp8_gemm_nt_masked.
    """

def fp8_linear(x: Tensor, b: Tensor, b_s: Tensor, *, c: Tensor | None = None, bias: Tensor | None = None, addend: Tensor | None = None, scale_format: Literal['f32', 'ue8m0'] = 'f32', amax_floor: float = 0.0001, b_ready: int = 0, dtype: DType | None = None, queue: Queue | None = None) -> Any:
    """c = fp8_gemm of act_quant of x in blocks of 128, + bias + addend.

    Tensors, of NumPy, PyTorch, JAX or CuPy, all on one device; none is copied:
        x: f32 or f16 or bf16 [..., K], last dimension contiguous; activations; the leading dimensions
            together are the M rows.
        b: e4m3fn [N, K], last dimension contiguous; weights, K contiguous.
        b_s: f32 [ceil(N/128), ceil(K/128)]; scale per 128x128 block of b.
        c: f32 or f16 or bf16 [..., N], last dimension contiguous; product; the same view as addend
            accumulates in place; allocated where it is not given.
        bias: f32 or f16 or bf16 [N]; added to every row in f32.
        addend: f32 or f16 or bf16 [..., N], last dimension contiguous; added to the product in f32.

    Options:
        scale_format: f32 | ue8m0, default f32; ue8m0: the scales of x rounded up to a power of two.
        amax_floor: f32, default 0.0001; least amax of a block of x.
        b_ready: int, default 0; 1 promises that nothing which is still under way in the queue writes b.

    dtype is that of an output that is allocated: a dtype of NumPy or PyTorch or a name as 'bf16'; None
    takes that of the first tensor, or bf16 where it cannot be that.
    queue is where the call runs; None is the CPU, or the current stream of PyTorch or CuPy on the tensors'
    device. Returns the outputs. Raises isomer.Error, with nothing written, where the call breaks a clause:
        - K is a multiple of 128
        - amax_floor is finite and not negative
        - scale_format is an enumerator
        - b_ready is 0 or 1

    Tolerance: that of fp8_gemm, of the codes and scales that act_quant gives.
    Source of the semantics: DeepSeek-V3 inference/model.py, linear, with act_quant and fp8_gemm of inference/kernel.py.
    """

def expert_layer(a: Tensor, a_s: Tensor, gate_up: Tensor, gate_up_s: Tensor, down: Tensor, down_s: Tensor, *, out: Tensor | None = None, expert_ids: Tensor | None = None, row_counts: Tensor | None = None, scale_format: Literal['f32', 'ue8m0'] = 'f32', amax_floor: float = 0.0001, dtype: DType | None = None, queue: Queue | None = None) -> Any:
    """x = a * gate_up^T in bf16, h = silu_mul_quant of x, out = h * down^T, with the weights of each row's expert.

    Tensors, of NumPy, PyTorch, JAX or CuPy, all on one device; none is copied:
        a: e4m3fn [M, H] or [G, R, H], last dimension contiguous; rows of all experts, or with
            row_counts R rows for each expert.
        a_s: f32 [M, ceil(H/128)] or [G, R, ceil(H/128)]; scale per row and 128 columns of a.
        gate_up: e4m3fn [G, W, H], last dimension contiguous; weights of each expert: the gate's rows
            and, behind them, what it multiplies.
        gate_up_s: f32 [G, W/128, ceil(H/128)]; scale per 128x128 block of gate_up.
        down: e4m3fn [G, O, W/2], last dimension contiguous; weights of each expert.
        down_s: f32 [G, ceil(O/128), W/256]; scale per 128x128 block of down.
        out: f32 or f16 or bf16 [M, O] or [G, R, O], last dimension contiguous; rows of padding become
            0, rows past a count stay untouched; allocated where it is not given.
        expert_ids: i32 [M]; expert of each row, ascending, segments at multiples of 128; -1 is a
            padding row.
        row_counts: i32 [G]; rows that each expert has.

    Options:
        scale_format: f32 | ue8m0, default f32; ue8m0: the scales of h rounded up to a power of two.
        amax_floor: f32, default 0.0001; least amax of a block of h.

    dtype is that of an output that is allocated: a dtype of NumPy or PyTorch or a name as 'bf16'; None
    takes that of the first tensor, or bf16 where it cannot be that.
    queue is where the call runs; None is the CPU, or the current stream of PyTorch or CuPy on the tensors'
    device. Returns the outputs. Raises isomer.Error, with nothing written, where the call breaks a clause:
        - exactly one of expert_ids and row_counts is given
        - a, a_s and out have rank 2 with expert_ids, rank 3 with row_counts
        - W is a multiple of 256
        - amax_floor is finite and not negative
        - scale_format is an enumerator
        - expert_ids are in [-1, G)
        - rows are sorted by expert, segments begin at multiples of 128, and padding fills the rest
        - row_counts are in [0, R]

    Tolerance: each product that of fp8_gemm; what x within its bound makes of the scales and codes of h, in
    the worst case or as six deviations of independent codes, whichever is less.
    Source of the semantics: DeepSeek-V3 inference/model.py, Expert, with the products and act_quant of inference/kernel.py.
    """

def quantize_copy_kv(k: Tensor, dest: Tensor, out: Tensor, out_scale: Tensor, *, group: int = 0, dtype: DType | None = None, queue: Queue | None = None) -> tuple[Any, Any]:
    """scale = max|k| / 127, out[dest[s]] = int8(trunc(k[s] / scale)), by head or by 8 channels.

    Tensors, of NumPy, PyTorch, JAX or CuPy, all on one device; none is copied:
        k: f32 or f16 or bf16 [S, H, D]; keys or values of the new tokens.
        dest: i32 or i64 [S]; row of out that each token goes to.
        out: i8 [N, H, D]; cache; rows that dest does not name stay as they are.
        out_scale: f32 or f16 or bf16 [N, H, groups] or [N, H]; scales; groups is 1, or D/8 with group =
            8.

    Options:
        group: int, default 0; channels that share a scale: 0 for the whole head, or 8.

    dtype is that of an output that is allocated: a dtype of NumPy or PyTorch or a name as 'bf16'; None
    takes that of the first tensor, or bf16 where it cannot be that.
    queue is where the call runs; None is the CPU, or the current stream of PyTorch or CuPy on the tensors'
    device. Returns the outputs. Raises isomer.Error, with nothing written, where the call breaks a clause:
        - group is 0 or 8
        - D is a multiple of group
        - out_scale has rank 3 with a group
        - dest is in [0, N)

    Tolerance: exact; where k / scale lies within 4 ulp of an integer, out may differ by 1 from an
    approximate divide.
    Source of the semantics: lightllm destindex_copy_kv.py and ppl_quant_copy_kv.py, destindex_copy_quantize_kv.
    """

def flash_decode(q: Tensor, k: Tensor, v: Tensor, req_to_tokens: Tensor, b_req_idx: Tensor, b_seqlen: Tensor, *, out: Tensor | None = None, k_scale: Tensor | None = None, v_scale: Tensor | None = None, block_seq: int = 0, max_len: int = 0, scale: float = 0.0, dtype: DType | None = None, queue: Queue | None = None) -> Any:
    """out[b, h] = softmax(scale·q·kᵀ)·v over the tokens that req_to_tokens names, split into blocks and merged.

    Tensors, of NumPy, PyTorch, JAX or CuPy, all on one device; none is copied:
        q: f32 or f16 or bf16 [B, Hq, D]; one query per sequence and head.
        k: f32 or f16 or bf16 or i8 [slots, Hkv, D]; keys by slot.
        v: f32 or f16 or bf16 or i8 [slots, Hkv, D]; values by slot.
        req_to_tokens: i32 [R, Lmax]; slot of each token of a request.
        b_req_idx: i32 or i64 [B]; request of each sequence.
        b_seqlen: i32 or i64 [B]; tokens of each sequence.
        out: f32 or f16 or bf16 [B, Hq, D]; result; allocated where it is not given.
        k_scale: f32 or f16 or bf16 [slots, Hkv, 1] or [slots, Hkv, D/8] or [slots, Hkv]; multiplies
            int8 k: of a row, or of each 8 channels.
        v_scale: f32 or f16 or bf16 [slots, Hkv, 1] or [slots, Hkv, D/8] or [slots, Hkv]; multiplies
            int8 v: of a row, or of each 8 channels.

    Options:
        block_seq: int, default 0; tokens of one block, a multiple of 16; 0: the plan decides.
        max_len: int, default 0; an upper bound of b_seqlen; 0: Lmax.
        scale: f32, default 0; multiplies q·k; 0: 1/sqrt(D).

    dtype is that of an output that is allocated: a dtype of NumPy or PyTorch or a name as 'bf16'; None
    takes that of the first tensor, or bf16 where it cannot be that.
    queue is where the call runs; None is the CPU, or the current stream of PyTorch or CuPy on the tensors'
    device. Returns the outputs. Raises isomer.Error, with nothing written, where the call breaks a clause:
        - block_seq is 0 or a positive multiple of 16
        - max_len is not negative
        - Hkv divides Hq
        - D is a multiple of 8 from 8 to 256
        - k is of q's dtype, or int8 with k_scale and v_scale
        - scale is finite
        - 0 <= b_seqlen[b] <= the longest that Lmax, max_len and nb·block_seq allow
        - 0 <= b_req_idx[b] < R where b_seqlen[b] > 0
        - 0 <= req_to_tokens[request, t] < slots for every token t of a sequence

    Tolerance: u_out·|ref| + min(u_P·Σp|v|, 6·u_P·√Σp²v²) + 2^-20·max(1, max|S|)·Σp|v| + Σmin(p, h_P/l)|v|,
    u_P and h_P of the input's type, l = Σe^(S − max S): h_P = 2^-25 f16, 2^-126 bf16 and f32.
    Source of the semantics: lightllm flash_decoding (llama); len 0 gives 0, v by its own strides, every stride honoured.
    """

def flash_decode_stage1(q: Tensor, k: Tensor, v: Tensor, req_to_tokens: Tensor, b_req_idx: Tensor, b_seqlen: Tensor, mid_out: Tensor, mid_lse: Tensor, *, k_scale: Tensor | None = None, v_scale: Tensor | None = None, block_seq: int = 256, max_len: int = 0, scale: float = 0.0, queue: Queue | None = None) -> tuple[Any, Any]:
    """per block of block_seq tokens: mid_out = softmax(S)·v, mid_lse = ln Σ e^S, S = scale·q·kᵀ.

    Tensors, of NumPy, PyTorch, JAX or CuPy, all on one device; none is copied:
        q: f32 or f16 or bf16 [B, Hq, D]; one query per sequence and head.
        k: f32 or f16 or bf16 or i8 [slots, Hkv, D]; keys by slot.
        v: f32 or f16 or bf16 or i8 [slots, Hkv, D]; values by slot.
        req_to_tokens: i32 [R, Lmax]; slot of each token of a request.
        b_req_idx: i32 or i64 [B]; request of each sequence.
        b_seqlen: i32 or i64 [B]; tokens of each sequence.
        mid_out: f32 [B, Hq, nb, D]; result of each block; a block without tokens stays untouched.
        mid_lse: f32 [B, Hq, nb]; natural-log denominator of each block; likewise.
        k_scale: f32 or f16 or bf16 [slots, Hkv, 1] or [slots, Hkv, D/8] or [slots, Hkv]; multiplies
            int8 k: of a row, or of each 8 channels.
        v_scale: f32 or f16 or bf16 [slots, Hkv, 1] or [slots, Hkv, D/8] or [slots, Hkv]; multiplies
            int8 v: of a row, or of each 8 channels.

    Options:
        block_seq: int, default 256; tokens of one block, a multiple of 16.
        max_len: int, default 0; an upper bound of b_seqlen; 0: nb·block_seq.
        scale: f32, default 0; multiplies q·k; 0: 1/sqrt(D).

    queue is where the call runs; None is the CPU, or the current stream of PyTorch or CuPy on the tensors'
    device. Returns the outputs. Raises isomer.Error, with nothing written, where the call breaks a clause:
        - block_seq is a positive multiple of 16
        - nb >= ceil(max_len/block_seq)
        - Hkv divides Hq
        - D is a multiple of 8 from 8 to 256
        - k is of q's dtype, or int8 with k_scale and v_scale
        - scale is finite
        - 0 <= b_seqlen[b] <= the longest that Lmax, max_len and nb·block_seq allow
        - 0 <= b_req_idx[b] < R where b_seqlen[b] > 0
        - 0 <= req_to_tokens[request, t] < slots for every token t of a sequence

    Tolerance: u_out·|ref| + min(u_P·Σp|v|, 6·u_P·√Σp²v²) + 2^-20·max(1, max|S|)·Σp|v| + Σmin(p, h_P/l)|v|,
    u_P and h_P of the input's type, l = Σe^(S − max S): h_P = 2^-25 f16, 2^-126 bf16 and f32; mid_lse:
    2^-24·|ref| + 2^-20·max(1, max scale·Σ|q·k|).
    Source of the semantics: lightllm flash_decode_stage1 (llama); v by its own strides, every stride honoured.
    """

def flash_decode_stage2(mid_out: Tensor, mid_lse: Tensor, b_seqlen: Tensor, *, out: Tensor | None = None, block_seq: int = 256, dtype: DType | None = None, queue: Queue | None = None) -> Any:
    """out = Σ e^(lse_j − m)·mid_out_j / Σ e^(lse_j − m) over the ceil(b_seqlen/block_seq) blocks of a row.

    Tensors, of NumPy, PyTorch, JAX or CuPy, all on one device; none is copied:
        mid_out: f32 or f16 or bf16 [B, H, nb, D]; result of each block.
        mid_lse: f32 [B, H, nb]; natural-log weight of each block; −inf weighs nothing.
        b_seqlen: i32 or i64 [B]; tokens of each sequence.
        out: f32 or f16 or bf16 [B, H, D]; result; allocated where it is not given.

    Options:
        block_seq: int, default 256; tokens of one block of the first stage.

    dtype is that of an output that is allocated: a dtype of NumPy or PyTorch or a name as 'bf16'; None
    takes that of the first tensor, or bf16 where it cannot be that.
    queue is where the call runs; None is the CPU, or the current stream of PyTorch or CuPy on the tensors'
    device. Returns the outputs. Raises isomer.Error, with nothing written, where the call breaks a clause:
        - block_seq is positive
        - 0 <= b_seqlen[b] <= nb·block_seq

    Tolerance: u_out·|ref| + 2^-24·Σw|mid_out| + 2^-20·max(1, max|lse|)·Σw|mid_out|, w the normalised
    weights.
    Source of the semantics: lightllm flash_decode_stage2 (llama), TritonBench flash_decode2_llama.py and flash_decode2_phi.py; a row without weight gives 0, every stride honoured.
    """

def attention(q: Tensor, k: Tensor, v: Tensor, *, out: Tensor | None = None, lse: Tensor | None = None, cu_seqlens_q: Tensor | None = None, cu_seqlens_k: Tensor | None = None, seqused_q: Tensor | None = None, seqused_k: Tensor | None = None, leftpad_k: Tensor | None = None, page_table: Tensor | None = None, kv_batch_idx: Tensor | None = None, k_new: Tensor | None = None, v_new: Tensor | None = None, cu_seqlens_k_new: Tensor | None = None, cache_seqlens: Tensor | None = None, rotary_cos: Tensor | None = None, rotary_sin: Tensor | None = None, q_descale: Tensor | None = None, k_descale: Tensor | None = None, v_descale: Tensor | None = None, sink: Tensor | None = None, k_scale: Tensor | None = None, v_scale: Tensor | None = None, qv: Tensor | None = None, scale: float | None = None, causal: bool = False, window: tuple[int, int] = (-1, -1), softcap: float = 0.0, max_seqlen_q: int = 0, max_seqlen_k: int = 0, rotary_interleaved: bool = False, v_colmajor: bool = False, pack_gqa: Literal['plan', 'never', 'always'] = 'plan', num_splits: int = 0, split_size: int = 0, attention_chunk: int = 0, return_lse: bool = False, dtype: DType | None = None, queue: Queue | None = None) -> Any | tuple[Any, Any]:
    """out = softmax(mask(softcap(scale·q·kᵀ)))·v per query head; lse = ln Σ exp.

    Tensors, of NumPy, PyTorch, JAX or CuPy, all on one device; none is copied:
        q: f32 or f16 or bf16 or e4m3fn [B, Sq, Hq, D] or [total_q, Hq, D], last dimension contiguous;
            queries.
        k: f32 or f16 or bf16 or e4m3fn or i8 [rows, Sk, Hkv, D] or [total_k, Hkv, D], last dimension
            contiguous; keys: by cache row, by page (rows = pages, Sk = page_size), or of all entries;
            written in place by an append.
        v: f32 or f16 or bf16 or e4m3fn or i8 [_, _, _, _] or [_, _, _], last dimension contiguous;
            values: k's shape with Dv, or its last three dimensions [Hkv, Dv, Sk] with v_colmajor;
            written in place by an append.
        out: f32 or f16 or bf16 [B, Sq, Hq, Dv] or [total_q, Hq, Dv], last dimension contiguous; result;
            allocated where it is not given.
        lse: f32 [B, Hq, Sq] or [Hq, total_q], last dimension contiguous; natural log of the softmax
            denominator; allocated where it is not given and return_lse is set.
        cu_seqlens_q: i32 [B+1], last dimension contiguous; query rows of entry b are [cu[b], cu[b+1]).
        cu_seqlens_k: i32 [B+1], last dimension contiguous; keys of entry b are rows [cu[b], cu[b+1]) of
            k.
        seqused_q: i32 [B], last dimension contiguous; effective query lengths.
        seqused_k: i32 [B], last dimension contiguous; effective key lengths, the left padding among
            them.
        leftpad_k: i32 [B], last dimension contiguous; slot of each entry's first key.
        page_table: i32 [table_rows, max_pages], last dimension contiguous; page of every page_size
            keys.
        kv_batch_idx: i32 [B], last dimension contiguous; row of k, or of page_table, that an entry
            uses.
        k_new: f32 or f16 or bf16 or e4m3fn [B, Sn, Hkv, D] or [total_new, Hkv, D], last dimension
            contiguous; keys to append to k.
        v_new: f32 or f16 or bf16 or e4m3fn [B, Sn, Hkv, Dv] or [total_new, Hkv, Dv], last dimension
            contiguous; values to append to v.
        cu_seqlens_k_new: i32 [B+1], last dimension contiguous; rows of k_new of entry b are [cu[b],
            cu[b+1]).
        cache_seqlens: i32 [B], last dimension contiguous; slots filled before the append, the left
            padding among them.
        rotary_cos: f32 or f16 or bf16 [positions, pairs], last dimension contiguous; cosines of the
            rotary embedding, pairs = rotary_dim / 2.
        rotary_sin: f32 or f16 or bf16 [positions, pairs], last dimension contiguous; sines of the
            rotary embedding.
        q_descale: f32 [B, Hkv], last dimension contiguous; multiplies the logits.
        k_descale: f32 [B, Hkv], last dimension contiguous; multiplies the logits.
        v_descale: f32 [B, Hkv], last dimension contiguous; multiplies out.
        sink: f32 or f16 or bf16 [Hq], last dimension contiguous; a logit of each head, not scaled.
        k_scale: f32 or f16 or bf16 [_, _, _, _] or [_, _, _] or [_, _]; multiplies int8 k: k's shape,
            the last dimension absent, 1 or D/8.
        v_scale: f32 or f16 or bf16 [_, _, _, _] or [_, _, _] or [_, _]; multiplies int8 v: v's shape,
            the last dimension absent, 1 or Dv/8.
        qv: f32 or f16 or bf16 [B, Sq, Hq, Dv] or [total_q, Hq, Dv], last dimension contiguous; queries
            of v (absorbed MLA): S = scale·(q·kᵀ + qv·vᵀ).

    Options:
        scale: f32, default 1/sqrt(D), with qv 1/sqrt(D + Dv); multiplies q·k (and qv·v).
        causal: bool, default false; query i sees key j only where j <= i + Sk - Sq.
        window: (left, right), default (-1, -1); left: keys left of the diagonal that are visible; -1
            all; right: keys right of the diagonal that are visible; -1 all.
        softcap: f32, default 0; S = softcap·tanh(S/softcap) before masking; 0 off.
        max_seqlen_q: int, default 0; upper bound of the query lengths; 0 unknown.
        max_seqlen_k: int, default 0; upper bound of the key lengths; 0 unknown.
        rotary_interleaved: bool, default false; pairs (2i, 2i+1) instead of (i, i + rotary_dim/2).
        v_colmajor: bool, default false; v's last three dimensions are [Hkv, Dv, Sk].
        pack_gqa: plan | never | always, default plan; rows = query position × heads of one group.
        num_splits: int, default 0; parts into which the keys are split; 0 the plan decides, 1 none.
        split_size: int, default 0; keys of one part; 0 off.
        attention_chunk: int, default 0; keys of a chunk: with p = i + Sk - Sq query i sees key j only
            where p - p mod chunk <= j < p - p mod chunk + chunk; 0 off.

    dtype is that of an output that is allocated: a dtype of NumPy or PyTorch or a name as 'bf16'; None
    takes that of the first tensor, or bf16 where it cannot be that.
    queue is where the call runs; None is the CPU, or the current stream of PyTorch or CuPy on the tensors'
    device. Returns the outputs. Raises isomer.Error, with nothing written, where the call breaks a clause:
        - q has rank 3 exactly with cu_seqlens_q
        - k has rank 3 exactly with cu_seqlens_k
        - Hkv divides Hq
        - D and Dv are multiples of 8, of 16 with e4m3fn, up to 256 and 512
        - v has k's shape with Dv; with v_colmajor, e4m3fn only, its last three dimensions are [Hkv, Dv,
          Sk]
        - k is of q's dtype, e4m3fn under a 16-bit q, or int8 under any q but e4m3fn
        - k_scale and v_scale come exactly with int8 k and v, in their shapes with the last dimension
          absent, 1 or an eighth
        - k_new is of k's dtype, or f16, bf16 or f32 where k is e4m3fn, never with an int8 k
        - out is of q's dtype; f16, bf16 or f32 for an e4m3fn q
        - qv goes with k and v of q's dtype
        - a descale goes with an e4m3fn tensor
        - sink is f32 or of q's dtype
        - cu_seqlens_k excludes page_table, kv_batch_idx, leftpad_k and k_new
        - page_table needs seqused_k or cache_seqlens
        - k_new, v_new and cache_seqlens come together and exclude seqused_k
        - k_new has rank 3 exactly with cu_seqlens_k_new
        - k, or page_table, has one row for each batch entry unless kv_batch_idx chooses
        - rotary_cos and rotary_sin come together, with k_new, in f32 or q's dtype, for a multiple of 16
          dimensions of D
        - scale and softcap are finite and at least 0
        - windows are at least -1, max_seqlens and attention_chunk at least 0
        - num_splits is 0 to 256, split_size at least 0, and split_size excludes num_splits > 1
        - cu_seqlens_q ascends from 0 within q, no length over max_seqlen_q
        - cu_seqlens_k ascends from 0 within k
        - cu_seqlens_k_new ascends from 0 within k_new
        - kv_batch_idx names rows of k, or of page_table
        - seqused_q is within the query length
        - seqused_k is within the key length, or what the page table can hold
        - cache_seqlens and the new keys fit into the cache
        - leftpad_k is within the keys that the cache holds before an append
        - no key length is over max_seqlen_k
        - page table entries of the keys name pages of k
        - slots that are appended to belong to one batch entry alone
        - rotary_cos and rotary_sin reach every position of the call

    Tolerance: u_out·|ref| + min(u_P·Σp|v|, 6·u_P·√Σp²v²) + 2^-20·max(1, max|S|)·Σp|v| + Σmin(p, h_P/l)|v|,
    u_P and h_P of q's type, l = Σe^(S − max S): h_P = 2^-25 f16, 2^-126 bf16 and f32, 2^-18 e4m3fn; lse:
    2^-24·|lse| + 2^-20·max(1, max Σ|q·k|); Hopper's tensor cores sum e4m3 products 2^-9 of Σ|q·k| and Σp|v|
    less exactly; appended k and v exact, but a rotated element within 2^-23·(|x·cos| + |y·sin|) of a tie
    may round either way (2^-22 where the append quantises).
    Source of the semantics: FlashAttention-3 (hopper/), with sinks and an lse of −inf for empty rows.
    """

def merge_attention(out_a: Tensor, lse_a: Tensor, out_b: Tensor, lse_b: Tensor, *, out: Tensor | None = None, lse: Tensor | None = None, return_lse: bool = False, dtype: DType | None = None, queue: Queue | None = None) -> Any | tuple[Any, Any]:
    """attention over two disjoint key sets from the results over each: out = Σ e^(lse_i − lse)·out_i, lse = ln Σ e^lse_i.

    Tensors, of NumPy, PyTorch, JAX or CuPy, all on one device; none is copied:
        out_a: f32 or f16 or bf16 [..., H, Dv], last dimension contiguous; result over the first keys.
        lse_a: f32 [..., H]; its natural-log softmax denominator.
        out_b: f32 or f16 or bf16 [..., H, Dv], last dimension contiguous; result over the other keys.
        lse_b: f32 [..., H]; its natural-log softmax denominator.
        out: f32 or f16 or bf16 [..., H, Dv], last dimension contiguous; result over all keys; allocated
            where it is not given.
        lse: f32 [..., H]; natural-log softmax denominator over all keys; allocated where it is not
            given and return_lse is set.

    dtype is that of an output that is allocated: a dtype of NumPy or PyTorch or a name as 'bf16'; None
    takes that of the first tensor, or bf16 where it cannot be that.
    queue is where the call runs; None is the CPU, or the current stream of PyTorch or CuPy on the tensors'
    device. Returns the outputs. Raises isomer.Error, with nothing written, where the call breaks a clause:

    Tolerance: out: u_out·|ref| + 2^-24·Σw|out_i| + 2^-20·max(1, max|lse_i|)·Σw|out_i|, w the normalised
    weights; lse: 2^-24·|ref| + 2^-20·max(1, max|lse_i|).
    Source of the semantics: the combine of FlashAttention-3's splits; a part with lse −inf weighs nothing, two give out 0, lse −inf.
    """
