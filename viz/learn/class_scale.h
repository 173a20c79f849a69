// How much larger everything is for a class at a projector. Pure.
#pragma once

namespace attn {

// Over the user's own scale, in a window of this logical size: as much as its panels have room for, at most 2. 1 where
// there is none to give.
float class_scale(float width, float height);

}  // namespace attn
