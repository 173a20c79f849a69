#include "viz/profile/timeline/choices_draw.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"

namespace attn {
namespace {

// Logical pixels: between label and menu, between the menus, of a menu's arrow with the space about its words.
constexpr float kLabelGap = 8, kMenuGap = 18, kArrow = 40;
constexpr float kBlockMenu = 92;  // five digits

float draw_label(const Box& line, float left, const char* words) {
  const Style& s = style();
  draw_text_in(ImGui::GetWindowDrawList(), {{left, line.min.y}, line.max}, Align::left, Face::text, 12,
               colour(s.theme, Token::dim), words);
  return left + text_width(Face::text, 12, words) + s.px(kLabelGap);
}

// The words of the closed menu have no more than `width` pixels.
bool begin_menu(const char* id, const Box& line, float left, float width, const std::string& words) {
  ImGui::SetCursorScreenPos({left, line.min.y});
  ImGui::SetNextItemWidth(width);
  return begin_list(id, fitted_text(Face::text, 13, words, width - style().px(kArrow)).c_str(),
                    ImGuiComboFlags_HeightLargest);
}

// Those of one problem and device together, each group under its name; within it by what differs.
template <class Item>
void each_by_problem(const PipelineScene& scene, bool below, Item item) {
  std::vector<const PipelineScene::Choice*> sorted;
  for (const PipelineScene::Choice& c : scene.choices)
    if (!below || c.may_be_beside) sorted.push_back(&c);
  std::ranges::stable_sort(
      sorted, [](const auto* a, const auto* b) { return std::tie(a->tip, a->words) < std::tie(b->tip, b->words); });
  const std::string* group = nullptr;
  for (const PipelineScene::Choice* c : sorted) {
    if (group == nullptr || *group != c->tip) {
      if (group != nullptr) ImGui::Separator();
      dim_text(c->tip);
    }
    group = &c->tip;
    item(*c);
  }
}

bool menu_item(const PipelineScene::Choice& c, bool on) {
  return ImGui::Selectable(fmt::format("{}##{}", c.words, c.id).c_str(), on) && !on;
}

void draw_shown(const PipelineScene& scene, const Box& line, float left, float width, Commands& commands) {
  const auto now = std::ranges::find_if(scene.choices, &PipelineScene::Choice::on);
  const std::string words = now == scene.choices.end() ? "" : now->words;
  const std::string tip = now == scene.choices.end() ? "" : now->tip;
  if (begin_menu("##timeline_shown", line, left, width, words)) {
    each_by_problem(scene, false, [&](const PipelineScene::Choice& c) {
      if (menu_item(c, c.on)) commands.push_back(ChooseTimeline{c.id});
    });
    end_list();
  }
  tooltip(tip);
}

void draw_below(const PipelineScene& scene, const Box& line, float left, float width, Commands& commands) {
  const auto now = std::ranges::find_if(scene.choices, &PipelineScene::Choice::beside);
  const bool none = now == scene.choices.end();
  if (begin_menu("##timeline_below", line, left, width, none ? tr("nothing") : now->words)) {
    if (ImGui::Selectable(fmt::format("{}##none", tr("nothing")).c_str(), none) && !none)
      commands.push_back(CompareTimeline{""});
    each_by_problem(scene, true, [&](const PipelineScene::Choice& c) {
      if (menu_item(c, c.beside)) commands.push_back(CompareTimeline{c.id});
    });
    end_list();
  }
  tooltip(tr("A second recording of this problem on the same axis, aligned at the same product"));
}

// Of a recording that holds several in detail.
void draw_block(const PipelineScene& scene, const Box& line, float left, float width, Commands& commands) {
  if (begin_menu("##timeline_block", line, left, width, fmt::format("{}", scene.block))) {
    for (const std::int64_t block : scene.blocks)
      if (ImGui::Selectable(fmt::format("{}##block", block).c_str(), block == scene.block) && block != scene.block)
        commands.push_back(ChooseTimeBlock{block});
    end_list();
  }
  tooltip(tr("The block shown, out of those recorded state by state"));
}

}  // namespace

void draw_timeline_choices(const PipelineScene& scene, const Box& line, Commands& commands) {
  const Style& s = style();
  const bool may_compare = std::ranges::any_of(scene.choices, &PipelineScene::Choice::may_be_beside);
  const Box row{line.min, {line.max.x, line.min.y + ImGui::GetFrameHeight()}};
  const char* const shown = tr("Recording");
  const char* const below = tr("Below it");
  const char* const block = tr("Block");
  const bool may_choose = scene.blocks.size() > 1;
  const float of_block = may_choose ? s.px(kMenuGap + kLabelGap + kBlockMenu) + text_width(Face::text, 12, block) : 0;
  float labels = text_width(Face::text, 12, shown) + s.px(kLabelGap) + of_block, widest = 0;
  if (may_compare) labels += s.px(kMenuGap) + text_width(Face::text, 12, below) + s.px(kLabelGap);
  for (const PipelineScene::Choice& c : scene.choices) widest = std::max(widest, text_width(Face::text, 13, c.words));
  const float room = (line.width() - labels) / (may_compare ? 2.0F : 1.0F);
  const float width = std::max(s.px(60), std::min(room, widest + s.px(kArrow)));
  float x = draw_label(row, line.min.x, shown);
  draw_shown(scene, row, x, width, commands);
  x += width + s.px(kMenuGap);
  if (may_choose) {
    x = draw_label(row, x, block);
    draw_block(scene, row, x, s.px(kBlockMenu), commands);
    x += s.px(kBlockMenu + kMenuGap);
  }
  if (!may_compare) return;
  x = draw_label(row, x, below);
  draw_below(scene, row, x, width, commands);
}

}  // namespace attn
