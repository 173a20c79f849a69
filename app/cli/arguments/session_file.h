// A session that commands add to, one after the other.
#pragma once

#include <functional>
#include <string>

#include "kernels/base/result.h"
#include "profiling/session/session.h"

namespace attn::cli {

// What the file holds, or an empty session where there is none, changed and written again; locked meanwhile.
Result<void> change_session(const std::string& file, const std::function<void(Session&)>& change);

}  // namespace attn::cli
