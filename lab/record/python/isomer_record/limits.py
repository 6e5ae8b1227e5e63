"""How long a recording may take. The test has most of the time that there is, and when that is over what has finished is kept; a
launch in Triton's interpreter has a part of it, and so has all that is asked of the label besides the test's calls.

Launches and questions are counted by what the processor does for them: on a busy machine they are no fewer. The whole is counted
by the clock.
"""

import signal
import threading
import time

# Of the time that there is: by the clock; by the processor for a launch, for all launches of the test, and for all questions.
TEST = 0.85
LAUNCH, LAUNCHES = 0.35, 0.6
QUESTIONS, LAUNCH_OF_A_QUESTION = 0.2, 0.1


class TooLong(BaseException):
    """What a launch is ended with. No Exception: the interpreter makes its own error of those."""


class OutOfTime(BaseException):
    """What the test is ended with."""


class Limits:
    def __init__(self):
        self.seconds = float("inf")
        self.test_ends = self.launch_ends = None
        self.launched = self.asked = 0.0  # seconds of the processor so far
        self.asking_since = None

    def start(self, seconds, begin):
        """`begin`: when the recording began, of time.monotonic()."""
        self.seconds, self.test_ends = seconds, begin + TEST * seconds
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGALRM, self.look)
            signal.setitimer(signal.ITIMER_REAL, 0.5, 0.5)

    def stop(self):
        if self.test_ends is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)
            self.test_ends = None

    def look(self, number, frame):
        if self.launch_ends is not None and time.thread_time() > self.launch_ends:
            self.launch_ends = None
            raise TooLong()
        now = time.monotonic()
        if self.test_ends is not None and now > self.test_ends:
            # Once more where something took it for an error of the test's.
            self.test_ends = now + 5
            raise OutOfTime(f"the test took more than {TEST * self.seconds:.3g} s; --timeout allows more")

    def longest_launch(self):
        """Seconds; none where there is no time left for another."""
        if self.asking_since is not None:
            left = QUESTIONS * self.seconds - self.asked - (time.thread_time() - self.asking_since)
            return max(0.0, min(LAUNCH_OF_A_QUESTION * self.seconds, left))
        return 0.0 if self.launched > LAUNCHES * self.seconds else LAUNCH * self.seconds

    def begin_launch(self, longest):
        if threading.current_thread() is threading.main_thread():
            self.launch_ends = time.thread_time() + longest
        return time.thread_time()

    def end_launch(self, begin):
        self.launch_ends = None
        if self.asking_since is None:
            self.launched += time.thread_time() - begin

    def may_ask(self):
        return self.asked < QUESTIONS * self.seconds

    def begin_asking(self):
        self.asking_since = time.thread_time()

    def end_asking(self):
        self.asked += time.thread_time() - self.asking_since
        self.asking_since = None


LIMITS = Limits()
