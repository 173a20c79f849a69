#include "kernels/gpu/compile/service.h"

#include <chrono>
#include <system_error>

#include <fmt/format.h>

#include "kernels/base/folders.h"
#include "kernels/base/hash.h"
#include "kernels/gpu/compile/cubin_cache.h"
#include "kernels/gpu/compile/includes.h"

namespace attn::gpu {
namespace {

std::vector<std::string> options_of(const CompileRequest& request) {
  // -default-device: functions that the host compiles too stand in shared headers without CUDA's words.
  std::vector<std::string> options{"--gpu-architecture=" + request.arch, "--std=c++17", "-default-device", "-lineinfo",
                                   "--ptxas-options=-v"};
  for (const std::string& define : request.defines) options.push_back("--define-macro=" + define);
  options.insert(options.end(), request.source.flags.begin(), request.source.flags.end());
  return options;
}

Compiled compiled_from(Cubin cubin, const CompileRequest& request) {
  PtxasLog log = parse_ptxas_log(cubin.log);
  Compiled c;
  c.code = std::move(cubin.code);
  c.entries = std::move(log.entries);
  c.warnings = std::move(log.warnings);
  c.losses = std::move(log.losses);
  c.source_hash = request.source.hash;
  return c;
}

}  // namespace

std::vector<std::string> Compiled::said() const {
  std::vector<std::string> all = warnings;
  all.insert(all.end(), losses.begin(), losses.end());
  return all;
}

CompileService::CompileService(Compiler& compiler, std::filesystem::path cache)
    : compiler_(compiler), cache_(std::move(cache)), version_(compiler.version()) {}

std::string CompileService::key_of(const CompileRequest& request) const {
  std::string all =
      version_ + '\n' + request.source.name + '\n' + request.source.hash + '\n' + request.source.text_hash;
  for (const std::string& option : options_of(request)) all += '\n' + option;
  return hash_of(all);
}

std::filesystem::path CompileService::cache_file(const CompileRequest& request) const {
  return cache_.empty() ? cache_ : cache_ / (key_of(request) + ".cubin");
}

Result<std::string> CompileService::ptx(const CompileRequest& request) {
  if (auto good = check_includes(request.source); !good) return tl::unexpected(good.error());
  Result<Cubin> cubin = compiler_.compile(request.source, options_of(request));
  if (!cubin) return tl::unexpected(cubin.error());
  return std::move(cubin->ptx);
}

Result<Compiled> CompileService::compile(const CompileRequest& request) {
  const auto begin = std::chrono::steady_clock::now();
  // Before the cache: what lies in a file of another folder counts in no key.
  if (auto good = check_includes(request.source); !good) return tl::unexpected(good.error());
  const std::string key = key_of(request);
  const std::filesystem::path file = cache_file(request);
  const auto finish = [&](Cubin cubin, bool from_cache) {
    Compiled c = compiled_from(std::move(cubin), request);
    c.from_cache = from_cache;
    c.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return c;
  };
  if (!file.empty()) {
    if (auto kept = read_cached(file, key)) return finish(std::move(*kept), true);
  }
  Result<Cubin> cubin = compiler_.compile(request.source, options_of(request));
  if (!cubin) return tl::unexpected(cubin.error());
  // A cache that cannot be written costs time, not the answer.
  if (!file.empty()) keep_cached(file, key, *cubin);
  return finish(std::move(*cubin), false);
}

std::filesystem::path cubin_cache_folder() {
  const std::filesystem::path cache = cache_folder();
  return cache.empty() ? cache : cache / "cubins";
}

}  // namespace attn::gpu
