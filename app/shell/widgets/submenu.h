// What menus are made of besides lines. A menu within a menu stands beside it, or on a narrow touch screen, which has
// no room there, unfolds under its own line.
#pragma once

namespace attn {

// True while it is open: to be ended with end_submenu().
bool begin_submenu(const char* words);
void end_submenu();
// A line between two groups, as far from both as their lines are from each other.
void menu_separator();
// For the menu that opens next, whose top stands at `top`, pixels: under a finger it ends within the window, and is
// scrolled where it has no room.
void keep_menu_within(float top, float least_width);

}  // namespace attn
