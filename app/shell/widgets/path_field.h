// A field for a path: Tab completes it from the folder it names, Browse asks the desktop's dialog where there is one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/system/file_dialog.h"

namespace attn {

// What Tab makes of a path: the longest beginning that all names in its folder share, a folder with '/' at its end,
// "~/" as the home folder. The path itself where nothing begins like it. `extension` (".npy") hides other files;
// empty = all.
std::string completed_path(const std::string& path, std::string_view extension);

struct PathField {
  const char* id = "";
  std::string hint;
  std::string extension;  // ".npy"; empty = all files
  FileDialog::Kind kind = FileDialog::Kind::open;
  bool can_browse = false;  // the desktop has a file dialog
  float width = 0;          // pixels, the Browse button included
};

// `browsing` is the field whose dialog is open, "" = none. Whether Enter was pressed in it.
bool draw_path_field(const PathField& field, std::string& path, FileDialog& dialog, std::string& browsing);

}  // namespace attn
