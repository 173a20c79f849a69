#include "kernels/base/folders.h"

#include <cstdlib>
#include <map>
#include <optional>
#include <string>

#include <gtest/gtest.h>

namespace attn {
namespace {

// Variables as a test wants them; as they were at its end.
class Environment {
 public:
  ~Environment() {
    for (const auto& [name, value] : before_) set(name, value);
  }
  // None unsets it.
  void put(const std::string& name, const std::optional<std::string>& value) {
    const char* old = std::getenv(name.c_str());
    before_.try_emplace(name, old == nullptr ? std::nullopt : std::optional<std::string>(old));
    set(name, value);
  }

 private:
  static void set(const std::string& name, const std::optional<std::string>& value) {
    if (value) {
      setenv(name.c_str(), value->c_str(), 1);
    } else {
      unsetenv(name.c_str());
    }
  }
  std::map<std::string, std::optional<std::string>> before_;
};

TEST(Environment, AnEmptyVariableIsNone) {
  Environment e;
  e.put("ATTNSCOPE_SOMETHING", "");
  EXPECT_FALSE(environment("ATTNSCOPE_SOMETHING"));
  e.put("ATTNSCOPE_SOMETHING", "x");
  EXPECT_EQ(environment("ATTNSCOPE_SOMETHING"), "x");
  e.put("ATTNSCOPE_SOMETHING", std::nullopt);
  EXPECT_FALSE(environment("ATTNSCOPE_SOMETHING"));
}

TEST(Folders, AreThoseOfTheVariablesElseInHome) {
  Environment e;
  e.put("HOME", "/home/somebody");
  for (const char* name : {"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"}) e.put(name, std::nullopt);
  EXPECT_EQ(config_folder(), "/home/somebody/.config/attnscope");
  EXPECT_EQ(data_folder(), "/home/somebody/.local/share/attnscope");
  EXPECT_EQ(cache_folder(), "/home/somebody/.cache/attnscope");
  e.put("XDG_CONFIG_HOME", "/config");
  e.put("XDG_DATA_HOME", "/data");
  e.put("XDG_CACHE_HOME", "/cache");
  EXPECT_EQ(config_folder(), "/config/attnscope");
  EXPECT_EQ(data_folder(), "/data/attnscope");
  EXPECT_EQ(cache_folder(), "/cache/attnscope");
}

TEST(Folders, RelativePathsAreIgnoredAsTheSpecificationSays) {
  Environment e;
  e.put("HOME", "/home/somebody");
  e.put("XDG_DATA_HOME", "data");
  EXPECT_EQ(data_folder(), "/home/somebody/.local/share/attnscope");
}

TEST(Folders, AreEmptyWithoutAHome) {
  Environment e;
  e.put("HOME", std::nullopt);
  e.put("XDG_CACHE_HOME", std::nullopt);
  EXPECT_TRUE(cache_folder().empty());
}

}  // namespace
}  // namespace attn
