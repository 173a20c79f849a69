// Tiles cannot be tried in a page.
#include "app/control/bench/tunings.h"

#include <utility>

#include "app/web/absent/words.h"

namespace attn {

Tunings::Tunings(const JobContext& context, std::shared_ptr<GpuBench> gpu, std::filesystem::path)
    : context_(context), gpu_(std::move(gpu)) {}

void Tunings::tune() {
  context_.log.warn(in_desktop(tr("A browser cannot measure.")));
}

void Tunings::follow() {}

}  // namespace attn
