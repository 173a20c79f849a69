// A driver that breaks on purpose, and a worker that has it in place of a GPU's.
#pragma once

#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include <signal.h>
#include <unistd.h>

#include "app/gpu_client.h"

namespace attn {

// Where and how the double breaks.
struct Fault {
  std::string call;  // "launch", "synchronize", ...; empty: never
  enum class How { error, sticky, hang, die } how = How::error;
};

// Remembers no numbers: memory is plain memory of the process, launches do nothing.
class BreakingDriver final : public gpu::Driver {
 public:
  explicit BreakingDriver(Fault fault) : fault_(std::move(fault)) {}

  Result<std::int32_t> version() override { return 13000; }
  Result<std::int32_t> device_count() override { return 2; }
  Result<gpu::GpuProperties> properties(std::int32_t index) override {
    gpu::GpuProperties p;
    p.index = index;
    p.name = "a double";
    p.major = 9;
    p.sms = 132;
    p.memory_bytes = 80ULL << 30;
    p.l2_bytes = 1024;
    return p;
  }
  Result<void> open_device(std::int32_t) override { return at("open_device"); }
  Result<std::uint64_t> free_memory() override { return std::uint64_t{1} << 30; }
  Result<gpu::DevicePointer> allocate(std::uint64_t bytes) override {
    if (auto good = at("allocate"); !good) return tl::unexpected(good.error());
    return reinterpret_cast<gpu::DevicePointer>(::operator new(bytes + 1));
  }
  void release(gpu::DevicePointer p) override { ::operator delete(reinterpret_cast<void*>(p)); }
  Result<void> fill(gpu::DevicePointer p, std::uint8_t byte, std::uint64_t bytes, gpu::StreamHandle) override {
    std::memset(reinterpret_cast<void*>(p), byte, bytes);
    return at("fill");
  }
  Result<void> upload(gpu::DevicePointer to, const void* from, std::uint64_t bytes, gpu::StreamHandle) override {
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    return at("upload");
  }
  Result<void> download(void* to, gpu::DevicePointer from, std::uint64_t bytes, gpu::StreamHandle) override {
    std::memcpy(to, reinterpret_cast<void*>(from), bytes);
    return at("download");
  }
  Result<gpu::Module> load(const std::byte*) override {
    if (auto good = at("load"); !good) return tl::unexpected(good.error());
    return this;
  }
  void unload(gpu::Module) override {}
  Result<gpu::Function> function(gpu::Module, const std::string&) override { return this; }
  Result<void> allow_shared(gpu::Function, std::uint32_t) override { return at("allow_shared"); }
  Result<void> launch(gpu::Function, const gpu::LaunchShape&, gpu::StreamHandle, const void*) override {
    return at("launch");
  }
  Result<gpu::StreamHandle> create_stream() override { return this; }
  void destroy_stream(gpu::StreamHandle) override {}
  Result<void> synchronize(gpu::StreamHandle) override { return at("synchronize"); }
  Result<gpu::Event> create_event() override { return this; }
  void destroy_event(gpu::Event) override {}
  Result<void> record(gpu::Event, gpu::StreamHandle) override { return at("record"); }
  Result<double> elapsed_ms(gpu::Event, gpu::Event) override { return 0.25; }
  bool lost() const override { return lost_; }

 private:
  Result<void> at(const std::string& call) {
    if (call != fault_.call) return ok();
    switch (fault_.how) {
      case Fault::How::hang:
        while (true) ::pause();
      case Fault::How::die:
        ::raise(SIGKILL);
        break;
      case Fault::How::sticky:
        lost_ = true;
        break;
      case Fault::How::error:
        break;
    }
    return fail(ErrorKind::failed, call + " failed: CUDA_ERROR_ILLEGAL_ADDRESS (an illegal address was met)");
  }
  Fault fault_;
  bool lost_ = false;
};

class NoCompiler final : public gpu::Compiler {
 public:
  std::string version() override { return "none"; }
  Result<gpu::Cubin> compile(const gpu::KernelSource&, const std::vector<std::string>&) override {
    return gpu::Cubin{};
  }
};

inline WorkerParts parts_with(const Fault& fault) {
  WorkerParts parts;
  parts.driver = [fault]() -> Result<std::unique_ptr<gpu::Driver>> { return std::make_unique<BreakingDriver>(fault); };
  parts.compiler = []() -> Result<std::unique_ptr<gpu::Compiler>> { return std::make_unique<NoCompiler>(); };
  parts.cache.clear();
  parts.edited_kernels.clear();
  return parts;
}

// The first worker breaks as `fault` says, those after it do not.
inline GpuClient client_with(Fault fault) {
  return GpuClient([first = true, fault = std::move(fault)]() mutable {
    const WorkerParts parts = parts_with(first ? fault : Fault{});
    first = false;
    return Child::copy([parts](Socket& socket) { return work(socket, parts); });
  });
}

}  // namespace attn
