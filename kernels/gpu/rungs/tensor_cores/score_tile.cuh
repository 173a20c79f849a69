// Softcap, bias and ALiBi where S is kept in fragments: what mask_scores() of flash_tile.cuh does in a build that has
// softcap or ALiBi (score.cuh).
#pragma once

namespace attn::gpu {

// Scores of Q K^T become scaled ones in base 2, with softcap, bias and ALiBi; -inf where a key is hidden or beyond the end.
template <int M, int N, class Tile, class Lanes>
__device__ inline void shape_scores(const Args& a, const Tile& window, const Lanes& bias, int lane_row, int lane_column,
                                    float (&s)[M][N][4]) {
  // @phase mask
  const float own = static_cast<float>(bias.own);  // one conversion a tile; sums with small numbers are exact to 2^24
#pragma unroll
  for (int i = 0; i < M; ++i) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int row = lane_row + 16 * i + 8 * h;
      const int first = window.first + row - lane_column;
      int last = min(window.end, window.last + row) - lane_column;
      if (16 * i + 8 * h >= bias.rows) last = 0;
#pragma unroll
      for (int n = 0; n < N; ++n) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const int c = 8 * n + e;
          float& x = s[i][n][2 * h + e];
          bool seen = c >= first && c < last;
          float shaped = capped_score(a, __fmul_rn(x, a.scale_log2), kLog2E);
#if ATTN_ADDED
          // A bias of -inf hides the key, whatever its score is.
          const float more = seen ? bias.at[(16 * i + 8 * h) * bias.row + c * bias.column] : 0.0f;
          seen = seen && more != minus_infinity();
          shaped = fmaf(more, kLog2E, shaped);
#endif
#if ATTN_ALIBI
          shaped = fmaf(-bias.slope, fabsf(own + static_cast<float>(16 * i + 8 * h - c)), shaped);
#endif
          x = seen ? shaped : minus_infinity();
        }
      }
    }
  }
}

}  // namespace attn::gpu
