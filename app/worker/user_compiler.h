// Texts that are a user's are compiled in a process of their own, `attnscope worker --compile`: a text may take memory
// and time without end, or ask for any file. That process can open CUDA's headers alone, has bounds of memory and time,
// and is warm: what it loaded once compiles the next text. When it is lost, the next text starts a new one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>

#include "app/system/child_process.h"
#include "kernels/gpu/compile/compiler.h"

namespace attn {

struct UserCompilerLimits {
  double seconds = 60;                      // the largest rung takes 12 s on a slow core
  std::uint64_t memory_bytes = 2ULL << 30;  // beside the compiler itself; the largest rung takes 0.3 GiB
};

// Opens compilers that share one such process: NVRTC in this process for the program's own texts, the other for a
// user's. `start` starts it; tests have their own.
using CompilerOpener = std::function<Result<std::unique_ptr<gpu::Compiler>>()>;
CompilerOpener compilers(std::function<Result<Child>()> start, const CompilerOpener& own = gpu::open_nvrtc,
                         const UserCompilerLimits& limits = {});
// With this program's own.
CompilerOpener compilers_here();

// The life of that process. `open`: NVRTC. The value is its exit code.
int compile_for_users(Socket& socket, const CompilerOpener& open = gpu::open_nvrtc);

}  // namespace attn
