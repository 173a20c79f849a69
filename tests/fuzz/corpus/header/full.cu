// What it is.
// attn: {"api": 1,
// attn:  "entries": [{"name": "scores", "grid": ["ceil_div(Lq, Br)", "B * Hq"], "block": [32, "threads / 32"]},
// attn:              {"name": "output", "grid": "B * Hq * Lq", "block": 64, "shared": "4 * Br * D"}],
// attn:  "dtypes": ["f32", "bf16"],
// attn:  "D": {"min": 16, "max": 128, "step": 16},
// attn:  "Dv": [64, 96],
// attn:  "masks": ["causal", "bias"],
// attn:  "options": {"Br": {"min": 16, "max": 64, "step": 16, "default": 32},
// attn:              "threads": {"min": 32, "max": 256, "step": 32, "default": 128}},
// attn:  "grouped": true, "stores_scores": true}
//
// More words.
#include "kernels/gpu/device.cuh"
