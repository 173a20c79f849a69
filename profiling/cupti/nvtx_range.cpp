#include "profiling/cupti/nvtx_range.h"

#include <nvtx3/nvToolsExt.h>

namespace attn {

NvtxRange::NvtxRange(const std::string& name) {
  nvtxRangePushA(name.c_str());
}
NvtxRange::~NvtxRange() {
  nvtxRangePop();
}

}  // namespace attn
