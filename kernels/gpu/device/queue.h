// What a GPU kernel needs beside the plan: the driver, a stream and the kernels that were compiled and loaded so far. A
// worker makes one for its GPU and hands it on in Stream::native.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernels/gpu/compile/service.h"
#include "kernels/gpu/device/driver.h"

namespace attn::gpu {

class Queue {
 public:
  // `edited`: folder of the user's own copies of kernels; may be empty. Both references outlive the queue.
  static Result<Queue> make(Driver& driver, CompileService& compiler, std::string arch, std::filesystem::path edited);
  // In the context that the calling thread has (Driver::join_context) and on a stream of the caller's: neither is ended
  // with the queue. Null: CUDA's default stream.
  static Queue on(Driver& driver, CompileService& compiler, std::string arch, std::filesystem::path edited,
                  StreamHandle stream);
  Queue(Queue&& other) noexcept;
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  Queue& operator=(Queue&&) = delete;
  ~Queue();

  Driver& driver() { return *driver_; }
  StreamHandle stream() const { return stream_; }
  // From now on work goes to this stream, which is the caller's.
  void go_to(StreamHandle stream) { stream_ = stream; }

  // From now on kernels are compiled with their hooks and write to this buffer (kernels/gpu/rungs/trace/trace.h); 0: no
  // more.
  void trace_to(DevicePointer buffer) { trace_ = buffer; }
  DevicePointer trace() const { return trace_; }
  // The same of a pipeline's moments: the bytes of StampArgs (kernels/gpu/rungs/stamps/stamps_layout.h); none: no more.
  void stamp_to(std::vector<std::byte> args) { stamps_ = std::move(args); }
  const std::vector<std::byte>& stamps() const { return stamps_; }
  const std::string& arch() const { return arch_; }

  // One kernel with its constants, compiled and loaded once.
  struct Loaded {
    Module module = nullptr;
    Compiled compiled;
    std::map<std::string, Function> functions;
  };
  // `own`: the source of a kernel that is neither the program's nor an edited copy; its name has the source's hash.
  Result<Loaded*> load(std::string_view kernel, const std::vector<std::string>& defines,
                       const KernelSource* own = nullptr);
  // A kernel that is no rung: its text, compiled and loaded; the module is the caller's.
  Result<Module> load_text(std::string_view name, const std::string& text, const std::vector<std::string>& defines);
  // An entry of it that may ask for `shared_bytes` of dynamic shared memory.
  Result<Function> entry(Loaded& loaded, const std::string& name, std::int64_t shared_bytes);

 private:
  Queue(Driver& driver, CompileService& compiler, std::string arch, std::filesystem::path edited)
      : driver_(&driver), compiler_(&compiler), arch_(std::move(arch)), edited_(std::move(edited)) {}
  Driver* driver_;
  CompileService* compiler_;
  std::string arch_;
  std::filesystem::path edited_;
  StreamHandle stream_ = nullptr;
  StreamHandle own_stream_ = nullptr;  // null: it stands on the caller's
  DevicePointer trace_ = 0;
  std::vector<std::byte> stamps_;
  std::map<std::string, Loaded> loaded_;
};

}  // namespace attn::gpu
