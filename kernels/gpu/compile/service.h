// The compile service: CUDA source and options to machine code, with what ptxas says of it, through a cache on disk.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/gpu/compile/ptxas_log.h"
#include "kernels/gpu/compile/sources.h"

namespace attn::gpu {

struct CompileRequest {
  KernelSource source;
  std::string arch;                  // "sm_90a"
  std::vector<std::string> defines;  // "ATTN_D=64"
};

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
};

// NVRTC of this machine, opened at run time. Where it is missing, the error names the one command that brings it.
Result<std::unique_ptr<Compiler>> open_nvrtc();

struct Compiled {
  std::vector<std::byte> code;
  std::vector<EntryFigures> entries;
  std::vector<std::string> warnings;
  std::string source_hash;
  bool from_cache = false;
  double seconds = 0;
};

class CompileService {
 public:
  // `cache` empty: nothing is kept on disk.
  CompileService(Compiler& compiler, std::filesystem::path cache);
  Result<Compiled> compile(const CompileRequest& request);
  // The PTX with its .loc directives, which a cubin keeps no longer: compiled anew, the cache has none.
  Result<std::string> ptx(const CompileRequest& request);
  // Where the entry of a request lies; empty without a cache.
  std::filesystem::path cache_file(const CompileRequest& request) const;

 private:
  std::string key_of(const CompileRequest& request) const;
  Compiler& compiler_;
  std::filesystem::path cache_;
  std::string version_;
};

// $XDG_CACHE_HOME/attnscope/cubins; empty where neither it nor HOME is set.
std::filesystem::path cubin_cache_folder();

}  // namespace attn::gpu
