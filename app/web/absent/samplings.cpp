// Nothing is sampled in a page.
#include "app/control/profile/samplings.h"

#include "app/web/absent/words.h"

namespace attn {

void Samplings::sample(const SampleRow&) {
  context_.log.warn(in_desktop(tr("A row can be sampled only on the GPU that it was measured on.")));
}

}  // namespace attn
