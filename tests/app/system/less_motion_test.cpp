// Where the desktop asks for less motion: its files and its program, as GNOME, GTK and KDE write them.
#include "app/system/less_motion.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "tests/kernels/temp_folder.h"

namespace attn {
namespace {

TEST(LessMotion, GtkSaysItInItsSettings) {
  EXPECT_TRUE(gtk_moves_less("[Settings]\ngtk-theme-name=Adwaita\ngtk-enable-animations=0\n"));
  EXPECT_TRUE(gtk_moves_less("[Settings]\r\n gtk-enable-animations = false\r\n"));
  EXPECT_FALSE(gtk_moves_less("[Settings]\ngtk-enable-animations=1\n"));
  EXPECT_FALSE(gtk_moves_less("[Other]\ngtk-enable-animations=0\n"));
  EXPECT_FALSE(gtk_moves_less("[Settings]\n#gtk-enable-animations=0\n"));
  EXPECT_FALSE(gtk_moves_less(""));
  EXPECT_FALSE(gtk_moves_less("["));
}

TEST(LessMotion, KdeSaysItAsASpeed) {
  EXPECT_TRUE(kde_moves_less("[General]\nfont=x\n\n[KDE]\nAnimationDurationFactor=0\n"));
  EXPECT_TRUE(kde_moves_less("[KDE]\nAnimationDurationFactor=0.0"));
  EXPECT_FALSE(kde_moves_less("[KDE]\nAnimationDurationFactor=0.5\n"));
  EXPECT_FALSE(kde_moves_less("[KDE]\nAnimationDurationFactor=\n"));
  EXPECT_FALSE(kde_moves_less("[KDE]\nSingleClick=false\n"));
}

TEST(LessMotion, FilesOrTheProgramDecide) {
  const TempFolder folder;
  const std::filesystem::path none = folder / "none", config = folder / "config", program = folder / "gsettings";
  std::filesystem::create_directories(config / "gtk-3.0");
  std::ofstream(config / "gtk-3.0" / "settings.ini") << "[Settings]\ngtk-enable-animations=0\n";
  const auto answers = [&](const char* script) {
    std::ofstream(program) << "#!/bin/sh\n" << script;
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    return asks_less_motion(none, program);
  };
  EXPECT_TRUE(asks_less_motion(config, {}));
  EXPECT_FALSE(asks_less_motion(none, {}));
  EXPECT_TRUE(answers("[ \"$*\" = 'get org.gnome.desktop.interface enable-animations' ] && echo false\n"));
  EXPECT_FALSE(answers("echo true\n"));
  EXPECT_FALSE(answers("echo false; exit 1\n"));
  EXPECT_FALSE(asks_less_motion(none, folder / "missing"));
}

}  // namespace
}  // namespace attn
