#include "viz/step/charts/hindsight.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "viz/draw/number_text.h"

namespace attn {
namespace {

Run word(std::string text, Ink ink = Token::dim) {
  return {std::move(text), Face::text, ink, 0, false};
}
Run letter(std::string text, Ink ink) {
  return {std::move(text), Face::maths, ink, 0, false};
}

// The followed row of a version; empty where it does not cover it.
std::span<const float> row_of(const Recording& rec, VersionId id, std::int32_t row) {
  if (id == kNoVersion) return {};
  const Version& v = rec.version(id);
  const std::int32_t r = row - v.first_row;
  if (r < 0 || r >= v.rows) return {};
  return rec.values(id).subspan(static_cast<std::size_t>(r) * static_cast<std::size_t>(v.cols),
                                static_cast<std::size_t>(v.cols));
}

struct Builder {
  const Recording& rec;
  const StepPlace& at;
  std::int32_t i = 0;
  EventIndex last = 0;

  VersionId version(Slot slot, std::int32_t j) const { return rec.tile_version(slot, at.b, at.h, i, j, last); }
  // O of the row before it is rounded to the dtype.
  std::span<const float> final_output() const {
    if (const auto e = rec.find({at.b, at.h, i, -1, Phase::normalise}))
      return row_of(rec, rec.after(*e, Slot::o_new), at.row);
    std::optional<EventIndex> newest;
    for (std::int32_t j = 0; j < rec.key_tiles(); ++j) {
      const auto e = rec.find({at.b, at.h, i, j, Phase::output});
      if (e && (!newest || *e > *newest)) newest = e;
    }
    return newest ? row_of(rec, rec.after(*newest, Slot::o_new), at.row) : std::span<const float>();
  }
  void compare(HindsightTile& tile, std::int32_t j, std::span<const float> final_row) const {
    const VersionId id = version(Slot::o_new, j);
    const auto now = row_of(rec, id, at.row);
    if (now.size() != final_row.size() || now.empty()) {
      tile.look = HindsightLook::skipped;
      return;
    }
    const bool normalised = rec.version(id).holds.normalised;
    const auto l = row_of(rec, version(Slot::l_new, j), at.row);
    const bool no_sum = !normalised && (l.empty() || l[0] == 0);
    tile.event = rec.version(id).made_by;
    tile.live = j == at.j;
    tile.to_come = tile.event > at.event;
    if (no_sum) {
      tile.look = HindsightLook::no_key;
      return;
    }
    for (std::size_t c = 0; c < now.size(); ++c) {
      // In fp32, as the kernel divides: after the last key the difference is exactly 0.
      const float quotient = normalised ? now[c] : now[c] / l[0];
      const double difference = std::abs(static_cast<double>(quotient) - static_cast<double>(final_row[c]));
      if (!std::isfinite(difference)) {
        tile.look = HindsightLook::not_finite;
        tile.col = static_cast<std::int32_t>(c);
        return;
      }
      if (difference > tile.difference) {
        tile.difference = difference;
        tile.col = static_cast<std::int32_t>(c);
      }
    }
  }
  Runs words() const {
    using enum TensorColour;
    if (stores_scores(rec.order))
      return {word("Only hindsight knows: how far the sum over the keys so far is from the final "), letter("O", o),
              word(". Weights are final here, so a gap is what later keys still add.")};
    if (rec.order == Order::flash1)
      return {word("Only hindsight knows: how far "),
              letter("O", o),
              word(", divided by "),
              letter("ℓ", l),
              word(" at every turn, is from the final "),
              letter("O", o),
              word(".")};
    return {word("Only hindsight knows: how far "),
            letter("O", o),
            word(" / "),
            letter("ℓ", l),
            word(" is from the final "),
            letter("O", o),
            word(" in its worst column, had the row ended at this key tile. Log scale.")};
  }
};

int decade_of(double x) {
  return static_cast<int>(std::floor(std::log10(x)));
}

// --- drawing

struct Frame {
  ImDrawList* list;
  const HindsightScene& scene;
  Box plot;        // of the log axis
  float zero = 0;  // y of the line for exactly 0, below a break
  float x_of(std::int32_t key, std::int32_t keys) const {
    return plot.min.x + plot.width() * static_cast<float>(key) / static_cast<float>(std::max(keys, 1));
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

void draw_points(const Frame& f, std::int32_t keys) {
  const Style& s = style();
  const ImU32 hue = colour_of(TensorColour::o);
  for (const HindsightTile& tile : f.scene.tiles) {
    const float a = f.x_of(tile.first_key, keys), b = f.x_of(tile.first_key + tile.keys, keys), x = (a + b) / 2;
    const Box column{{a, f.plot.min.y}, {b, f.zero + s.px(4)}};
    const auto say = [&](const char* words) {
      if (text_width(Face::text, 12, words) < column.width())
        draw_text_in(f.list, column, Align::centre, Face::text, 12, colour_of(Token::dim), words);
    };
    if (tile.look == HindsightLook::skipped) {
      draw_hatch(f.list, column, faded(colour_of(Token::faint), 0.35F), 7);
      continue;
    }
    if (tile.look == HindsightLook::no_key) {
      say("no key yet");
      continue;
    }
    if (tile.look == HindsightLook::not_finite) {
      say("not a number");
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
    const std::string text = tile.difference > 0 ? significant_text(tile.difference, 3) : "exactly 0";
    const Face face = tile.difference > 0 ? Face::mono : Face::text;
    const float width = text_width(face, 12, text);
    if (width + s.px(6) > b - a) continue;
    // Beside the point, so that its stem does not run through the digits; above it where there is no room.
    if (x + radius + s.px(6) + width < b) {
      draw_text(f.list, {x + radius + s.px(6), std::max(y - s.px(8), f.plot.min.y - s.px(14))}, face, 12,
                colour_of(Token::text), text);
      continue;
    }
    const float above = y - s.px(22) < f.plot.min.y - s.px(14) ? y + s.px(7) : y - s.px(22);
    draw_text(f.list, {x - width / 2, above}, face, 12, colour_of(Token::text), text);
  }
}

void draw_tile_labels(const Frame& f, std::int32_t keys, float y) {
  const Style& s = style();
  float last = -1e9F;
  const std::int32_t bc = f.scene.tiles.empty() ? 1 : std::max(f.scene.tiles[0].keys, 1);
  for (const HindsightTile& tile : f.scene.tiles) {
    const float a = f.x_of(tile.first_key, keys), b = f.x_of(tile.first_key + tile.keys, keys);
    std::string text = fmt::format("key tile {}", tile.first_key / bc);
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
  line(false, "done so far");
  line(true, scene.right_to_left ? "to come (right to left)" : "to come");
}

}  // namespace

HindsightScene hindsight_scene(const Recording& rec, const StepPlace& at) {
  HindsightScene scene;
  scene.row = at.row;
  scene.right_to_left = rec.options.key_order == KeyOrder::right_to_left;
  const Builder b{rec, at, at.row / std::max(at.br, 1), static_cast<EventIndex>(rec.events.size() - 1)};
  scene.words = b.words();
  const auto final_row = b.final_output();
  double min = std::numeric_limits<double>::max(), max = 0;
  for (std::int32_t j = 0; j < rec.key_tiles(); ++j) {
    HindsightTile tile;
    tile.first_key = j * at.bc;
    tile.keys = static_cast<std::int32_t>(std::min<std::int64_t>(at.bc, rec.problem.Lk - tile.first_key));
    b.compare(tile, j, final_row);
    if (tile.look == HindsightLook::value && tile.difference > 0) {
      min = std::min(min, tile.difference);
      max = std::max(max, tile.difference);
    }
    scene.tiles.push_back(tile);
  }
  scene.any_value = max > 0;
  if (scene.any_value) {
    scene.min_decade = decade_of(min);
    scene.max_decade = std::max(decade_of(max) + 1, scene.min_decade + 1);
  }
  const bool seen = std::any_of(scene.tiles.begin(), scene.tiles.end(), [](const HindsightTile& t) {
    return t.look == HindsightLook::value || t.look == HindsightLook::not_finite;
  });
  if (!seen)
    scene.nothing = fmt::format(
        "The mask leaves row {} no key: its O is 0 by definition, and there is nothing to compare.", at.row);
  return scene;
}

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
  const Frame frame{list, scene, {{left, in.min.y + s.px(18)}, {right, bottom - s.px(20)}}, bottom - s.px(2)};
  for (const HindsightTile& tile : scene.tiles) {
    if (!tile.live) continue;
    list->AddRectFilled({frame.x_of(tile.first_key, keys), in.min.y},
                        {frame.x_of(tile.first_key + tile.keys, keys), frame.zero + s.px(4)}, colour_of(Token::band));
  }
  draw_axis(frame, in.min.x);
  draw_points(frame, keys);
  draw_tile_labels(frame, keys, in.max.y - s.px(14));
  if (legend > 0) draw_legend(list, {{in.max.x - legend, in.min.y}, {in.max.x, in.max.y}}, scene);
}

}  // namespace attn
