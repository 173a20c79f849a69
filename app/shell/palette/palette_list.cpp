#include "app/shell/palette/palette_list.h"

#include <cstddef>
#include <map>
#include <tuple>

namespace attn {

std::vector<PaletteEntry> PaletteList::take() {
  std::vector<PaletteEntry> entries;
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> known;
  for (PaletteEntry& e : entries_) {
    const auto [at, fresh] = known.try_emplace({e.group, e.words, e.more}, entries.size());
    if (fresh) {
      entries.push_back(std::move(e));
      continue;
    }
    PaletteEntry& first = entries[at->second];
    if (!first.commands.empty()) continue;
    const ImGuiKeyChord chord = first.chord;
    first = std::move(e);
    first.chord = chord;
  }
  entries_.clear();
  return entries;
}

}  // namespace attn
