#include "kernels/museum/patches.h"

#include <fmt/format.h>

#include "kernels/base/text.h"

namespace attn {
namespace {

void add_lines(std::string& to, std::string_view lines, std::string_view sign) {
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(line.size() < lines.size() ? line.size() + 1 : line.size());
    to += fmt::format("{} {}\n", sign, line);
  }
}

}  // namespace

Result<std::string> patched(const Patch& patch, std::string_view text) {
  const std::size_t at = text.find(patch.find);
  if (at == std::string_view::npos || text.find(patch.find, at + 1) != std::string_view::npos) {
    const char* times =
        at == std::string_view::npos ? tr("does not occur in the source") : tr("occurs more than once in the source");
    return bad_input(phrase("the patch {} does not apply to {}: its text {}", patch.id, patch.source, times));
  }
  std::string out(text.substr(0, at));
  out += patch.replace;
  out += text.substr(at + patch.find.size());
  return out;
}

std::string patch_text(const Patch& patch) {
  std::string text;
  add_lines(text, patch.find, "-");
  add_lines(text, patch.replace, "+");
  return text;
}

}  // namespace attn
