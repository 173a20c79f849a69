#include "app/control/files/own_timeline.h"

#include "viz/profile/timeline/scene/timeline_scene.h"

namespace attn {

std::string timeline_opened(const Session& session) {
  const bool alone = rows_of(session) == 0 && session.recordings.empty() && !session.timelines.empty();
  return alone ? id_of(session.timelines.front()) : std::string();
}

}  // namespace attn
