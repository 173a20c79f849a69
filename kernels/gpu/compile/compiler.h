// CUDA source to machine code: the compiler as the service (service.h) and its cache know it.
#pragma once

#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/gpu/compile/sources.h"

namespace attn::gpu {

struct Cubin {
  std::vector<std::byte> code;  // an ELF file
  std::string log;
  std::string ptx;  // what it was made from, with the lines of source; empty where the compiler does not give it
};

// The compiler behind the service; tests put their own in its place.
class Compiler {
 public:
  virtual ~Compiler() = default;
  // "NVRTC 13.0": part of the cache's key.
  virtual std::string version() = 0;
  // `options` as the compiler takes them. A source that does not compile: the log's errors, file and line first.
  virtual Result<Cubin> compile(const KernelSource& source, const std::vector<std::string>& options) = 0;
  // Whose stop ends a compilation that comes, where the compiler can be stopped.
  virtual void heed(std::stop_token) {}
};

// NVRTC of this machine, opened at run time. Where it is missing, the error names the one command that brings it.
Result<std::unique_ptr<Compiler>> open_nvrtc();

}  // namespace attn::gpu
