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

    def begin(self, names=(), args=(), kwargs=None):
        """Before a launch with these arguments, of which the first have these names."""
        if self.before is not None:
            self.before()
        for name, value in [*zip(names, args), *(kwargs or {}).items()]:
            if type(value) is bool and self.flags.setdefault(name, value) is not value:
                self.flags[name] = None  # which launch is meant nobody knows

    def refuse(self, why):
        """A launch that gave nothing, and why; the first reason is told."""
        self.unanswered += 1
        self.ever_unanswered = True
        self.why = self.why or why

    def reset(self):
        self.flags = {}  # what launches are told by a truth value, by the kernels' names for it
        self.outside = []
        self.outside_matters = False
        self.answered = 0
        self.interpreted = 0
        self.unanswered = 0
        if self.reached is not None:
            self.reached = []
