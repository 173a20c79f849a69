#include "viz/state/view_profile.h"

namespace attn {

std::string_view name_of(ProfilePage page) {
  switch (page) {
    case ProfilePage::figures:
      return "figures";
    case ProfilePage::source:
      return "source";
    case ProfilePage::heartbeat:
      return "heartbeat";
    case ProfilePage::timeline:
      return "timeline";
    case ProfilePage::lab:
      return "lab";
  }
  return "";
}

std::string_view name_of(CodeKind code) {
  return code == CodeKind::ptx ? "ptx" : code == CodeKind::diff ? "diff" : "sass";
}

}  // namespace attn
