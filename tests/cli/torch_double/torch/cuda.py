"""A GPU that is none: time is the clock's, and nothing is ever late."""

import os
import time
import types


def is_available():
    return "TORCH_DOUBLE_HAS_CUDA" in os.environ


def set_device(place):
    pass


def get_device_properties(place):
    return types.SimpleNamespace(name="a double", uuid="GPU-0")


def synchronize():
    pass


def empty_cache():
    pass


def memory_reserved():
    return 0


def memory_allocated():
    return 0


class Event:
    def __init__(self, enable_timing=False):
        self.at = 0.0

    def record(self):
        self.at = time.perf_counter()

    def query(self):
        return False  # the GPU has not come so far yet

    def synchronize(self):
        pass

    def elapsed_time(self, other):
        return (other.at - self.at) * 1e3
