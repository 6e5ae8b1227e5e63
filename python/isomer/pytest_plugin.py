"""Tests of pytest that check candidates: see isomer.case_folder."""

import pathlib

import pytest

_MARK = "isomer_case_folder"


def pytest_configure(config):
    config.addinivalue_line("markers", f"{_MARK}(*paths, **options): check these candidates as `isomer check` does")


def _of_path(metafunc, path):
    return str(pathlib.Path(metafunc.definition.path).parent / path)


def pytest_generate_tests(metafunc):
    mark = metafunc.definition.get_closest_marker(_MARK)
    if mark is None:
        return
    metafunc.parametrize("report", [(_of_path(metafunc, path), mark.kwargs) for path in mark.args], indirect=True,
                         ids=list(mark.args), scope="module")


@pytest.fixture(scope="module")
def report(request):
    """The report of the check that isomer.case_folder asks for."""
    if not hasattr(request, "param"):
        pytest.fail("report: the test has no isomer.case_folder", pytrace=False)
    import isomer

    path, options = request.param
    try:
        return isomer.check(path, **options)
    except isomer.Error as error:
        return pytest.fail(str(error), pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    result = yield
    if pyfuncitem.get_closest_marker(_MARK) is not None:
        found = pyfuncitem.funcargs["report"]
        if not found:
            pytest.fail("\n\n".join(map(str, found.failures)) or "nothing was checked", pytrace=False)
    return result
