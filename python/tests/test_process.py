"""Threads, forks, and an interpreter that exits with work in flight: each in a process of its own."""

import os
import subprocess
import sys
import textwrap

import pytest


def run(program, seconds=60):
    done = subprocess.run([sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(program)], capture_output=True,
                          text=True, timeout=seconds, env=os.environ)
    assert done.returncode == 0, done.stderr
    return done.stdout


ARRAYS = """
    import numpy as np, isomer, threading, os, sys
    q = np.random.default_rng(1).standard_normal((1, 256, 4, 64)).astype(np.float32)
    want = isomer.attention(q, q, q)
"""


def test_many_threads_get_the_answers_of_one():
    assert run(ARRAYS + """
    wrong = []
    def work():
        for _ in range(5):
            if not np.array_equal(isomer.attention(q, q, q), want): wrong.append(1)
    threads = [threading.Thread(target=work) for _ in range(8)]
    [t.start() for t in threads]; [t.join() for t in threads]
    print(len(wrong))
    """) == "0\n"


def test_other_threads_run_while_a_call_computes():
    # The call waits in the executor for nobody: it has let the lock go if another thread gets a turn during it.
    assert run("""
    import numpy as np, isomer, threading, sys
    sys.setswitchinterval(1000)  # no turn but by letting the lock go
    x = np.zeros(1 << 22, np.float32)
    turns = 0
    def count():
        global turns
        while not done.is_set():
            turns += 1
            done.wait(0.0001)
    done = threading.Event()
    thread = threading.Thread(target=count); thread.start()
    before = turns
    for _ in range(200):
        isomer.sin(x, y=x)
        if turns > before: break
    after = turns
    done.set(); thread.join()
    print(after > before)
    """) == "True\n"


@pytest.mark.filterwarnings("ignore")
def test_a_forked_child_computes_too():
    assert run(ARRAYS + """
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(isomer.attention(q, q, q), want) else 3)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), np.array_equal(isomer.attention(q, q, q), want))
    """) == "0 True\n"


def test_a_fork_while_threads_compute_leaves_parent_and_child_working():
    assert run(ARRAYS + """
    stop = threading.Event()
    def work():
        while not stop.is_set(): isomer.attention(q, q, q)
    threads = [threading.Thread(target=work) for _ in range(3)]
    [t.start() for t in threads]
    codes = []
    for _ in range(5):
        child = os.fork()
        if child == 0:
            os._exit(0 if np.array_equal(isomer.attention(q, q, q), want) else 3)
        codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    stop.set(); [t.join() for t in threads]
    print(codes)
    """) == "[0, 0, 0, 0, 0]\n"


def test_the_interpreter_exits_while_threads_compute():
    for _ in range(3):
        assert run(ARRAYS + """
        started = threading.Barrier(5)
        def work():
            started.wait()
            while True: isomer.attention(q, q, q)
        [threading.Thread(target=work, daemon=True).start() for _ in range(4)]
        started.wait()
        print("left")
        """.replace("\n        ", "\n    ")) == "left\n"


def test_calls_at_exit_still_work():
    assert run(ARRAYS + """
    import atexit
    class Last:
        def __del__(self, sin=isomer.sin, x=q[0, 0, 0], y=q[0, 0, 0].copy(), print=print): print(sin(x, y=y) is y)
    last = Last()
    atexit.register(lambda: print(isomer.attention(q, q, q).shape))
    """) == "(1, 256, 4, 64)\nTrue\n"


def test_a_queue_closed_by_another_thread_is_no_crash():
    assert run(ARRAYS + """
    refused = []
    for _ in range(50):
        queue = isomer.Queue("cpu")
        thread = threading.Thread(target=queue.close)
        thread.start()
        try:
            isomer.attention(q[:, :8], q, q, queue=queue)
        except isomer.Error as error:
            refused.append("closed" in str(error))
        thread.join()
    print(all(refused))
    """) == "True\n"


def test_importing_it_imports_no_array_library():
    assert run("""
    import sys, isomer, isomer.compat.deepseek, isomer.compat.flash_attn_3
    print([name for name in ("numpy", "torch", "jax", "cupy", "ml_dtypes") if name in sys.modules])
    """) == "[]\n"


def test_numpy_without_ml_dtypes_is_told_what_to_install():
    assert "install ml_dtypes" in run("""
    import sys
    sys.modules["ml_dtypes"] = None
    import numpy as np, isomer
    try:
        isomer.act_quant(np.zeros((1, 128), np.float32))
    except isomer.Error as error:
        print(error)
    """)
