"""The ops as operators of PyTorch: importing this module registers torch.ops.isomer.*, which torch.compile and torch.export see.

    import isomer.torch
    out = torch.ops.isomer.attention(q, k, v, causal=True)
    out, lse = torch.ops.isomer.attention_with_lse(q, k, v)

Each operator is made from its op's contract. An operator that returns an optional output too is one of its own
(attention_with_lse), and so is one that writes into its inputs (attention_append, of which k and v are the cache). Outputs that
only the caller can size, as the cache of quantize_copy_kv, are arguments that are written, and then nothing is returned. Outputs
are always allocated; write into tensors of your own with the functions of isomer itself.
"""

import re

import torch

import isomer
from isomer import _isomer
from isomer._functions import Signature

_LIBRARY = torch.library.Library("isomer", "DEF")

_TYPES = {"int": "int", "f32": "float", "bool": "bool"}
_DTYPES = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i8": torch.int8,
           "i32": torch.int32, "i64": torch.int64, "u8": torch.uint8,
           **{short: getattr(torch, "float8_" + short) for short in ("e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz")
              if hasattr(torch, "float8_" + short)}}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}
#: The tensor that makes an inout argument written, and what the operator that writes is called.
_APPENDED = {"attention": "k_new"}


class _Dimensions:
    """The sizes of a call as its shapes' symbols say them: numbers, or symbols of torch.compile."""

    def __init__(self):
        self.sizes, self.leading = {}, None

    def learn(self, argument, tensor):
        for shape in argument["shapes"]:
            words = shape.split()
            free = words[0] == "..."
            words = words[free:]
            lead = tensor.dim() - len(words)
            if lead < 0 or (lead and not free):
                continue
            if free and self.leading is None:
                self.leading = list(tensor.shape[:lead])
            for word, size in zip(words, tensor.shape[lead:]):
                if word.isidentifier() and word != "_":
                    self.sizes.setdefault(word, size)
            return

    def of(self, argument):
        """The first of the argument's shapes of which every size is known."""
        for shape in argument["shapes"]:
            words = shape.split()
            free = words[0] == "..."
            try:
                sizes = [self._value(word) for word in words[free:]]
            except NameError:
                continue
            if not free or self.leading is not None:
                return (self.leading if free else []) + sizes
        raise isomer.Error(f"{argument['name']} is required: its sizes follow from no input")

    def _value(self, expression):
        expression = re.sub(r"ceil\((\w+)/(\w+)\)", r"(-(-(\1) // (\2)))", expression).replace("//", "/").replace("/", "//")
        return eval(expression, {"__builtins__": {}}, self.sizes)  # an expression of the contract's own


def _fake_outputs(op, outputs, given, dtype):
    sizes = _Dimensions()
    for _, members in op["parameters"]:
        if len(members) == 1 and isinstance(given.get(members[0]["name"]), int):
            sizes.sizes[members[0]["name"]] = given[members[0]["name"]]
    for argument in op["arguments"]:
        if given.get(argument["name"]) is not None and argument["role"] != "out":
            sizes.learn(argument, given[argument["name"]])
    if op["name"] == "attention":  # as its contract binds it before there is an output
        sizes.sizes["Dv"] = given["v"].shape[-2 if given["v_colmajor"] else -1]
    first = given[op["arguments"][0]["name"]]
    made = []
    for argument in outputs:
        names = argument["dtypes"]
        if len(names) == 1:
            kind = _DTYPES[names[0]]
        elif not op["chooses_dtype"]:
            kind = first.dtype
        else:
            kind = dtype or (first.dtype if _NAMES.get(first.dtype) in names else torch.bfloat16)
        shape = sizes.of(argument)
        if op["name"] == "act_quant" and argument["name"] == "s" and given["scale_layout"] == "column_major" and len(shape) > 1:
            column = (shape[-2] + 3) // 4 * 4
            strides = [1, column]
            step = column * shape[-1]
            for size in reversed(shape[:-2]):
                strides.insert(0, step)
                step = step * size
            made.append(torch.empty_strided(shape, strides, dtype=kind, device=first.device))
        else:
            made.append(first.new_empty(shape, dtype=kind))
    return made[0] if len(made) == 1 else tuple(made)


def _register(op, name, written, optional):
    """One operator: `written` are the arguments that it writes, `optional` the optional outputs that it returns."""
    signature = Signature(op)
    appended = _APPENDED.get(op["name"])
    alias = iter("abcdefgh")
    positional, keywords = [], []
    for argument in signature.positional:
        mark = f"({next(alias)}!)" if argument["name"] in written else ""
        positional.append(f"Tensor{mark} {argument['name']}")
    for argument in signature.optional:
        if argument["name"] == appended and not written:
            continue
        if argument["name"] == appended:
            positional.append(f"Tensor {appended}")
        else:
            keywords.append(f"Tensor? {argument['name']}=None")
    for parameter, members in op["parameters"]:
        default = tuple(member["default"] for member in members)
        if len(members) == 2:
            keywords.append(f"int[2] {parameter}=[{default[0]}, {default[1]}]")
        elif members[0]["choices"]:
            keywords.append(f'str {parameter}="{default[0]}"')
        elif default[0] is None:
            keywords.append(f"{_TYPES[members[0]['type']]}? {parameter}=None")
        else:
            keywords.append(f"{_TYPES[members[0]['type']]} {parameter}={default[0]}")
    if op["chooses_dtype"] and signature.outputs:
        keywords.append("ScalarType? dtype=None")
    outputs = [a for a in signature.outputs if not a["optional"] or a["name"] in optional]
    result = "()" if not outputs else "Tensor" if len(outputs) == 1 else "(" + ", ".join(["Tensor"] * len(outputs)) + ")"
    schema = f"{name}({', '.join(positional)}{', *, ' if keywords else ''}{', '.join(keywords)}) -> {result}"
    _LIBRARY.define(schema, tags=(torch.Tag.needs_fixed_stride_order,))
    function = getattr(isomer, op["name"])
    names = [word.split()[1] for word in positional]
    defaults = {members[0]["name"]: members[0]["default"] for _, members in op["parameters"] if len(members) == 1}

    def run(*tensors, **words):
        words.update({"return_" + each: True for each in optional})
        if words.get("dtype") is None:
            words.pop("dtype", None)
        answer = function(**dict(zip(names, tensors)), **words)
        return answer if outputs else None

    def fake(*tensors, **words):
        if not outputs:
            return None
        return _fake_outputs(op, outputs, {**defaults, **dict(zip(names, tensors)), **words}, words.get("dtype"))

    torch.library.impl(_LIBRARY, name, "CompositeExplicitAutograd")(run)
    torch.library.register_fake("isomer::" + name, fake, lib=_LIBRARY)


for _op in _isomer.describe():
    _signature = Signature(_op)
    _optional = [a["name"] for a in _signature.returned]
    _written = {a["name"] for a in _signature.positional if a["role"] == "out"}
    _variants = [("", _written)]
    if _op["name"] in _APPENDED:
        _variants.append(("_append", {a["name"] for a in _op["arguments"] if a["role"] == "inout"}))
    for _suffix, _names in _variants:
        _register(_op, _op["name"] + _suffix, _names, ())
        for _each in _optional:
            _register(_op, f"{_op['name']}{_suffix}_with_{_each}", _names, (_each,))
