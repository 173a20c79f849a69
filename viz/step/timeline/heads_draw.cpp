#include "viz/step/timeline/heads_draw.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"

namespace attn {
namespace {

constexpr float kTitle = 15, kNumbers = 12, kGroup = 14, kMax = 46;

struct Layout {
  float side = 0, gap = 0, left = 0, top = 0;
  std::int32_t share = 1;  // query heads of one key/value head
  Box box(std::int32_t b, std::int32_t h) const {
    const std::int32_t group = h / share;
    const float x = left + side * static_cast<float>(h) + gap * static_cast<float>(group);
    const float y = top + side * static_cast<float>(b);
    return {{x, y}, {x + side, y + side}};
  }
};

Layout layout_of(const Box& box, const HeadsScene& scene) {
  const Style& s = style();
  Layout at;
  at.share = std::max(scene.heads / std::max(scene.groups, 1), 1);
  at.gap = scene.groups > 1 ? s.px(8) : 0;
  at.left = box.min.x + (scene.batches > 1 ? s.px(14) : 0);
  at.top = box.min.y + s.px(kTitle + kNumbers);
  const float width = box.max.x - at.left - at.gap * static_cast<float>(scene.groups - 1);
  const float height = box.max.y - at.top - s.px(kGroup);
  at.side = std::min({height / static_cast<float>(scene.batches), width / static_cast<float>(scene.heads), s.px(kMax)});
  at.side = std::floor(at.side);
  return at;
}

void draw_picture(ImDrawList* list, const Box& cell, const HeadsScene& scene, const HeadPicture& picture) {
  const Style& s = style();
  list->AddRectFilled(cell.min, cell.max, colour_of(Token::field));
  const float w = cell.width() / static_cast<float>(scene.cols), h = cell.height() / static_cast<float>(scene.rows);
  for (std::int32_t y = 0; y < scene.rows; ++y) {
    for (std::int32_t x = 0; x < scene.cols; ++x) {
      const float shade =
          picture
              .shades[static_cast<std::size_t>(y) * static_cast<std::size_t>(scene.cols) + static_cast<std::size_t>(x)];
      if (std::isnan(shade)) continue;
      const ImVec2 a{cell.min.x + w * static_cast<float>(x), cell.min.y + h * static_cast<float>(y)};
      list->AddRectFilled(a, {a.x + w, a.y + h}, cell_fill(s.theme, TensorColour::s, shade));
    }
  }
}

// Under the heads of each group: the key/value head that they share.
void draw_groups(ImDrawList* list, const HeadsScene& scene, const Layout& at) {
  const Style& s = style();
  if (scene.groups >= scene.heads && scene.heads > 1) return;  // every head has its own
  const float y = at.top + at.side * static_cast<float>(scene.batches) + s.px(3);
  for (std::int32_t g = 0; g < scene.groups; ++g) {
    const float a = at.box(0, g * at.share).min.x + s.px(1), b = at.box(0, (g + 1) * at.share - 1).max.x - s.px(1);
    list->AddRectFilled({a, y}, {(a + b) / 2, y + s.px(2)}, colour_of(TensorColour::k));
    list->AddRectFilled({(a + b) / 2, y}, {b, y + s.px(2)}, colour_of(TensorColour::v));
    const TextRuns name{{"K", Face::maths, TensorColour::k, 0, false},
                        {"V", Face::maths, TensorColour::v, 0, false},
                        {fmt::format(" {}", g), Face::mono, Token::dim, 0, false}};
    if (runs_width(name, 11) <= b - a)
      draw_runs_in(list, {{a, y + s.px(2)}, {b, y + s.px(15)}}, Align::centre, 11, name);
  }
}

}  // namespace

float heads_width(const HeadsScene& scene) {
  const float side = std::min(kMax, 47 / static_cast<float>(std::max(scene.batches, 1)));
  const float wanted = static_cast<float>(scene.heads) * side + 8 * static_cast<float>(scene.groups - 1) + 14;
  return style().px(std::clamp(wanted, 76.0F, 230.0F));
}

void draw_head_picker(const Box& box, const HeadsScene& scene, const Recording& rec, const StepPlace& at,
                      const Selection& selection, Commands& commands) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  draw_runs(list, {box.min.x, box.min.y - s.px(2)}, 12,
            {{scene.batches > 1 ? tr("batch, head: ") : tr("head: "), Face::text, Token::dim, 0, false},
             {"S", Face::maths, TensorColour::s, 0, false}});
  const Layout layout = layout_of(box, scene);
  const auto label = [&](const Box& where, std::int32_t n, bool live) {
    if (layout.side < s.px(9)) return;
    draw_text_in(list, where, Align::centre, Face::mono, 11, colour_of(live ? Token::text : Token::dim),
                 std::to_string(n));
  };
  for (std::int32_t h = 0; h < scene.heads; ++h) {
    const Box first = layout.box(0, h);
    label({{first.min.x, first.min.y - s.px(kNumbers + 1)}, {first.max.x, first.min.y - s.px(1)}}, h, h == at.h);
  }
  for (std::int32_t b = 0; b < scene.batches && scene.batches > 1; ++b) {
    const Box first = layout.box(b, 0);
    label({{box.min.x, first.min.y}, {first.min.x - s.px(3), first.max.y}}, b, b == at.b);
  }
  for (const HeadPicture& picture : scene.pictures) {
    const Box outer = layout.box(picture.b, picture.h);
    const float gap = outer.width() > s.px(8) ? s.px(1.5F) : 0.5F;
    const Box cell = outer.grown(-gap);
    draw_picture(list, cell, scene, picture);
    if (picture.b == at.b && picture.h == at.h) draw_outline(list, cell.grown(s.px(1)), colour_of(Token::text), 2, 2);
    ImGui::SetCursorScreenPos(cell.min);
    ImGui::PushID(picture.b * scene.heads + picture.h);
    if (ImGui::InvisibleButton("##step_head", {std::max(cell.width(), 1.0F), std::max(cell.height(), 1.0F)})) {
      Selection moved = selection;
      moved.b = picture.b;
      moved.h = picture.h;
      commands.emplace_back(Select{moved});
      commands.emplace_back(GoToEvent{event_of_head(rec, at, picture.b, picture.h)});
    }
    tooltip(phrase("batch {}, query head {}, KV head {}: S over the whole run", picture.b, picture.h, picture.kv));
    ImGui::PopID();
  }
  draw_groups(list, scene, layout);
}

}  // namespace attn
