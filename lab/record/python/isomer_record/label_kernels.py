"""What a Triton kernel's text says of its pointers: which it writes, and which are addressed by what another holds."""

import ast


def is_jit(function):
    return any(
        isinstance(node, ast.Attribute) and node.attr == "jit" or isinstance(node, ast.Name) and node.id == "jit"
        for decorator in function.decorator_list
        for node in ast.walk(decorator)
    )


def called(node):
    if isinstance(node, ast.Call):
        function = node.func
        return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return ""


def tuned_constants(function):
    """BLOCK: 128 in the triton.Config of an autotuned kernel, all values of each."""
    values = {}
    for decorator in function.decorator_list:
        for node in ast.walk(decorator):
            if called(node) == "Config" and node.args and isinstance(node.args[0], ast.Dict):
                for key, value in zip(node.args[0].keys, node.args[0].values):
                    if isinstance(key, ast.Constant) and isinstance(value, ast.Constant) and type(value.value) is int:
                        values.setdefault(key.value, (node.lineno, []))[1].append(value.value)
    return [{"name": name, "values": found, "line": line} for name, (line, found) in values.items()]


class Kernel:
    """`writes`: pointers that are stored through. `indexes`: {"index", "tensor", "stride", "access", "alone", "guarded"} for
    each pointer `tensor` that is addressed by a number loaded from `index`, times the parameter `stride` (None: times nothing).
    alone: nothing else in the address is multiplied by anything, so that the number counts rows. guarded: what is loaded is
    compared with something, so that not every number is gone to."""

    def __init__(self, function):
        self.parameters = [each.arg for each in function.args.posonlyargs + function.args.args]
        self.tuned = tuned_constants(function)
        self.bases = {name: {name} for name in self.parameters}
        self.loaded = {}
        self.strides = {}
        self.multiplied = set()
        self.programs, self.own_programs = {}, {}
        self.writes, self.indexes = [], []
        statements = [n for n in ast.walk(function) if isinstance(n, (ast.Assign, ast.AugAssign, ast.AnnAssign))]
        # Twice: a loop's end feeds its begin.
        for node in sorted(statements, key=lambda n: n.lineno) * 2:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if node.value is not None:
                for target in targets:
                    if isinstance(target, ast.Name):
                        self.assign(target.id, node.value)
        nodes = list(ast.walk(function))
        self.compared = {each for n in nodes if isinstance(n, ast.Compare) for each in self.loaded_of(n)}
        # The programs that read an index: a row of each of them is no row of another.
        self.read_by = {}
        for node in nodes:
            if called(node) == "load" and node.args:
                for base in self.bases_of(node.args[0]):
                    self.read_by.setdefault(base, set()).update(self.programs_of(node.args[0], self.programs, True))
        for node in nodes:
            if called(node) == "load" and node.args:
                self.access(node.args[0], "read")
            elif called(node) == "store" and node.args:
                self.access(node.args[0], "write")
            elif called(node).startswith("atomic_") and node.args:
                self.access(node.args[0], "add")

    def assign(self, name, value):
        self.bases.setdefault(name, set()).update(self.bases_of(value))
        self.loaded.setdefault(name, set()).update(self.loaded_of(value))
        for index, stride in self.strides_of(value):
            self.strides.setdefault(name, set()).add((index, stride))
        if self.multiplies(value):
            self.multiplied.add(name)
        self.programs.setdefault(name, set()).update(self.programs_of(value, self.programs, True))
        self.own_programs.setdefault(name, set()).update(self.programs_of(value, self.own_programs, False))

    def multiplies(self, node):
        """Whether an address or an offset has a product in it: of a stride, or of a block's number."""
        if called(node) == "load":
            return False
        if isinstance(node, ast.Name):
            return node.id in self.multiplied
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            return True
        return any(self.multiplies(child) for child in ast.iter_child_nodes(node))

    def programs_of(self, node, known, through_loads):
        """The axes of the grid that a value depends on; without what was loaded, and what that is multiplied with, or with it."""
        if called(node) == "program_id":
            return {ast.dump(node.args[0]) if node.args else ""}
        if isinstance(node, ast.Name):
            return known.get(node.id, set())
        if not through_loads:
            if called(node) == "load":
                return set()
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and self.loaded_of(node):
                return set()
        return {axis for child in ast.iter_child_nodes(node) for axis in self.programs_of(child, known, through_loads)}

    def bases_of(self, node):
        """The pointers that an address is counted from: what stands first in its sum."""
        while isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
            node = node.left
        return self.bases.get(node.id, set()) if isinstance(node, ast.Name) else set()

    def loaded_of(self, node):
        """Pointers whose contents a value is made of. A loop over range(n) does not hand n on."""
        found = set()
        if called(node) == "load" and node.args:
            return self.bases_of(node.args[0])
        if called(node) in ("range", "static_range", "arange"):
            return found
        if isinstance(node, ast.Name):
            return self.loaded.get(node.id, set())
        for child in ast.iter_child_nodes(node):
            found |= self.loaded_of(child)
        return found

    def strides_of(self, node):
        """(index pointer, stride parameter) of each product of a loaded number in an address."""
        if called(node) == "load":
            return set()
        if isinstance(node, ast.Name):
            return self.strides.get(node.id, set())
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            found = set()
            for one, other in ((node.left, node.right), (node.right, node.left)):
                if isinstance(other, ast.Name) and other.id in self.parameters:
                    found |= {(index, other.id) for index in self.loaded_of(one)}
            return found
        found = set()
        if isinstance(node, (ast.BinOp, ast.Subscript)):
            for child in ast.iter_child_nodes(node):
                found |= self.strides_of(child)
        return found

    def access(self, address, kind):
        strides = self.strides_of(address)
        direct = self.loaded_of(address) - {index for index, _ in strides}
        own = self.programs_of(address, self.own_programs, False)
        for tensor in sorted(self.bases_of(address)):
            if kind != "read" and tensor not in self.writes:
                self.writes.append(tensor)
            for index, stride in sorted(strides) + [(index, None) for index in sorted(direct)]:
                # Two equal numbers that two programs read are two places where the address has the program's own too.
                apart = own & self.read_by.get(index, set())
                # What is added to a row twice is a sum, however often.
                self.note(index, tensor, stride, "read" if apart or kind == "add" else kind, not self.multiplies(address))

    def note(self, index, tensor, stride, kind, alone):
        guarded = index in self.compared
        fact = {"index": index, "tensor": tensor, "stride": stride, "access": kind, "alone": alone, "guarded": guarded}
        if index != tensor and index in self.parameters and fact not in self.indexes:
            self.indexes.append(fact)
