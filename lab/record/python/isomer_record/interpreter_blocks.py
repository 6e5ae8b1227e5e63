"""Block pointers in the interpreter of a Triton that has none any more: labels written before it use them."""

import numpy as np


class Blocks:
    """tl.make_block_ptr's answer: a tile of a tensor of any strides."""

    def __init__(self, base, shape, strides, offsets, block_shape):
        self.base, self.shape, self.strides = base, shape, strides
        self.offsets, self.block_shape = offsets, block_shape

    @property
    def type(self):
        return self.base.type

    @property
    def dtype(self):
        return self.base.dtype

    def advance(self, offsets):
        moved = [before + number(more) for before, more in zip(self.offsets, offsets)]
        return Blocks(self.base, self.shape, self.strides, moved, self.block_shape)


def number(value):
    value = getattr(value, "value", value)  # of a constexpr
    handle = getattr(value, "handle", None)
    return int(value if handle is None else np.asarray(handle.data).flat[0])


def install(interpreter):
    """Nothing where the interpreter has block pointers of its own."""
    import triton.language as tl

    if hasattr(interpreter, "BlockPointerHandle"):
        return
    handle_of = interpreter.TensorHandle

    def addresses(block, checked):
        element = block.base.dtype.element_ty
        size = max(element.primitive_bitwidth // 8, 1)
        first = np.asarray(block.base.handle.data).astype(np.int64).flat[0]
        places = np.full(block.block_shape, first, dtype=np.int64)
        mask = np.ones(block.block_shape, dtype=bool)
        for dim, length in enumerate(block.block_shape):
            along = [1] * len(block.block_shape)
            along[dim] = length
            index = (block.offsets[dim] + np.arange(length, dtype=np.int64)).reshape(along)
            places = places + size * block.strides[dim] * index
            if dim in checked:
                mask = mask & (index >= 0) & (index < block.shape[dim])
        shape = list(block.block_shape)
        pointers = tl.core.tensor(handle_of(places.astype(np.uint64), block.base.dtype.scalar), tl.core.block_type(block.base.dtype, shape))
        inside = tl.core.tensor(handle_of(mask, tl.int1), tl.core.block_type(tl.int1, shape))
        return pointers, inside, element

    def dims(checked):
        checked = getattr(checked, "value", checked) or ()
        return {number(each) for each in (checked if isinstance(checked, (tuple, list)) or hasattr(checked, "__iter__") else [checked])}

    def make_block_ptr(base, shape, strides, offsets, block_shape, order=None, **rest):
        lists = [[number(each) for each in of] for of in (shape, strides, offsets, block_shape)]
        return Blocks(base, *lists)

    def advance(base, offsets, **rest):
        return base.advance(offsets)

    load, store = tl.core.load, tl.core.store

    def load_any(pointer, mask=None, other=None, boundary_check=(), padding_option="", _semantic=None, **rest):
        if not isinstance(pointer, Blocks):
            return load(pointer, mask, other, _semantic=_semantic, **rest)
        pointers, inside, element = addresses(pointer, dims(boundary_check))
        padding = getattr(padding_option, "value", padding_option)
        other = float("nan") if padding == "nan" else 0.0 if element.is_floating() else 0
        return load(pointers, inside, other, _semantic=_semantic)

    def store_any(pointer, value, mask=None, boundary_check=(), _semantic=None, **rest):
        if not isinstance(pointer, Blocks):
            return store(pointer, value, mask, _semantic=_semantic, **rest)
        pointers, inside, _ = addresses(pointer, dims(boundary_check))
        return store(pointers, value, inside, _semantic=_semantic)

    for module in (tl, tl.core):
        module.make_block_ptr, module.advance = make_block_ptr, advance
        module.load, module.store = tl.core.builtin(load_any), tl.core.builtin(store_any)
