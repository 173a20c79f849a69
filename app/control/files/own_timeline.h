// Which recorded launch a session opens on.
#pragma once

#include <string>

#include "profiling/session/session.h"

namespace attn {

// The first of a session that holds timelines alone, by its name in a state string. Empty: Profile speaks of the
// session's rows, or there is none.
std::string timeline_opened(const Session& session);

}  // namespace attn
