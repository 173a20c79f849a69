// The recorded timelines that come with the program.
#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "profiling/session/session.h"
#include "tests/environment/paths.h"
#include "viz/state/model.h"

namespace attn {

// Of one session file. A file is read once a process: what it holds is never written, and many tests look at it.
inline const std::vector<std::shared_ptr<const Timeline>>& timelines_of_file(const std::string& name) {
  static std::map<std::string, std::vector<std::shared_ptr<const Timeline>>> read;
  const auto [at, fresh] = read.try_emplace(name);
  if (!fresh) return at->second;
  const auto session = read_session(test::source_folder() + "/assets/sessions/" + name + ".attn");
  EXPECT_TRUE(session) << (session ? "" : session.error().message);
  if (session)
    for (const Timeline& t : session->timelines) at->second.push_back(std::make_shared<const Timeline>(t));
  return at->second;
}

// Of the session files of these names, in their order.
inline TimelinesView bundled_timelines(std::initializer_list<const char*> names = {"h100-timeline"}) {
  TimelinesView view;
  view.looked = true;
  for (const std::string name : names) {
    const auto& of_file = timelines_of_file(name);
    view.all.insert(view.all.end(), of_file.begin(), of_file.end());
  }
  return view;
}

}  // namespace attn
