"""The source of the package's functions, made from the contracts: the same text is run at import and, typed, gives the .pyi."""

import textwrap

_OPTION_TYPES = {"int": "int", "f32": "float", "bool": "bool"}


def _option_type(members):
    if len(members) == 2:
        return "tuple[int, int]"
    option = members[0]
    if option["choices"]:
        return "Literal[" + ", ".join(repr(name) for name in option["choices"]) + "]"
    return _OPTION_TYPES[option["type"]]


def _option_default(members):
    if len(members) == 2:
        return repr(tuple(member["default"] for member in members))
    return repr(members[0]["default"])


class Signature:
    """What a function takes, in the order in which a caller writes it."""

    def __init__(self, op):
        self.op = op
        arguments = op["arguments"]
        required = [a for a in arguments if not a["optional"] and not (a["role"] == "out" and a["derivable"])]
        # Inputs first, then outputs that only the caller can size.
        self.positional = [a for a in required if a["role"] != "out"] + [a for a in required if a["role"] == "out"]
        self.outputs = [a for a in arguments if a["role"] == "out" and a not in self.positional]
        self.optional = [a for a in arguments if a["role"] != "out" and a not in self.positional]
        self.returned = [a for a in arguments if a["role"] == "out" and a["optional"]]
        self.parameters = op["parameters"]

    def text(self, typed=False):
        def parameter(name, kind, default=None):
            if typed:
                return f"{name}: {kind}" + (f" = {default}" if default is not None else "")
            return name + (f"={default}" if default is not None else "")

        words = [parameter(a["name"], "Tensor") for a in self.positional] + ["*"]
        words += [parameter(a["name"], "Tensor | None", "None") for a in self.outputs + self.optional]
        for name, members in self.parameters:
            default = _option_default(members)
            kind = _option_type(members)
            words.append(parameter(name, kind + (" | None" if default == "None" else ""), default))
        words += [parameter("return_" + a["name"], "bool", "False") for a in self.returned]
        if self.op["chooses_dtype"]:
            words.append(parameter("dtype", "DType | None", "None"))
        words.append(parameter("queue", "Queue | None", "None"))
        return ", ".join(words)

    def result(self):
        count = sum(a["role"] == "out" for a in self.op["arguments"])
        if self.returned:
            least = count - len(self.returned)
            one = "Any" if least == 1 else "tuple[" + ", ".join(["Any"] * least) + "]"
            return f"{one} | tuple[" + ", ".join(["Any"] * count) + "]"
        return "Any" if count == 1 else "tuple[" + ", ".join(["Any"] * count) + "]"

    def documentation(self):
        op = self.op
        lines = [op["summary"] + ".", ""]

        def entry(name, rest, meaning):
            lines.extend(textwrap.wrap(f"{name}: {rest}; {meaning}", 100, initial_indent="    ",
                                       subsequent_indent="        ", break_on_hyphens=False))

        def argument(a):
            shapes = " or ".join(f"[{', '.join(shape.split())}]" for shape in a["shapes"])
            note = {"in": "", "inout": "; written in place by an append", "out": ""}[a["role"]]
            if a["role"] == "out" and a not in self.positional:
                note = "; allocated where it is not given"
                if a["optional"]:
                    note += f" and return_{a['name']} is set"
            strides = "" if a["strides"] == "any strides" else ", " + a["strides"]
            entry(a["name"], f"{' or '.join(a['dtypes'])} {shapes}{strides}",
                  a["meaning"] + note + ".")

        lines.append("Tensors, of NumPy, PyTorch, JAX or CuPy, all on one device; none is copied:")
        for a in self.positional + self.outputs + self.optional:
            argument(a)
        if self.parameters:
            lines += ["", "Options:"]
            for name, members in self.parameters:
                if len(members) == 2:
                    entry(name, f"(left, right), default {_option_default(members)}",
                          "; ".join(f"{side}: {m['meaning']}" for side, m in zip(("left", "right"), members)) + ".")
                else:
                    option = members[0]
                    entry(name, f"{option['type']}, default {option['default_text']}",
                          option["meaning"] + ".")
        lines.append("")
        if op["chooses_dtype"]:
            lines += textwrap.wrap("dtype is that of an output that is allocated: a dtype of NumPy or PyTorch or a name as "
                                   "'bf16'; None takes that of the first tensor, or bf16 where it cannot be that.", 104)
        lines += textwrap.wrap("queue is where the call runs; None is the CPU, or the current stream of PyTorch or CuPy on the "
                               "tensors' device. Returns the outputs. Raises isomer.Error, with nothing written, where the "
                               "call breaks a clause:", 104)
        for clause in op["clauses"]:
            lines += textwrap.wrap(clause, 100, initial_indent="    - ", subsequent_indent="      ", break_on_hyphens=False)
        lines += ["", *textwrap.wrap("Tolerance: " + op["tolerance"] + ".", 104, break_on_hyphens=False),
                  "Source of the semantics: " + op["source"] + "."]
        return "\n".join(lines)

    def source(self):
        """The function, which puts every parameter in its place."""
        op = self.op
        words = ["queue", "dtype" if op["chooses_dtype"] else "None"]
        words += [a["name"] for a in op["arguments"]]
        words += ["return_" + a["name"] for a in self.returned]
        words += [name for name, _ in self.parameters]
        return f"def {op['name']}({self.text()}):\n    return _{op['name']}({', '.join(words)})\n"

    def stub(self):
        text = self.documentation().replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
        return (f"def {self.op['name']}({self.text(typed=True)}) -> {self.result()}:\n"
                f'    """{textwrap.indent(text, "    ").lstrip()}\n    """\n')


def make(described, functions):
    """The package's functions, by name."""
    made = {}
    for op in described:
        signature = Signature(op)
        scope = {"_" + op["name"]: functions[op["name"]], "__name__": "isomer"}
        exec(compile(signature.source(), f"<isomer.{op['name']}>", "exec"), scope)
        function = scope[op["name"]]
        function.__doc__ = signature.documentation()
        made[op["name"]] = function
    return made
