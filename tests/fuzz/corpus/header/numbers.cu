// attn: {"api": 1, "entries": [1, 2], "dtypes": ["f32"], "D": [64], "masks": []}
