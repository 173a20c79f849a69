// Work that is cut into pieces, and who takes them.
#pragma once

#include <cstdint>
#include <functional>

namespace attn {

// Calls work(piece) once for each piece in [0, pieces), in any order and maybe several at once, and returns when all
// are done. Exceptions must not leave `work`.
using TakePieces = std::function<void(std::int64_t pieces, const std::function<void(std::int64_t piece)>& work)>;

// The calling thread takes one after the other. On threads: kernels/base/on_threads.h.
inline void in_turn(std::int64_t pieces, const std::function<void(std::int64_t piece)>& work) {
  for (std::int64_t piece = 0; piece < pieces; ++piece) work(piece);
}

}  // namespace attn
