// A request made ready for a GPU: in the caller's context and stream, in memory of the caller's allocator.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>

#include "app/python/module/request.h"
#include "kernels/model/kernel.h"

namespace attn::python {

// The library's own arrays of a call, by the tensors they are; null: not given.
using LibraryArrays = ByTensor<nanobind::handle>;

// `home` is what attnscope/_homes.py says of the arrays' library: it allocates, copies and names the stream.
class GpuRun {
 public:
  // Compiles and loads where that was not done yet. `arrays` keep those that are copied. Raises.
  GpuRun(const Request& request, const std::string& kernel, nanobind::handle home, const LibraryArrays& arrays);

  // Starts the kernels on the stream that is current now, and does not wait for them.
  void launch(nanobind::handle home);
  const Choice& choice() const { return choice_; }
  // Arguments that are copied at each launch, for they do not lie as the kernel reads them.
  const std::vector<std::string>& copied() const { return copied_; }

 private:
  struct Copy {
    nanobind::object from, to;
    std::string how;    // as _homes.py's dense() takes it
    bool back = false;  // after the launch: of the answer
  };
  void place(const TensorSpec& spec, nanobind::handle home, nanobind::handle argument, bool swapped);

  ByTensor<ArrayView> tensors_;
  std::int32_t device_ = 0;
  Choice choice_;
  Buffers buffers_;
  std::vector<Copy> copies_;
  std::vector<std::string> copied_;
  std::vector<nanobind::object> held_;
  Prepared prepared_;
};

}  // namespace attn::python
