#include "kernels/recording/bounds.h"

#include <fmt/format.h>

namespace attn {

std::string difference_words(EventIndex event, const EventId& id, Slot slot, std::int32_t row, std::int32_t col,
                             float recorded, double replayed) {
  return fmt::format("step {} (b {}, h {}, i {}, j {}, {}): {} [{}, {}] was recorded as {:.9g}, replay gives {:.9g}",
                     event + 1, id.b, id.h, id.i, id.j, name_of(id.phase), name_of(slot), row, col, recorded, replayed);
}

}  // namespace attn
