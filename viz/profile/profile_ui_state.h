// What the Profile workspace remembers between frames: the scene and what it was made for. The shell owns one.
#pragma once

#include <memory>

namespace attn {

struct ProfileCache;  // viz/profile/profile_cache.h

struct ProfileUiState {
  std::shared_ptr<ProfileCache> cache;
};

}  // namespace attn
