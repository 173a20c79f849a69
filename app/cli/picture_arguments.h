// --png, --size and --theme: a picture of what a command found, as the window shows it.
#pragma once

#include <string>

#include "app/cli/parser.h"
#include "app/window/pictures.h"
#include "kernels/base/result.h"

namespace attn::cli {

struct PictureArguments {
  std::string png, size = "1440x900", theme;

  // `what`: "A picture of Profile with the source open"
  void add_to(Parser& parser, const std::string& what);
  bool asked() const { return !png.empty(); }
  // Before work is spent on it: the file, the size, the theme.
  Result<void> check() const;
  // Size and theme; check() was asked before.
  Result<void> apply_to(PictureSpec& picture) const;
};

}  // namespace attn::cli
