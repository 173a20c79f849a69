// The palette's entries while they are listed.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/shell/palette/palette_entry.h"
#include "viz/state/commands.h"
#include "viz/state/state.h"

namespace attn {

class PaletteList {
 public:
  explicit PaletteList(const PaletteFacts& facts) : facts_(facts) {}

  PaletteEntry& add(std::string group, std::string words, std::string more, Commands commands) {
    PaletteEntry& entry = entries_.emplace_back();
    entry.group = std::move(group);
    entry.words = std::move(words);
    entry.more = std::move(more);
    entry.commands = std::move(commands);
    return entry;
  }
  // What shows in a workspace goes there first.
  PaletteEntry& add_in(Workspace workspace, std::string group, std::string words, std::string more, Commands commands) {
    if (facts_.state.view.workspace != workspace) commands.insert(commands.begin(), ChooseWorkspace{workspace});
    return add(std::move(group), std::move(words), std::move(more), std::move(commands));
  }
  void add(PaletteEntry entry) { entries_.push_back(std::move(entry)); }
  const PaletteFacts& facts() const { return facts_; }
  const State& state() const { return facts_.state; }
  const Document& document() const { return facts_.state.document; }
  // Two tables may name the same: a key that acts elsewhere, and the command; a menu that stands in for another. Each
  // once.
  std::vector<PaletteEntry> take();

 private:
  PaletteFacts facts_;
  std::vector<PaletteEntry> entries_;
};

void add_learn(PaletteList& e);

}  // namespace attn
