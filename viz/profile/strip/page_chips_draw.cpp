#include "viz/profile/strip/page_chips_draw.h"

#include <cstddef>

#include "kernels/base/text.h"
#include "viz/draw/canvas.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"

namespace attn {

std::vector<Chip> page_chips(ProfilePage shown) {
  const auto page = [shown](const char* label, const char* help, ProfilePage of) {
    return Chip{label, help, shown == of, ChooseProfilePage{of}, true, false};
  };
  return {page(tr("Figures"), tr("Roofs, occupancy, bytes and pipes"), ProfilePage::figures),
          page(tr("Source"), tr("The kernel's source and the machine code of each line and phase; needs no GPU"),
               ProfilePage::source),
          page(tr("Heartbeat"), tr("Utilisation of the GPU's pipes and memory during one run"), ProfilePage::heartbeat),
          page(tr("Timeline"), tr("Who waits for whom within one recorded launch"), ProfilePage::timeline),
          page(tr("Lab"), tr("Edit the kernel's source and see the effect"), ProfilePage::lab)};
}

ChipRow draw_chips(std::span<const Chip> chips, ImVec2 from, float right, bool draw, Commands& commands) {
  const Style& s = style();
  const float gap = s.px(4), frame = s.px(12), parted = s.px(10);
  ChipRow laid{-gap};
  ImVec2 at = from;
  for (std::size_t n = 0; n < chips.size(); ++n) {
    const Chip& chip = chips[n];
    if (n > 0 && chips[n - 1].action != chip.action) {
      at.x += parted;
      laid.width += parted;
    }
    const float width = text_width(Face::text, 12, chip.label) + frame;
    laid.width += width + gap;
    if (at.x > from.x && at.x + width > right + 0.5F) {  // sums of fractions differ in their last bits
      at = {from.x, at.y + s.px(kChipLine)};
      ++laid.lines;
    }
    if (draw) {
      ImGui::SetCursorPos(at);
      const bool clicked =
          chip.action ? small_button(chip.label, chip.enabled, chip.help) : toggle(chip.label, chip.on, chip.help);
      if (clicked && chip.before) commands.push_back(*chip.before);
      if (clicked) commands.push_back(chip.command);
    }
    at.x += width + gap;
  }
  return laid;
}

}  // namespace attn
