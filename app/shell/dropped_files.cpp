#include "app/shell/dropped_files.h"

#include <string>
#include <vector>

namespace attn {

Commands open_dropped(std::span<const char* const> paths) {
  if (paths.empty()) return {};
  if (paths.size() == 1) return {OpenFile{paths.front()}};
  return {OpenFiles{std::vector<std::string>(paths.begin(), paths.end())}};
}

}  // namespace attn
