"""What Triton's interpreter does over and over for each operation of each program, done once: types and shapes, of which a kernel
has few, and the replacing of the language's functions. No answer is another one for it."""

import dataclasses

import numpy as np


def install(interpreter):
    for mend in (overflows, patches, types, shapes, plain_values, array_types, dots):
        try:
            mend(interpreter)
        except (ImportError, AttributeError, TypeError):
            pass  # a version that is built otherwise


def overflows(interpreter):
    """Every sum of whole numbers is computed once more in 64 bits, for an assertion that is none unless kernels are debugged."""
    builder = interpreter.interpreter_builder
    if not builder.options.debug:
        builder.options = dataclasses.replace(builder.options, sanitize_overflow=False)


def patches(interpreter):
    """The language's functions are replaced for a launch, and not again for each function that the kernel calls."""
    executor, patch = interpreter.GridExecutor, interpreter._patch_lang
    launch = executor.__call__
    patched = {}  # the functions of this launch, by what their names mean

    def once(fn):
        names = fn.__globals__
        if id(names) in patched:
            return None
        scope = patch(fn)
        patched[id(names)] = names
        return scope

    def launched(self, *args, **kwargs):
        patched.clear()
        try:
            return launch(self, *args, **kwargs)
        finally:
            patched.clear()

    interpreter._patch_lang, executor.__call__ = once, launched


def types(interpreter):
    """One object for each type of a block."""
    import triton.language as tl

    block, constexpr = tl.core.block_type, tl.core.constexpr
    make = block.__init__
    known = {}

    def number(size):
        return size if type(size) is int else size.value if type(size) is constexpr else None

    def new(cls, element_ty=None, shape=()):
        sizes = tuple([number(each) for each in shape])
        if cls is not block or element_ty is None or None in sizes:
            return object.__new__(cls)
        key = (type(element_ty), element_ty.name, getattr(element_ty, "address_space", None), sizes)
        found = known.get(key)
        if found is None:
            found = known[key] = object.__new__(cls)
        return found

    def init(self, element_ty, shape):
        if "numel" not in self.__dict__:
            make(self, element_ty, shape)

    block.__new__, block.__init__ = staticmethod(new), init


def shapes(interpreter):
    """What a tensor says of its shape is made for each type."""
    import triton.language as tl

    tensor, block = tl.core.tensor, tl.core.block_type
    make = tensor.__init__
    of_scalars = []

    def init(self, handle, type):
        of_blocks = type.__class__ is block
        said = type.__dict__.get("isomer_shape") if of_blocks else of_scalars[0] if of_scalars and not type.is_block() else None
        if said is not None:
            self.__dict__.update(said)
            self.handle, self.type, self.dtype = handle, type, type.scalar
            return
        make(self, handle, type)
        said = {key: value for key, value in self.__dict__.items() if key in ("shape", "numel")}
        if len(said) != 2 or len(self.__dict__) != 5:
            return
        if of_blocks:
            type.isomer_shape = said
        elif not type.is_block():
            of_scalars[:] = [said]

    tensor.__init__ = init


def plain_values(interpreter):
    """Most that is asked for being a constant is none."""
    import triton.language as tl

    core = tl.core
    unwrap, equal = core._unwrap_if_constexpr, core.dtype.__eq__
    constant, element = core.constexpr, core.dtype
    plain = {int, float, bool, str, type(None), core.dtype, core.block_type, core.pointer_type, core.tensor}

    def unwrapped(value):
        kind = type(value)
        return value if kind in plain else value.value if kind is constant else unwrap(value)

    def equals(self, other):
        if self is other:
            return True
        return self.name == other.name if type(other) is element else equal(self, other)

    core._unwrap_if_constexpr, core.dtype.__eq__ = unwrapped, equals


def array_types(interpreter):
    """NumPy's type of each of Triton's."""
    import triton.language as tl

    find, element = interpreter._get_np_dtype, tl.core.dtype
    known = {}

    def found(kind):
        if type(kind) is not element:
            return find(kind)
        name = kind.name
        if name not in known:
            known[name] = find(kind)
        return known[name]

    interpreter._get_np_dtype = found


def dots(interpreter):
    """NumPy multiplies matrices of two types element by element; of one it has a library do it."""
    builder, handle = interpreter.InterpreterBuilder, interpreter.TensorHandle
    original = builder.create_dot
    narrow, wide = (np.float16, np.float32), np.float32

    def dot(self, a, b, d, *rest):
        kinds = {a.data.dtype.type, b.data.dtype.type}
        if d.data.dtype == wide and kinds != {wide} and kinds <= set(narrow):
            a, b = handle(a.data.astype(wide), interpreter.tl.float32), handle(b.data.astype(wide), interpreter.tl.float32)
        return original(self, a, b, d, *rest)

    builder.create_dot = dot
