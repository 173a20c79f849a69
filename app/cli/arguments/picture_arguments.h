// --png, --size and --theme: a picture of what a command found, as the window shows it.
#pragma once

#include <string>

#include "app/cli/arguments/parser.h"
#include "app/window/pictures.h"
#include "kernels/base/result.h"
#include "kernels/base/text.h"
#include "kernels/gpu/compile/listing/listing.h"

namespace attn::cli {

struct PictureArguments {
  std::string png, size = "1440x900", theme;

  // `what`: "Picture of Profile with the source open"
  void add_to(Parser& parser, const std::string& what);
  bool asked() const { return !png.empty(); }
  // Before work is spent on it: the file, the size, the theme.
  Result<void> check() const;
  // The window's Profile on one kernel of the ladder and one problem.
  Result<PictureSpec> of_profile(ProfilePage page, const gpu::ListingSubject& subject) const;

 private:
  Result<void> apply_to(PictureSpec& picture) const;  // size and theme
};

// Refuses a kernel that is none of the ladder's.
inline constexpr const char* kLadderAlone =
    marked("--png draws the window's Profile workspace, which shows only kernels on the ladder; omit --png.");

}  // namespace attn::cli
