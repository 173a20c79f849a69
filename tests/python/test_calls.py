"""Calls from many threads, after fork, stopped by Ctrl+C, at random, and of dead objects: no crash, no growth."""

import os
import random as randomness
import signal
import sys
import threading
import time
import warnings

import package

np = package.wanted("numpy")
attnscope = package.wanted("attnscope")
report = package.wanted("program").Report()
warnings.simplefilter("ignore", attnscope.CopyWarning)
CALLS = 10000 if package.LONG else 3000


def gil_is_released():
    q = np.random.default_rng(1).standard_normal((1, 4, 2048, 64)).astype(np.float32)
    done, counted = threading.Event(), 0

    def work():
        attnscope.attention(q, q, q, threads=1)
        done.set()

    thread = threading.Thread(target=work)
    began = time.perf_counter()
    thread.start()
    while not done.is_set():
        counted += 1
        time.sleep(0)
    report.check(counted > 100, f"Python went on {counted} times within {time.perf_counter() - began:.2f} s")
    thread.join()


def threads_beside_one_another():
    generator = np.random.default_rng(2)
    problems = [generator.standard_normal((2, 3, 20 + 30 * n, 16)).astype(np.float32) for n in range(6)]
    right = [attnscope.attention(x, x, x) for x in problems]
    wrong = []

    def work(n):
        for turn in range(40):
            x = (n + turn) % len(problems)
            if not np.array_equal(
                attnscope.attention(problems[x], problems[x], problems[x], threads=1 + turn % 3), right[x]
            ):
                wrong.append(x)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    report.check(not wrong, f"eight threads get the bits of one: {len(wrong)} differ")


def child_of_fork():
    x = np.random.default_rng(3).standard_normal((4, 4, 256, 32)).astype(np.float32)
    right = attnscope.attention(x, x, x, threads=3)
    warnings.simplefilter("ignore", DeprecationWarning)
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        os._exit(0 if np.array_equal(attnscope.attention(x, x, x, threads=3), right) else 3)
    _, status = os.waitpid(child, 0)
    report.check(status == 0, f"a child of fork computes the same: status {status}")


def stopped():
    q = np.zeros((1, 64, 8192, 128), np.float32)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # shells start what is in the background without one
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    began = time.perf_counter()
    timer.start()
    try:
        attnscope.attention(q, q, q, kernel="cpu_flash")
        report.check(False, "a long call was not stopped")
    except KeyboardInterrupt:
        report.check(time.perf_counter() - began < 10, f"Ctrl+C ends a call in {time.perf_counter() - began:.1f} s")


def dead_objects():
    view = memoryview(bytearray(4 * 16)).cast("f", (4, 4))
    view.release()
    package.refused(report, "q:", lambda: attnscope.attention(view, view, view))

    class Broken:
        def __dlpack__(self, **given):
            raise RuntimeError("gone")

        def __dlpack_device__(self):
            return (1, 0)

    package.refused(report, "q:", lambda: attnscope.attention(Broken(), Broken(), Broken()))
    x = np.ones((4, 4), np.float32)
    ready = attnscope.prepare(x, x, x)
    del x
    report.check((ready() == 1).all(), "what was prepared keeps its arrays")
    ready = attnscope.prepare(np.ones((4, 4), np.float32), np.ones((4, 4), np.float32), np.ones((4, 4), np.float32))
    out = ready.out
    del ready
    report.check(out.shape == (4, 4), "an answer outlives what made it")


