// Where the connection to an X11 display breaks, Xlib ends the process, with words about sockets and exit code 1.
#pragma once

namespace attn {

// From now on such an end says where the rows are, and exits with 3. Does nothing where the window is not on X11: a
// Wayland window is then closed as the user would. After the window was opened.
void watch_display();

}  // namespace attn
