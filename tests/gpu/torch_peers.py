"""Times of torch's attention on the same shapes, each implementation forced: peers of the timings beside it.

Cold L2 (a buffer is written before each run), median of CUDA events. Exit 77 where there is no torch or no GPU.
"""
import statistics
import sys

try:
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
except ImportError:
    print("python3 has no torch")
    sys.exit(77)
if not torch.cuda.is_available():
    print("torch sees no GPU")
    sys.exit(77)

torch.backends.cuda.matmul.allow_tf32 = False
flush = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")


def median_us(run, seconds=0.5):
    for _ in range(3):
        run()
    torch.cuda.synchronize()
    samples = []
    while sum(samples) < seconds * 1e6 and len(samples) < 200 or len(samples) < 5:
        flush.zero_()
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        run()
        end.record()
        end.synchronize()
        samples.append(begin.elapsed_time(end) * 1000)
    return statistics.median(samples)


PEERS = [("torch-math", SDPBackend.MATH, torch.float32, "f32"),
         ("torch-efficient", SDPBackend.EFFICIENT_ATTENTION, torch.float32, "f32"),
         ("torch-flash", SDPBackend.FLASH_ATTENTION, torch.float16, "f16"),
         ("torch-cudnn", SDPBackend.CUDNN_ATTENTION, torch.float16, "f16"),
         ("torch-flash", SDPBackend.FLASH_ATTENTION, torch.bfloat16, "bf16"),
         ("torch-cudnn", SDPBackend.CUDNN_ATTENTION, torch.bfloat16, "bf16")]

print("kernel,problem,time_us_median,tflops")
for batch, heads, length, dim, causal in [(1, 16, 4096, 64, False), (1, 16, 4096, 128, False), (1, 16, 4096, 128, True),
                                          (16, 16, 1024, 64, False)]:
    pairs = batch * heads * (length * (length + 1) // 2 if causal else length * length)
    for name, backend, dtype, stored in PEERS:
        q, k, v = (torch.randn(batch, heads, length, dim, device="cuda").to(dtype) for _ in range(3))
        with sdpa_kernel(backend):
            us = median_us(lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal))
        words = f"B={batch} H={heads} L={length} D={dim} {stored}{' causal' if causal else ''}"
        print(f"{name},{words},{us:.2f},{4.0 * pairs * dim / us / 1e6:.3f}")
