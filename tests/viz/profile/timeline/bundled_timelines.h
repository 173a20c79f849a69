// The recorded timelines that come with the program.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "profiling/session/session.h"
#include "tests/environment/paths.h"
#include "viz/state/model.h"

namespace attn {

// Of the session files of these names, in their order.
inline TimelinesView bundled_timelines(std::initializer_list<const char*> names = {"h100-timeline"}) {
  TimelinesView view;
  view.looked = true;
  for (const std::string name : names) {
    const auto session = read_session(test::source_folder() + "/assets/sessions/" + name + ".attn");
    EXPECT_TRUE(session) << (session ? "" : session.error().message);
    if (!session) continue;
    for (const Timeline& t : session->timelines) view.all.push_back(std::make_shared<const Timeline>(t));
  }
  return view;
}

}  // namespace attn
