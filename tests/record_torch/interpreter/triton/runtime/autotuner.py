"""Times its configurations on a device, and there is none."""


class Config:
    def __init__(self, kwargs):
        self.kwargs = kwargs


class Autotuner:
    def __init__(self, kernel, configs):
        self.kernel, self.configs = kernel, configs

    def prune_configs(self, kwargs):
        raise RuntimeError("no device says how large its shared memory is")

    def _bench(self, *args, config, **meta):
        raise RuntimeError("no driver")

    def __getitem__(self, grid):
        def launch(*args, **kwargs):
            times = {config: self._bench(*args, config=config) for config in self.prune_configs(kwargs)}
            self.kernel[grid](*args, **kwargs, **min(times, key=times.get).kwargs)

        return launch
