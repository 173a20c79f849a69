#include "app/shell/dropped.h"

namespace attn {

Commands open_dropped(std::span<const char* const> paths) {
  Commands commands;
  for (const char* path : paths) commands.emplace_back(OpenFile{path});
  return commands;
}

}  // namespace attn
