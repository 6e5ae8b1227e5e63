"""Stand-ins for triton and its modules where they are absent: a label imports, its kernels do not run."""

import importlib.abc
import importlib.machinery
import os
import sys
import sysconfig
import types


class Anything(type):
    """Of a class that serves as whatever a label asks of triton.language: a type, a decorator, a value."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        made = Anything(name, (), {})
        setattr(cls, name, made)
        return made

    def __call__(cls, *args, **kwargs):
        if len(args) == 1 and not kwargs and callable(args[0]):
            return args[0]
        return cls

    def __getitem__(cls, key):
        return cls

    def __eq__(cls, other):
        return cls is other

    __hash__ = type.__hash__


class Kernel:
    """A kernel that cannot be launched; a launch of no blocks needs no launching."""

    def __init__(self, function, launches, why):
        self.fn = function
        self.why = why
        self.__name__ = getattr(function, "__name__", "kernel")
        self.__doc__ = getattr(function, "__doc__", None)
        self.launches = launches
        self.isomer_kernel = True

    def __getitem__(self, grid):
        def launch(*args, **kwargs):
            blocks = grid
            if callable(grid):
                try:
                    blocks = grid(dict(kwargs))
                except Exception:
                    blocks = (1,)
            blocks = blocks if isinstance(blocks, (tuple, list)) else (blocks,)
            if 0 not in [each for each in blocks if isinstance(each, int)]:
                self.launches.refuse(self.why)

        return launch

    def run(self, *args, grid=(1,), warmup=False, **kwargs):
        return self[grid](*args, **kwargs)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: None


def exports(launches, why):
    def decorator(function=None, **kwargs):
        if function is None:
            return lambda inner: decorator(inner)
        return function if isinstance(function, Kernel) else Kernel(function, launches, why)

    def passing(*args, **kwargs):
        return lambda kernel: kernel

    class Config:
        def __init__(self, kwargs=None, num_warps=4, num_stages=2, **rest):
            self.kwargs, self.num_warps, self.num_stages = kwargs or {}, num_warps, num_stages

    return {
        "jit": decorator,
        "autotune": passing,
        "heuristics": passing,
        "Config": Config,
        "cdiv": lambda a, b: -(-a // b),
        "next_power_of_2": lambda n: 1 << max(0, n - 1).bit_length(),
        "__version__": "0.0.0",
    }


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, launches, why, package="triton"):
        self.launches, self.why, self.package = launches, why, package

    def find_spec(self, name, path=None, target=None):
        if name == self.package or name.startswith(self.package + "."):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return types.ModuleType(spec.name)

    def exec_module(self, module):
        made = {}
        if module.__name__ == "triton":
            module.__dict__.update(exports(self.launches, self.why))

        def attribute(name):
            if name.startswith("__"):
                raise AttributeError(name)
            return made.setdefault(name, Anything(name, (), {}))

        module.__getattr__ = attribute


def absent():
    """What is to be done about a Triton that is not there. Its interpreter needs neither a GPU nor a certain PyTorch."""
    # A distribution's Python takes packages only when told to.
    folder = sysconfig.get_path("stdlib")
    managed = sys.prefix == sys.base_prefix and os.path.exists(os.path.join(folder, "EXTERNALLY-MANAGED"))
    option = " --break-system-packages" if managed else ""
    return (
        "its kernels are Triton's, which this Python has not: "
        f"{sys.executable or 'python3'} -m pip install{option} triton brings an interpreter of them, and no GPU is needed"
    )


def install(launches, why):
    """Ahead of an installed Triton that cannot run. `why` nothing runs: a sentence."""
    sys.meta_path.insert(0, Finder(launches, why))


def install_former(launches):
    """What Triton had once and labels still import, beside one that runs: models of a kernel's speed."""
    sys.meta_path.append(Finder(launches, "Triton has it no more", "triton.ops"))