class Fuzz:
    def __init__(self, seed):
        self.random = randomness.Random(seed)
        self.pool = np.random.default_rng(seed).standard_normal(60000).astype(np.float32)
        self.answered = self.refused = 0

    def rarely(self, share):
        return self.random.random() < share

    def shapes(self):
        """Of q, k and v: mostly ones that fit."""
        choose = self.random.choice
        b, h, lq, lk, d, dv = (
            choose((1, 1, 2, 3)),
            choose((1, 2, 4)),
            choose((1, 2, 5, 17, 70)),
            choose((1, 3, 8, 40)),
            choose((1, 4, 16)),
            choose((1, 8)),
        )
        shapes = [[b, h, lq, d], [b, choose((1, h)), lk, d], [b, 0, lk, dv]]
        shapes[2][1] = shapes[1][1]
        axes = choose((4, 4, 4, 3, 2))
        shapes = [shape[4 - axes :] for shape in shapes]
        if self.rarely(0.2):
            wrong = choose(shapes)
            wrong[self.random.randrange(axes)] = choose((0, 0, 1, 6, 300))
        if self.rarely(0.05):
            choose(shapes).insert(0, 1)
        return shapes

    def array(self, shape, dtype="f4"):
        choose = self.random.choice
        count = int(np.prod(shape))
        x = np.resize(self.pool, count).reshape(shape)
        x = x.astype(choose(("f2", "f8", "i4", "i8", "c8", "?", "u1")) if self.rarely(0.03) else dtype)
        if self.rarely(0.4):
            axis = self.random.randrange(x.ndim)
            way = choose(("swap", "step", "back", "repeat", "wide"))
            if way == "swap":
                other = self.random.randrange(x.ndim)
                x = np.ascontiguousarray(x.swapaxes(axis, other)).swapaxes(axis, other)
            elif way == "step":
                x = np.repeat(x, 2, axis)[(slice(None),) * axis + (slice(None, None, 2),)]
            elif way == "back":
                x = x[(slice(None),) * axis + (slice(None, None, -1),)]
            elif way == "wide":
                x = np.concatenate([x, x], -1)[..., : x.shape[-1]]
            elif x.shape[axis]:
                x = np.broadcast_to(x[(slice(None),) * axis + (slice(0, 1),)], x.shape)
        return choose((None, "text", [1.0, 2.0], memoryview(b"abcd"), 7)) if self.rarely(0.01) else x

    def call(self):
        choose = self.random.choice
        shapes, dtype = self.shapes(), choose(("f4", "f2"))
        q, k, v = (self.array(shape, dtype) for shape in shapes)
        like = tuple(shapes[0][:-1]) + (shapes[2][-1],)
        given = {}
        for name, values in (
            ("kernel", ("auto", "cpu_flash", "cpu_flash1", "cpu_tiled", "cpu_multicore", "no")),
            ("causal", (True, False, 3)),
            ("window", ((1, 2), (None, 0), (-1, -1), 5, (-7, 1))),
            ("scale", (0.5, 0, -1.0, float("inf"), "x")),
            ("softcap", (1.0, 0, -2, None)),
            ("alibi", (True, [0.5, 0.25], self.pool[:3])),
            ("key_lengths", ([1], [0, 5], [-1], "a")),
            ("layout", ("bhld", "blhd", "x")),
            ("tile", ((2, 3), (64, 64), (0, 1), (5000, 1))),
            ("threads", (1, 2, 3, -1)),
            ("return_lse", (True, False)),
        ):
            if self.rarely(0.07):
                given[name] = choose(values)
        if self.rarely(0.1):
            given["bias"] = self.array((choose((1, shapes[0][-2])), shapes[1][-2]))
        if self.rarely(0.25):
            given["out"] = choose((q, v, np.empty(like, dtype), self.array(like, dtype)))
        try:
            attnscope.attention(q, k, v, **given)
            self.answered += 1
        except (ValueError, TypeError):
            self.refused += 1


def fuzzed():
    fuzz = Fuzz(7)
    early = None
    for n in range(CALLS):
        fuzz.call()
        if n == 999:
            early = package.resident()
    grown = package.resident() - early
    report.check(
        fuzz.answered > CALLS // 4 and fuzz.refused > CALLS // 10,
        f"{fuzz.answered} calls were answered, {fuzz.refused} refused",
    )
    report.check(grown <= 2 << 20, f"{CALLS - 1000} calls let the process grow by {grown / 1024:.0f} KiB")
    print(f"{fuzz.answered} answered, {fuzz.refused} refused, grown by {grown / 1024:.0f} KiB")


for part in (gil_is_released, threads_beside_one_another, child_of_fork, stopped, dead_objects, fuzzed):
    part()
report.exit(10)
