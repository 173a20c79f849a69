// A request made ready for a GPU: in the caller's context and stream, in memory of the caller's allocator.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>

#include "app/python/module/plans.h"
#include "app/python/module/request.h"
#include "kernels/model/kernel.h"

namespace attn::python {

// The library's own arrays of a call, by the tensors they are; null: not given.
using LibraryArrays = ByTensor<nanobind::handle>;

// `home` is what attnscope/_homes.py says of the arrays' library: it allocates, copies and names the stream.
class GpuRun {
 public:
  // Plans where that was not done yet, and copies what does not lie as the kernel reads it. `arrays` keep those; the
  // request outlives the run. Raises.
  GpuRun(const Request& request, const std::string& kernel, nanobind::handle home, const LibraryArrays& arrays);

  // Starts the kernels once, on the stream that is current now, and does not wait for them. Compiles and loads where
  // that was not done yet.
  void launch_once(nanobind::handle home);
  // The same for as many launches as are asked: all that can be done before is done here.
  void prepare(nanobind::handle home);
  // Copies anew what is copied, then starts what was prepared.
  void launch(nanobind::handle home);
  const Choice& choice() const { return known_->choice; }
  // Arguments that are copied at each launch.
  const std::vector<std::string>& copied() const { return copied_; }

 private:
  struct Copy {
    nanobind::object from, to;
    nanobind::object how;  // as _homes.py's dense() takes it
    bool back = false;     // after the launch: of the answer
  };
  void place(const TensorSpec& spec, nanobind::handle home, nanobind::handle argument, bool swapped);
  std::byte* copy_of(nanobind::handle home, nanobind::handle argument, const nanobind::object& how, bool back);
  Result<void> finish(gpu::Queue& queue) const;
  void copy_back(nanobind::handle home) const;

  const Request* request_;
  std::shared_ptr<KnownPlan> known_;
  Buffers buffers_;
  std::vector<Copy> copies_;
  std::vector<std::string> copied_;
  std::vector<nanobind::object> held_;
  Prepared prepared_;
  bool waits_ = false;  // the library cannot be told that its arrays are still in use
};

}  // namespace attn::python
