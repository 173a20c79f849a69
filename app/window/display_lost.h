// What the program says where the display that its window is on goes away: where the rows are. It exits with 3 then.
#pragma once

namespace attn {

// X11: from now on Xlib's own end of the process, with words about sockets and exit code 1, is this one. Does nothing
// elsewhere. After the window was opened.
void watch_display();

// Wayland: whether the connection has broken. GLFW then closes the window as the user would. False on X11.
bool display_has_gone();

// Says so. Returns the exit code.
int say_display_has_gone();

}  // namespace attn
