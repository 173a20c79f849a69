import contextlib


class SDPBackend:
    FLASH_ATTENTION, CUDNN_ATTENTION, EFFICIENT_ATTENTION, MATH = range(4)


@contextlib.contextmanager
def sdpa_kernel(backend):
    yield
