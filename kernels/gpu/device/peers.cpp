#include "kernels/gpu/device/peers.h"

#include <cstring>
#include <string>
#include <utility>

#include "kernels/base/library.h"
#include "kernels/gpu/device/driver_calls.h"

namespace attn::gpu {
namespace {

class CudaPeers final : public Peers {
 public:
  CudaPeers(Library library, const PeerCalls& calls) : library_(std::move(library)), call_(calls) {}

  Result<MemoryHandle> share(DevicePointer p) override {
    CUipcMemHandle made{};
    if (auto good = check(call_.memory_handle(&made, p), "cuIpcGetMemHandle"); !good)
      return tl::unexpected(good.error());
    MemoryHandle handle{};
    static_assert(sizeof made == sizeof handle);
    std::memcpy(handle.data(), &made, sizeof made);
    return handle;
  }
  Result<DevicePointer> open_shared(const MemoryHandle& handle) override {
    CUipcMemHandle given{};
    std::memcpy(&given, handle.data(), sizeof given);
    CUdeviceptr p = 0;
    if (auto good = check(call_.open_memory(&p, given, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS), "cuIpcOpenMemHandle");
        !good)
      return tl::unexpected(good.error());
    return DevicePointer{p};
  }
  void close_shared(DevicePointer p) override { call_.close_memory(p); }

  Result<void> copy(DevicePointer to, DevicePointer from, std::uint64_t bytes, StreamHandle s) override {
    return bytes == 0 ? ok() : check(call_.copy(to, from, bytes, stream_of(s)), "cuMemcpyDtoDAsync");
  }
  Result<void> write(DevicePointer to, std::uint32_t value, StreamHandle s) override {
    return check(call_.write_value(stream_of(s), to, value, CU_STREAM_WRITE_VALUE_DEFAULT), "cuStreamWriteValue32");
  }
  Result<void> await(DevicePointer at, std::uint32_t value, StreamHandle s) override {
    return check(call_.wait_value(stream_of(s), at, value, CU_STREAM_WAIT_VALUE_GEQ), "cuStreamWaitValue32");
  }
  Result<void> await(Event e, StreamHandle s) override {
    return check(call_.wait_event(stream_of(s), static_cast<CUevent>(e), 0), "cuStreamWaitEvent");
  }
  Result<bool> finished(StreamHandle s) override {
    const CUresult r = call_.query(stream_of(s));
    if (r == CUDA_ERROR_NOT_READY) return false;
    if (auto good = check(r, "cuStreamQuery"); !good) return tl::unexpected(good.error());
    return true;
  }

 private:
  static CUstream stream_of(StreamHandle s) { return static_cast<CUstream>(s); }
  Result<void> check(CUresult r, const char* what) const {
    if (r == CUDA_SUCCESS) return ok();
    return fail(ErrorKind::failed, call_.error.words(r, what));
  }

  Library library_;
  PeerCalls call_;
};

}  // namespace

Result<std::unique_ptr<Peers>> Peers::open() {
  Result<Library> library = Library::open("libcuda.so.1");
  if (!library) return tl::unexpected(library.error());
  const Result<PeerCalls> calls = resolve_peer_calls(*library);
  if (!calls) return tl::unexpected(calls.error());
  return std::make_unique<CudaPeers>(std::move(*library), *calls);
}

}  // namespace attn::gpu
