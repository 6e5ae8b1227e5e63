"""What the label's kernels do."""


class Launches:
    """What became of the kernel launches of the call that runs now."""

    def __init__(self):
        self.ever_unanswered = False
        self.why = ""
        self.watched = False  # whether what leaves the memory of the arguments is seen
        self.reached = None  # where it is asked for: of each launch, which part of each argument's memory it reaches
        self.before = None  # is called before each launch
        self.own_tensors = {}  # by function, the names of tensors that are kept of what it computes on its way
        self.reset()

    def begin(self):
        if self.before is not None:
            self.before()

    def refuse(self, why):
        """A launch that gave nothing, and why; the first reason is told."""
        self.unanswered += 1
        self.ever_unanswered = True
        self.why = self.why or why

    def reset(self):
        self.outside = []
        self.outside_matters = False
        self.answered = 0
        self.interpreted = 0
        self.unanswered = 0
        if self.reached is not None:
            self.reached = []
