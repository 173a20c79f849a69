// NVRTC, opened at run time. Its few functions are declared here: its header comes only with the 90 MB library, and
// the build needs neither.
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/cuda_library.h"
#include "kernels/base/library.h"
#include "kernels/base/text.h"
#include "kernels/gpu/compile/service.h"

namespace attn::gpu {
namespace {

std::string mend() {
  return phrase("Fix: run attnscope doctor --fetch-cuda ({} MB), or set ATTNSCOPE_CUDA to CUDA toolkit 12.8 or newer.",
                kFetchedMegabytes);
}

constexpr const char* kNoHeader = "cannot open source file";

using Program = void*;
using Status = int;  // 0 = success
constexpr Status kCompilation = 6;
// Where there is a driver NVRTC keeps what it compiled and then leaves ptxas' words out of its log, which are where
// registers and spills are read. Compilers from before the option keep nothing and refuse it.
constexpr const char* kNoCache = "--no-cache";

struct Calls {
  Status (*version)(int*, int*) = nullptr;
  const char* (*error_string)(Status) = nullptr;
  Status (*create)(Program*, const char* source, const char* name, int headers, const char* const* texts,
                   const char* const* names) = nullptr;
  Status (*destroy)(Program*) = nullptr;
  Status (*compile)(Program, int options, const char* const*) = nullptr;
  Status (*log_size)(Program, std::size_t*) = nullptr;
  Status (*log)(Program, char*) = nullptr;
  Status (*cubin_size)(Program, std::size_t*) = nullptr;
  Status (*cubin)(Program, char*) = nullptr;
  Status (*ptx_size)(Program, std::size_t*) = nullptr;
  Status (*ptx)(Program, char*) = nullptr;
};

template <class F>
bool find(const Library& library, const char* name, F& call) {
  call = reinterpret_cast<F>(library.symbol(name));
  return call != nullptr;
}

class Nvrtc final : public Compiler {
 public:
  Nvrtc(Library library, const Calls& calls) : library_(std::move(library)), call_(calls) {}

  std::string version() override {
    int major = 0, minor = 0;
    call_.version(&major, &minor);
    return fmt::format("NVRTC {}.{}", major, minor);
  }

  Result<Cubin> compile(const KernelSource& source, const std::vector<std::string>& options) override {
    std::vector<const char*> names, texts, given;
    std::vector<std::string> own;  // the embedded text is no C string
    own.reserve(2 * embedded_sources(source.score_lines).size());
    for (const SourceText& s : embedded_sources(source.score_lines)) {
      if (s.name.ends_with(".cu")) continue;
      names.push_back(own.emplace_back(s.name).c_str());
      texts.push_back(own.emplace_back(s.text).c_str());
    }
    std::vector<std::string> all = options;
    for (const auto& folder : headers_) all.push_back("--include-path=" + folder.string());
    for (const std::string& option : all) given.push_back(option.c_str());

    given.push_back(kNoCache);
    auto out = compile_once(source, names, texts, given, all);
    if (out || out.error().message.find(kNoCache) == std::string::npos) return out;
    given.pop_back();
    return compile_once(source, names, texts, given, all);
  }

 private:
  Result<Cubin> compile_once(const KernelSource& source, const std::vector<const char*>& names,
                             const std::vector<const char*>& texts, const std::vector<const char*>& given,
                             const std::vector<std::string>& options) {
    Program program = nullptr;
    const Status made = call_.create(&program, source.text.c_str(), source.name.c_str(), static_cast<int>(names.size()),
                                     texts.data(), names.data());
    if (made != 0) return failure("nvrtcCreateProgram", made, source.name);
    const Status status = call_.compile(program, static_cast<int>(given.size()), given.data());
    Result<Cubin> out = status == 0 || status == kCompilation ? collect(program, status, source.name, options)
                                                              : failure("nvrtcCompileProgram", status, log_of(program));
    call_.destroy(&program);
    return out;
  }

  tl::unexpected<Error> failure(const char* call, Status status, const std::string& more) {
    return fail(ErrorKind::failed, phrase("{} failed: {}. {}", call, call_.error_string(status), more));
  }
  std::string log_of(Program program) {
    std::size_t size = 0;
    if (call_.log_size(program, &size) != 0 || size < 2) return {};
    std::string log(size, '\0');
    call_.log(program, log.data());
    log.pop_back();  // the terminator
    return log;
  }
  Result<Cubin> collect(Program program, Status status, const std::string& name,
                        const std::vector<std::string>& options) {
    Cubin cubin;
    cubin.log = log_of(program);
    if (status == kCompilation) {
      const PtxasLog log = parse_ptxas_log(cubin.log);
      const bool no_header = cubin.log.find(kNoHeader) != std::string::npos;
      return fail(ErrorKind::failed,
                  phrase("{} does not compile for {}:\n{}{}", name, options.front(),
                         log.errors.empty() ? cubin.log : fmt::format("{}", fmt::join(log.errors, "\n")),
                         no_header ? phrase("\n"
                                            "CUDA's headers come with its compiler. {}",
                                            mend())
                                   : ""));
    }
    std::size_t size = 0;
    if (const Status s = call_.cubin_size(program, &size); s != 0) return failure("nvrtcGetCUBINSize", s, name);
    cubin.code.resize(size);
    const Status s = call_.cubin(program, reinterpret_cast<char*>(cubin.code.data()));
    if (s != 0) return failure("nvrtcGetCUBIN", s, name);
    if (call_.ptx_size(program, &size) == 0 && size > 1) {
      cubin.ptx.resize(size);
      if (call_.ptx(program, cubin.ptx.data()) != 0) cubin.ptx.clear();
      while (cubin.ptx.ends_with('\0')) cubin.ptx.pop_back();
    }
    return cubin;
  }

  Library library_;
  Calls call_;
  // Looked for once: a process that compiles a user's texts can list no folder later.
  std::vector<std::filesystem::path> headers_ = cuda_include_folders();
};

}  // namespace

Result<std::unique_ptr<Compiler>> open_nvrtc() {
  Result<Library> library = open_cuda_library({"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}, mend());
  if (!library) return tl::unexpected(library.error());
  Calls c;
  const bool whole =
      find(*library, "nvrtcVersion", c.version) && find(*library, "nvrtcGetErrorString", c.error_string) &&
      find(*library, "nvrtcCreateProgram", c.create) && find(*library, "nvrtcDestroyProgram", c.destroy) &&
      find(*library, "nvrtcCompileProgram", c.compile) && find(*library, "nvrtcGetProgramLogSize", c.log_size) &&
      find(*library, "nvrtcGetProgramLog", c.log) && find(*library, "nvrtcGetCUBINSize", c.cubin_size) &&
      find(*library, "nvrtcGetCUBIN", c.cubin) && find(*library, "nvrtcGetPTXSize", c.ptx_size) &&
      find(*library, "nvrtcGetPTX", c.ptx);
  if (!whole) {
    return fail(ErrorKind::cannot_run, phrase("{} is too old or broken. {}", library->name(), mend()));
  }
  return std::make_unique<Nvrtc>(std::move(*library), c);
}

}  // namespace attn::gpu
