#include "viz/step/charts/charts_draw.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/text.h"
#include "viz/draw/number_text.h"
#include "viz/draw/theme.h"

namespace attn {
namespace {

struct Frame {
  ImDrawList* list;
  const HindsightScene& scene;
  Box plot;               // of the log axis
  float zero = 0;         // y of the line for exactly 0, below a break
  std::int32_t keys = 0;  // of the whole row
  // Left and right edge of the tiles' columns, in their order, each as wide as it has keys.
  std::vector<std::pair<float, float>> columns() const {
    std::vector<std::pair<float, float>> out;
    std::int32_t before = 0;
    const auto x_of = [&](std::int32_t key) {
      return plot.min.x + plot.width() * static_cast<float>(key) / static_cast<float>(std::max(keys, 1));
    };
    for (const HindsightTile& tile : scene.tiles) {
      out.emplace_back(x_of(before), x_of(before + tile.keys));
      before += tile.keys;
    }
    return out;
  }
  float y_of(double difference) const {
    const auto low = static_cast<float>(scene.min_decade), high = static_cast<float>(scene.max_decade);
    const float share = (static_cast<float>(std::log10(difference)) - low) / std::max(high - low, 1.0F);
    return plot.max.y - plot.height() * std::clamp(share, 0.0F, 1.0F);
  }
};

std::string power_text(int decade) {
  static const char* const kSmall[] = {"0.001", "0.01", "0.1", "1", "10", "100"};
  return decade >= -3 && decade <= 2 ? kSmall[decade + 3] : "1e" + number_text(decade, {0, false});
}

void draw_axis(const Frame& f, float left) {
  const Style& s = style();
  const int decades = f.scene.max_decade - f.scene.min_decade;
  const int every = std::max(1, static_cast<int>(std::ceil(static_cast<float>(decades) * s.px(18) / f.plot.height())));
  const auto label = [&](float y, const std::string& text) {
    draw_text_in(f.list, {{left, y - s.px(8)}, {f.plot.min.x - s.px(8), y + s.px(8)}}, Align::right, Face::mono, 11,
                 colour_of(Token::dim), text);
  };
  for (int d = f.scene.max_decade; f.scene.any_value && d >= f.scene.min_decade; d -= every) {
    const float y = f.y_of(std::pow(10.0, d));
    f.list->AddLine({f.plot.min.x, y}, {f.plot.max.x, y}, faded(colour_of(Token::line), 0.8F), std::max(1.0F, s.px(1)));
    label(y, power_text(d));
  }
  f.list->AddLine({f.plot.min.x, f.zero}, {f.plot.max.x, f.zero}, colour_of(Token::faint), std::max(1.0F, s.px(1)));
  label(f.zero, "0");
}

// On a patch of its column's ground: the axis's lines do not run through it.
void draw_value(const Frame& f, const HindsightTile& tile, ImVec2 at, Face face) {
  const Style& s = style();
  const Box patch{{at.x - s.px(2), at.y}, {at.x + text_width(face, 12, tile.text) + s.px(2), at.y + s.px(16)}};
  f.list->AddRectFilled(patch.min, patch.max, colour_of(tile.live ? Token::band : Token::card));
  draw_text(f.list, at, face, 12, colour_of(Token::text), tile.text);
}

void draw_points(const Frame& f) {
  const Style& s = style();
  const ImU32 hue = colour_of(TensorColour::o);
  const auto columns = f.columns();
  for (std::size_t n = 0; n < columns.size(); ++n) {
    const HindsightTile& tile = f.scene.tiles[n];
    const auto [a, b] = columns[n];
    const float x = (a + b) / 2;
    const Box column{{a, f.plot.min.y}, {b, f.zero + s.px(4)}};
    if (tile.look == HindsightLook::skipped) {
      draw_hatch(f.list, column, faded(colour_of(Token::faint), 0.35F), 7);
      continue;
    }
    if (tile.look != HindsightLook::value) {
      if (text_width(Face::text, 12, tile.text) < column.width())
        draw_text_in(f.list, column, Align::centre, Face::text, 12, colour_of(Token::dim), tile.text);
      continue;
    }
    const float y = tile.difference > 0 ? f.y_of(tile.difference) : f.zero;
    const float radius = std::clamp((b - a) * 0.25F, s.px(1.5F), s.px(4.5F));
    const float stem = std::clamp((b - a) * 0.3F, 1.0F, s.px(2));
    f.list->AddLine({x, f.zero}, {x, y}, faded(hue, tile.to_come ? 0.35F : 0.9F), stem);
    if (tile.to_come) {
      f.list->AddCircleFilled({x, y}, radius, colour_of(Token::card));
      f.list->AddCircle({x, y}, radius, hue, 0, std::max(1.0F, s.px(1.5F)));
    } else {
      f.list->AddCircleFilled({x, y}, radius, hue);
    }
    const Face face = tile.difference > 0 ? Face::mono : Face::text;
    const float width = text_width(face, 12, tile.text);
    if (width + s.px(6) > b - a) continue;
    // Beside the point, so that its stem does not run through the digits; above it where there is no room.
    if (x + radius + s.px(6) + width < b) {
      draw_value(f, tile,
                 {x + radius + s.px(6), std::max(y - s.px(tile.difference > 0 ? 8 : 18), f.plot.min.y - s.px(14))},
                 face);
      continue;
    }
    const float above = y - s.px(22) < f.plot.min.y - s.px(14) ? y + s.px(7) : y - s.px(22);
    draw_value(f, tile, {x - width / 2, above}, face);
  }
}

void draw_tile_labels(const Frame& f, float y) {
  const Style& s = style();
  float last = -1e9F;
  const auto columns = f.columns();
  for (std::size_t n = 0; n < columns.size(); ++n) {
    const HindsightTile& tile = f.scene.tiles[n];
    const auto [a, b] = columns[n];
    std::string text = phrase("key tile {}", tile.key_tile);
    if (text_width(Face::text, 12, text) > b - a - s.px(4)) text = text.substr(9);
    const float width = text_width(Face::text, 12, text), x = (a + b - width) / 2;
    if (x < last + s.px(6)) continue;
    last = x + width;
    draw_text(f.list, {x, y}, Face::text, 12, colour_of(tile.live ? Token::text : Token::dim), text);
  }
}

void draw_legend(ImDrawList* list, const Box& box, const HindsightScene& scene) {
  const Style& s = style();
  float y = box.min.y + draw_paragraph(list, box.min, box.width(), 13, scene.words, 7) + s.px(8);
  const ImU32 hue = colour_of(TensorColour::o);
  const auto line = [&](bool hollow, const char* words) {
    if (y + s.px(16) > box.max.y) return;
    const ImVec2 c{box.min.x + s.px(5), y + s.px(8)};
    if (hollow)
      list->AddCircle(c, s.px(4), hue, 0, std::max(1.0F, s.px(1.5F)));
    else
      list->AddCircleFilled(c, s.px(4), hue);
    draw_text(list, {box.min.x + s.px(16), y}, Face::text, 13, colour_of(Token::dim), words);
    y += s.px(20);
  };
  line(false, tr("done so far"));
  line(true, scene.right_to_left ? tr("to come (keys from the right)") : tr("to come"));
}

}  // namespace

void draw_hindsight(ImDrawList* list, const Box& in, const HindsightScene& scene) {
  const Style& s = style();
  if (!scene.nothing.empty()) {
    draw_text_in(list, in, Align::centre, Face::text, 13, colour_of(Token::dim), scene.nothing);
    return;
  }
  const float legend = in.width() > s.px(430) ? s.px(186) : 0;
  const float left = in.min.x + s.px(46), right = in.max.x - (legend > 0 ? legend + s.px(18) : 0);
  const float bottom = in.max.y - s.px(20);
  if (bottom - in.min.y < s.px(48)) return;
  std::int32_t keys = 0;
  for (const HindsightTile& tile : scene.tiles) keys += tile.keys;
  const Frame frame{list, scene, {{left, in.min.y + s.px(18)}, {right, bottom - s.px(20)}}, bottom - s.px(2), keys};
  const auto columns = frame.columns();
  for (std::size_t n = 0; n < columns.size(); ++n) {
    if (!scene.tiles[n].live) continue;
    list->AddRectFilled({columns[n].first, in.min.y}, {columns[n].second, frame.zero + s.px(4)},
                        colour_of(Token::band));
  }
  draw_axis(frame, in.min.x);
  draw_points(frame);
  draw_tile_labels(frame, in.max.y - s.px(14));
  if (legend > 0) draw_legend(list, {{in.max.x - legend, in.min.y}, {in.max.x, in.max.y}}, scene);
}

}  // namespace attn
