"""The typed signatures that lie in the source tree are those of the contracts."""

import ast
import os
import pathlib

import isomer
from isomer import _isomer, _stub


def test_the_stub_is_current():
    package = pathlib.Path(os.environ.get("ISOMER_PACKAGE", pathlib.Path(isomer.__file__).parent))
    assert (package / "__init__.pyi").read_text() == _stub.text(_isomer.describe()), \
        "python -m isomer._stub > python/isomer/__init__.pyi"


def test_the_stub_is_python_and_has_every_name_of_the_package():
    tree = ast.parse(_stub.text(_isomer.describe()))
    names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    names |= {alias.asname for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert set(isomer.__all__) - names == set()
