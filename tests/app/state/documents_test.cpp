// docs/state.md and docs/peers.md have every key of the state string, and an example of each that can be read.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <string>

#include "app/state/string/keys.h"
#include "app/state/string/state_string.h"
#include "tests/environment/paths.h"

namespace attn {
namespace {

// Key to example, out of the tables under "Keys: ...": | `key` | value | `example` |
std::map<std::string, std::string> documented_keys() {
  std::map<std::string, std::string> keys;
  for (const char* name : {"state.md", "peers.md"}) {
    std::ifstream page(test::source_folder() + "/docs/" + name);
    bool in_keys = false;
    for (std::string line; std::getline(page, line);) {
      if (line.starts_with("#")) in_keys = line.find("# Keys: ") != std::string::npos;
      if (!in_keys || !line.starts_with("| `")) continue;
      const std::string key = line.substr(3, line.find('`', 3) - 3);
      const std::size_t last = line.rfind('`'), first = line.rfind('`', last - 1);
      EXPECT_TRUE(keys.emplace(key, line.substr(first + 1, last - first - 1)).second) << key << " stands there twice";
    }
  }
  return keys;
}

// What string.cpp reads itself.
const std::set<std::string> kBesideTheTable{"preset", "q_file", "k_file", "v_file", "bias_file"};

TEST(Documents, HaveEveryKeyOfTheStateString) {
  const auto documented = documented_keys();
  for (const StateKey& key : state_keys())
    EXPECT_TRUE(documented.contains(key.key)) << key.key << " is missing in docs/state.md and docs/peers.md";
  for (const std::string& key : kBesideTheTable) EXPECT_TRUE(documented.contains(key)) << key;
}

TEST(Documents, NameNoKeyThatThereIsNot) {
  std::set<std::string> known = kBesideTheTable;
  for (const StateKey& key : state_keys()) known.insert(key.key);
  for (const auto& [key, example] : documented_keys()) EXPECT_TRUE(known.contains(key)) << key;
}

TEST(Documents, ExamplesOfKeysCanBeReadAndChangeWhatTheKeySays) {
  const auto documented = documented_keys();
  ASSERT_GT(documented.size(), 60U);
  const auto base = parse_state_string("attn1,preset=blackboard");
  ASSERT_TRUE(base) << base.error().message;
  const auto keys = state_keys();
  for (const auto& [key, example] : documented) {
    // O has a type of its own where Q, K and V are narrower than f32.
    const std::string with = key == "sweep_output" ? "sweep_dtype=f16," : "";
    const auto parsed = parse_state_string("attn1," + with + key + "=" + example);
    ASSERT_TRUE(parsed) << parsed.error().message;
    for (const StateKey& k : keys) {
      if (k.key != key) continue;
      EXPECT_EQ(k.write(parsed->state), example) << key;
      EXPECT_NE(k.write(base->state), example) << key << ": the example is what it would be without the key";
    }
  }
}

}  // namespace
}  // namespace attn
