// The compile service: CUDA source and options to machine code, with what ptxas says of it, through a cache on disk.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/gpu/compile/compiler.h"
#include "kernels/gpu/compile/ptxas_log.h"
#include "kernels/gpu/compile/sources.h"

namespace attn::gpu {

struct CompileRequest {
  KernelSource source;
  std::string arch;                  // "sm_90a"
  std::vector<std::string> defines;  // "ATTN_D=64"
};

struct Compiled {
  std::vector<std::byte> code;
  std::vector<EntryFigures> entries;
  std::vector<std::string> warnings, losses;  // PtxasLog's

  // Both, as people are told them.
  std::vector<std::string> said() const;
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
