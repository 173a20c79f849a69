// attn-build: {"edits": "naive", "maxrregcount": 64, "fast_math": true}
// attn: {"api": 1, "entries": [{"name": "mine", "grid": "Lq * B * Hq", "block": "threads"}],
// attn:  "dtypes": ["f32"], "D": {"min": 1, "max": 256}, "masks": [],
// attn:  "options": {"threads": {"min": 32, "max": 128, "step": 32, "default": 64}}}
extern "C" __global__ void mine() {}
