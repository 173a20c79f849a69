// Every way in which one member of a JSON text may be of another kind, for tests of what reads it: no reader lets an
// exception of its parser out.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace attn {

inline const std::vector<nlohmann::json>& wrong_values() {
  using nlohmann::json;
  static const std::vector<json> kValues{nullptr,
                                         true,
                                         0,
                                         -1,
                                         1.5,
                                         1e300,
                                         18446744073709551615ULL,
                                         INT64_MIN,
                                         "",
                                         "a \"text\"",
                                         std::string(3000, 'x'),
                                         json::array(),
                                         json{1, 2},
                                         json{{{"a", 1}}, nullptr, "b"},
                                         json::object(),
                                         {{"name", 1}},
                                         json{{1, 2}, {3, json::array()}}};
  return kValues;
}

// Calls `look` with each text that differs in one member: of another kind, missing, or, of a list, twice. `place` says
// which. Returns how many there were.
inline std::size_t with_each_wrong(const nlohmann::json& right,
                                   const std::function<void(const std::string& text, const std::string& place)>& look) {
  using nlohmann::json;
  std::size_t count = 0;
  json changed = right;
  const auto put = [&](const std::string& place) {
    look(changed.dump(), place);
    ++count;
  };
  std::vector<json::json_pointer> places;
  const std::function<void(const json&, const json::json_pointer&)> walk = [&](const json& j,
                                                                               const json::json_pointer& at) {
    places.push_back(at);
    if (j.is_object())
      for (const auto& [key, value] : j.items()) walk(value, at / key);
    if (j.is_array())
      for (std::size_t n = 0; n < j.size(); ++n) walk(j[n], at / n);
  };
  walk(right, json::json_pointer());
  for (const json::json_pointer& at : places) {
    for (const json& value : wrong_values()) {
      changed = right;
      changed[at] = value;
      put(at.to_string() + " = " + value.dump().substr(0, 40));
    }
    if (at.empty()) continue;
    changed = right;
    json& parent = changed[at.parent_pointer()];
    if (parent.is_array()) {
      const json again = parent[std::stoul(at.back())];
      parent.push_back(again);
      put(at.to_string() + " twice");
      continue;
    }
    parent.erase(at.back());
    put(at.to_string() + " missing");
    changed[at.parent_pointer()]["nobody_knows_it"] = 1;
    put(at.to_string() + " renamed");
  }
  return count;
}

}  // namespace attn
