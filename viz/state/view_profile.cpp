#include "viz/state/view_profile.h"

namespace attn {

std::string_view name_of(ProfilePage page) {
  return page == ProfilePage::source ? "source" : "figures";
}

std::string_view name_of(CodeKind code) {
  return code == CodeKind::ptx ? "ptx" : "sass";
}

}  // namespace attn
