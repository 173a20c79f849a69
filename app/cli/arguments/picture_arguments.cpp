#include "app/cli/arguments/picture_arguments.h"

#include "app/cli/arguments/console_text.h"
#include "app/state/apply/apply.h"
#include "kernels/base/text.h"

namespace attn::cli {

void PictureArguments::add_to(Parser& parser, const std::string& what) {
  parser.add_option("--png", png, what)->type_name("FILE.png");
  parser.add_option("--size", size, tr("Size of the picture in pixels; default: 1440x900"))->type_name("WxH");
  parser.add_option("--theme", theme, tr("Theme of the picture, dark or light; default: dark"))->type_name("NAME");
}

Result<void> PictureArguments::check() const {
  if (!asked()) return ok();
  if (auto r = check_writable("--png", png); !r) return r;
  if (auto r = check_is_png("--png", png); !r) return r;
  PictureSpec picture;
  if (auto r = apply_to(picture); !r) return r;
  return check_picture_size(picture.width, picture.height);
}

Result<PictureSpec> PictureArguments::of_profile(ProfilePage page, const gpu::ListingSubject& subject) const {
  PictureSpec picture;
  picture.state = initial_state();
  if (auto r = apply_to(picture); !r) return tl::unexpected(r.error());
  picture.state.view.workspace = Workspace::profile;
  picture.state.view.profile.page = page;
  picture.state.view.bench.kernel = subject.kernel;
  SweepSpec& sweep = picture.state.document.sweep;
  sweep.kernels = {subject.kernel};
  sweep.axis = Axis::L;
  sweep.values = {subject.problem.Lk};
  sweep.base = subject.problem;
  sweep.options = subject.options;
  sweep.arch = subject.arch;
  return picture;
}

Result<void> PictureArguments::apply_to(PictureSpec& picture) const {
  const auto extents = parse_extents("--size", size, tr("size such as 1440x900"));
  if (!extents) return tl::unexpected(extents.error());
  if (!theme.empty() && theme != "dark" && theme != "light")
    return bad_input(phrase("Unknown --theme {}; use dark or light.", theme));
  picture.state.preferences.theme = theme == "light" ? Theme::light : Theme::dark;
  picture.width = static_cast<int>(extents->first);
  picture.height = static_cast<int>(extents->second);
  return ok();
}

}  // namespace attn::cli
