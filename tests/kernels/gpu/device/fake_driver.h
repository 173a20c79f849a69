// A driver with no GPU: memory is plain memory of the process, launches compute nothing, and what was called is kept.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "kernels/gpu/compile/service.h"
#include "kernels/gpu/device/driver.h"

namespace attn {

class FakeDriver : public gpu::Driver {
 public:
  // A launch as it was asked for; its parameters are there for `on_launch` alone.
  struct Launched {
    std::string kernel;
    gpu::LaunchShape shape;
    gpu::StreamHandle stream = nullptr;
    std::span<const void* const> parameters;
  };
  std::vector<std::string> calls;  // "upload", "launch naive_scores", ... in their order
  std::function<void(const Launched&)> on_launch;
  bool captured = false;  // every stream is

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
  Result<gpu::Context> join_context(std::int32_t gpu) override { return gpu::Context{gpu, 1}; }
  Result<std::uint64_t> free_memory() override { return std::uint64_t{1} << 26; }
  Result<gpu::DevicePointer> allocate(std::uint64_t bytes) override {
    if (auto good = at("allocate"); !good) return tl::unexpected(good.error());
    return reinterpret_cast<gpu::DevicePointer>(::operator new(bytes + 1));
  }
  void release(gpu::DevicePointer p) override { ::operator delete(reinterpret_cast<void*>(p)); }
  Result<void> fill(gpu::DevicePointer p, std::uint8_t byte, std::uint64_t bytes, gpu::StreamHandle) override {
    if (bytes > 0) std::memset(reinterpret_cast<void*>(p), byte, bytes);
    return at("fill");
  }
  Result<void> upload(gpu::DevicePointer to, const void* from, std::uint64_t bytes, gpu::StreamHandle) override {
    if (bytes > 0) std::memcpy(reinterpret_cast<void*>(to), from, bytes);  // an input that is absent is null
    return at("upload");
  }
  Result<void> download(void* to, gpu::DevicePointer from, std::uint64_t bytes, gpu::StreamHandle) override {
    if (bytes > 0) std::memcpy(to, reinterpret_cast<void*>(from), bytes);
    return at("download");
  }
  Result<gpu::Module> load(const std::byte*) override {
    if (auto good = at("load"); !good) return tl::unexpected(good.error());
    return this;
  }
  void unload(gpu::Module) override { (void)at("unload"); }
  Result<gpu::Function> function(gpu::Module, const std::string& entry) override {
    return &names_.emplace(entry, entry).first->second;
  }
  Result<gpu::DevicePointer> variable(gpu::Module, const std::string&) override {
    return reinterpret_cast<gpu::DevicePointer>(&variable_);
  }
  Result<void> allow_shared(gpu::Function, std::uint32_t) override { return at("allow_shared"); }
  Result<void> launch(gpu::Function f, const gpu::LaunchShape& shape, gpu::StreamHandle s,
                      std::span<const void* const> parameters) override {
    const std::string& kernel = *static_cast<const std::string*>(f);
    if (on_launch) on_launch({kernel, shape, s, parameters});
    return at("launch " + kernel);
  }
  // The map's first number is the tensor's address.
  Result<gpu::TensorMap> encode(const gpu::TensorTiles& tiles) override {
    if (auto good = validate(tiles); !good) return tl::unexpected(good.error());
    return gpu::TensorMap{{tiles.address}};
  }
  Result<gpu::StreamHandle> create_stream() override { return this; }
  void destroy_stream(gpu::StreamHandle) override { (void)at("destroy_stream"); }
  Result<bool> capturing(gpu::StreamHandle) override {
    if (auto good = at("capturing"); !good) return tl::unexpected(good.error());
    return captured;
  }
  Result<void> synchronize(gpu::StreamHandle) override { return at("synchronize"); }
  Result<gpu::Event> create_event() override { return this; }
  void destroy_event(gpu::Event) override {}
  Result<void> record(gpu::Event, gpu::StreamHandle) override { return at("record"); }
  Result<double> elapsed_ms(gpu::Event, gpu::Event) override { return 0.25; }
  bool lost() const override { return false; }

 protected:
  virtual Result<void> at(const std::string& call) {
    calls.push_back(call);
    return ok();
  }

 private:
  std::map<std::string, std::string> names_;  // of functions; their addresses are the handles
  gpu::DevicePointer variable_ = 0;           // the one that a module may have
};

class NoCompiler final : public gpu::Compiler {
 public:
  std::string version() override { return "none"; }
  Result<gpu::Cubin> compile(const gpu::KernelSource&, const std::vector<std::string>&) override {
    return gpu::Cubin{};
  }
};

}  // namespace attn
