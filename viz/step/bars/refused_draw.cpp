#include "viz/step/bars/refused_draw.h"

#include "kernels/base/text.h"
#include "kernels/ladder.h"
#include "kernels/model/kernel.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/step/bars/strip.h"
#include "viz/step/problem/problem_fields.h"

namespace attn {
namespace {

// Buttons side by side at the foot of the card.
struct ButtonRow {
  Box box;
  float x = box.min.x + style().px(24);
  bool operator()(const char* id, const std::string& words) {
    const Style& s = style();
    const float width = text_width(Face::text, 13, words) + s.px(28);
    const Box place{{x, box.max.y - s.px(46)}, {x + width, box.max.y - s.px(18)}};
    x = place.max.x + s.px(10);
    return box_button(place, id, words.c_str());
  }
};

// Where the kernel itself is not recorded: what can be done instead.
void offer_instead(const Box& box, const KernelRow& kernel, Commands& commands) {
  ButtonRow button{box};
  for (const KernelRow* other : ladder()) {
    if (other->record == nullptr || other->order != kernel.order) continue;
    if (button("##step_like", phrase("Step through {}, a CPU kernel with the same order", other->id)))
      commands.emplace_back(ChooseKernel{std::string(other->id)});
    break;
  }
  if (button("##measure_it", tr("Measure it in Bench"))) commands.emplace_back(MeasureInBench{});
}

}  // namespace

void draw_refused(const Box& all, const State& state, const std::string& why, Commands& commands) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const auto kernel = find_kernel(state.document.kernel);
  const bool never = kernel && (*kernel)->record == nullptr;
  const KernelRow* other = never ? nullptr : recorded_instead(state.document);
  const Box box{all.min, {all.max.x, all.min.y + s.px(never || other != nullptr ? 152 : 120)}};
  draw_card(list, box);
  draw_text(list, {box.min.x + s.px(24), box.min.y + s.px(18)}, Face::bold, 18, colour_of(Token::text),
            never ? tr("This kernel is not recorded step by step") : tr("This problem cannot be recorded"));
  draw_paragraph(list, {box.min.x + s.px(24), box.min.y + s.px(50)}, box.width() - s.px(48), 14,
                 {{recording_words(why), Face::text, Token::dim, 0, false}}, 3);
  if (never) offer_instead(box, **kernel, commands);
  if (other != nullptr && ButtonRow{box}("##use_other", phrase("Use {}", other->id)))
    commands.emplace_back(ChooseKernel{std::string(other->id)});
}

}  // namespace attn
