// A name on the time line of NVIDIA's tools (nsys, ncu --nvtx) for as long as the object lives. Without such a tool it
// costs nothing: NVTX's header looks for one when it is first used, and there is no library.
#pragma once

#include <string>

namespace attn {

class NvtxRange {
 public:
  explicit NvtxRange(const std::string& name);  // "flash_simt on B=1 H=16 L=4096 D=128 f32"
  ~NvtxRange();
  NvtxRange(const NvtxRange&) = delete;
  NvtxRange& operator=(const NvtxRange&) = delete;
};

}  // namespace attn
