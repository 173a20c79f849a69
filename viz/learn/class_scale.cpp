#include "viz/learn/class_scale.h"

#include <initializer_list>

namespace attn {
namespace {

// Card, tiles, strip and timeline are whole in a window of this logical size.
constexpr float kLeastWidth = 1000, kLeastHeight = 560;

}  // namespace

float class_scale(float width, float height) {
  for (const float scale : {2.0F, 1.5F, 1.25F})
    if (width / scale >= kLeastWidth && height / scale >= kLeastHeight) return scale;
  return 1;
}

}  // namespace attn
