// Profile: one kernel on one problem against any other measurement. Its GPU counters come with the GPU kernels.
#include "viz/profile/workspace.h"

#include "viz/draw/coming_page.h"

namespace attn {

void draw_profile(const State& /*state*/, const Model& /*model*/, Commands& commands) {
  draw_coming_page({"Profile is not built yet",
                    "One kernel on one problem will stand here against any other measurement: DRAM bytes predicted and "
                    "counted, the roofline, what limits occupancy, and the source line by line with what the compiler "
                    "and the counters say of it. It needs the GPU kernels, which this version does not have.",
                    "What CPU kernels give today, time, throughput, predicted bytes and the verdict, is in Bench.",
                    "Open Bench", Workspace::bench},
                   commands);
}

}  // namespace attn
