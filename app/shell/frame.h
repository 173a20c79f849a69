// Begins a frame of Dear ImGui so that a chord which is quicker than a frame is one.
#pragma once

namespace attn {

// ImGui::NewFrame(), but a modifier that went up after another key had gone down goes up in the frame after. Dear ImGui
// takes both at once, and Ctrl+P that was let go while a frame was drawn would be P. Needs a context with its backends'
// own NewFrame() called; events that wait stay in the context's queue.
void begin_frame();

}  // namespace attn
