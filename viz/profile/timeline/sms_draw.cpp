#include "viz/profile/timeline/sms_draw.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"

namespace attn {
namespace {

// Logical pixels.
constexpr float kLeast = 150, kBetween = 26, kAxis = 18, kLabel = 148, kLabelNarrow = 104, kNarrow = 640, kSm = 44,
                kSample = 22, kKeyLine = 20, kBetweenKeys = 16;
constexpr double kUs = 1e-3;

// Name, time and tail of a launch left of its bands.
void draw_label(ImDrawList* list, const BandPlot& plot, float left, const std::string& name) {
  const Style& s = style();
  const float width = plot.box.min.x - s.px(kSm) - left;
  float y = plot.box.min.y;
  const auto line = [&](Face face, float size, Token token, const std::string& words) {
    draw_text(list, {left, y}, face, size, colour(s.theme, token), fitted_text(face, size, words, width));
    y += line_height(size) + s.px(2);
  };
  if (!name.empty()) line(Face::bold, 13, Token::text, name);
  line(Face::mono, 13, Token::text, fmt::format("{:.1f} µs", plot.scene.launch_ns * kUs));
  line(Face::text, 12, Token::dim, phrase("{:.1f} % tail", 100 * idle_at_end(plot.scene)));
  line(Face::text, 12, Token::dim, phrase("{:.1f} % gaps", 100 * idle_before_end(plot.scene)));
}

void draw_axis(ImDrawList* list, const BandPlot& plot, float top) {
  const Style& s = style();
  double step = std::pow(10, std::floor(std::log10(std::max(plot.axis_ns, 1.0) / 5)));
  for (const double more : {2.0, 2.5, 2.0})
    if (plot.axis_ns / step > 10) step *= more;
  const std::string last = fmt::format("{:.1f} µs", plot.axis_ns * kUs);
  const float free = plot.box.max.x - text_width(Face::mono, 11, last) - s.px(10);
  for (double at = 0; at < plot.axis_ns; at += step) {
    const std::string words = fmt::format("{:.0f}", at * kUs);
    const float half = text_width(Face::mono, 11, words) / 2, x = std::max(plot.x_of(at), plot.box.min.x + half);
    if (x + half > free) break;
    draw_text_in(list, {{x - half, top}, {x + half + 1, top + s.px(kAxis)}}, Align::left, Face::mono, 11,
                 colour(s.theme, Token::dim), words);
  }
  draw_text_in(list, {{plot.box.min.x, top}, {plot.box.max.x, top + s.px(kAxis)}}, Align::right, Face::mono, 11,
               colour(s.theme, Token::dim), last);
}

// From where the sooner launch ends to where the other does, between their bands.
void draw_difference(ImDrawList* list, const BandPlot& above, const BandPlot& below) {
  const Style& s = style();
  const double first = above.scene.launch_ns, second = below.scene.launch_ns;
  const float from = above.x_of(std::min(first, second)), to = above.x_of(std::max(first, second));
  const float y = (above.box.max.y + below.box.min.y) / 2;
  const ImU32 ink = colour(s.theme, Token::text);
  for (const BandPlot* plot : {&above, &below}) {
    const float x = plot->x_of(plot->scene.launch_ns);
    list->AddLine({x, plot->box.min.y}, {x, plot->box.max.y}, ink, s.px(1.5F));
  }
  const EndsTold told = ends_told(above.scene, below.scene);
  const Face face = told.agrees ? Face::bold : Face::text;
  const float width = text_width(face, 12, told.words);
  if (to - from >= s.px(2)) {
    list->AddLine({from, y}, {to, y}, ink, s.px(1.5F));
    for (const float x : {from, to}) list->AddLine({x, y - s.px(4)}, {x, y + s.px(4)}, ink, s.px(1.5F));
  }
  const float half = line_height(12) / 2;
  draw_text_in(list, {{from - s.px(8) - width, y - half}, {from - s.px(8), y + half}}, Align::left, face, 12, ink,
               told.words);
}

// What a line's colours mean.
struct BandKey {
  enum class Of : std::uint8_t { tiles, shown, hatched };
  Of of = Of::tiles;
  std::string words;
};
std::vector<BandKey> sms_key(const PipelineScene& scene) {
  std::vector<BandKey> key{{BandKey::Of::tiles, tr("query tiles: the stronger, the longer one takes")}};
  if (std::ranges::any_of(scene.bands, &BlockBand::shown))
    key.push_back({BandKey::Of::shown, scene.beside == nullptr ? phrase("block {}, shown in the lanes", scene.block)
                                                               : phrase("block shown in the lanes: {} above, {} below",
                                                                        scene.block, scene.beside->block)});
  key.push_back({BandKey::Of::hatched, tr("no block left")});
  return key;
}

template <class Place>
float flow_key(const std::vector<BandKey>& key, float width, Place place) {
  const Style& s = style();
  ImVec2 at(0, 0);
  for (std::size_t n = 0; n < key.size(); ++n) {
    const float own = s.px(kSample + 6) + text_width(Face::text, 12, key[n].words);
    if (at.x > 0 && at.x + own > width) at = {0, at.y + s.px(kKeyLine)};
    place(n, at);
    at.x += own + s.px(kBetweenKeys);
  }
  return at.y + s.px(kKeyLine);
}

}  // namespace

std::string sms_words() {
  return tr("One line per SM, sorted by end time.");
}

float sms_key_height(const PipelineScene& scene, float width) {
  return flow_key(sms_key(scene), width, [](std::size_t, ImVec2) {});
}

void draw_sms_key(ImDrawList* list, const PipelineScene& scene, ImVec2 at, float width) {
  const Style& s = style();
  const ImU32 hue = kernel_colour(s.theme, scene.timeline->kernel);
  flow_key(sms_key(scene), width, [&](std::size_t n, ImVec2 place) {
    const ImVec2 top{at.x + place.x, at.y + place.y};
    const Box box{{top.x, top.y + s.px(5)}, {top.x + s.px(kSample), top.y + s.px(15)}};
    const BandKey key = sms_key(scene)[n];
    if (key.of == BandKey::Of::hatched)
      draw_hatch(list, box, colour(s.theme, Token::dim), 5);
    else if (key.of == BandKey::Of::shown)
      list->AddRectFilled(box.min, box.max, faded(hue, kShownBand));
    else
      list->AddRectFilledMultiColor(box.min, box.max, faded(hue, kWeakestBand), faded(hue, kStrongestBand),
                                    faded(hue, kStrongestBand), faded(hue, kWeakestBand));
    draw_text_in(list, {{box.max.x + s.px(6), top.y}, {box.max.x + s.px(6), top.y + s.px(kKeyLine)}}, Align::left,
                 Face::text, 12, colour(s.theme, Token::dim), key.words);
  });
}

void point_at_bands(const char* id, const BandPlot& plot, Commands* choose) {
  ImGui::SetCursorScreenPos(plot.box.min);
  ImGui::InvisibleButton(id, {plot.box.width(), std::max(1.0F, plot.box.height())});
  if (!ImGui::IsItemHovered()) return;
  const BlockBand* band = band_at(plot, ImGui::GetIO().MousePos);
  if (band == nullptr) return;
  const bool may = choose != nullptr && band->detailed && (plot.scene.sms_shown || !band->shown);
  if (may && ImGui::IsMouseClicked(0)) choose->push_back(ChooseTimeBlock{band->block});
  // Its second line asks for a click, or says why there is nothing to click.
  const bool all = may || (choose != nullptr && !band->detailed);
  show_tooltip(all ? band->tip : band->tip.substr(0, band->tip.find('\n')));
}

float sms_height(const PipelineScene& scene) {
  const Style& s = style();
  const float both = scene.beside == nullptr ? s.px(kLeast) : 2 * s.px(kLeast) + s.px(kBetween);
  return both + s.px(kAxis);
}

float sms_height_in(const PipelineScene& scene, float room) {
  const Style& s = style();
  const auto lines = [](const PipelineScene& of, float height) {
    return even_lines({{0, 0}, {1, height}}, of.band_rows).height();
  };
  const float bands = room - s.px(kAxis);
  if (scene.beside == nullptr) return lines(scene, bands) + s.px(kAxis);
  const float each = (bands - s.px(kBetween)) / 2;
  return lines(scene, each) + s.px(kBetween) + lines(*scene.beside, each) + s.px(kAxis);
}

void draw_all_sms(ImDrawList* list, const PipelineScene& scene, const Box& room, Commands& commands) {
  const Style& s = style();
  const float label = s.px(room.width() < s.px(kNarrow) ? kLabelNarrow : kLabel);
  const Box all{{room.min.x + label, room.min.y}, {room.max.x, room.max.y - s.px(kAxis)}};
  if (scene.beside == nullptr) {
    const BandPlot plot{scene, even_lines(all, scene.band_rows), scene.launch_ns};
    draw_label(list, plot, room.min.x, "");
    draw_sms(list, plot, plot.box.min.x - s.px(kSm));
    draw_bands(list, plot, true);
    draw_axis(list, plot, plot.box.max.y);
    return point_at_bands("timeline_sms", plot, &commands);
  }
  const double axis = std::max(scene.launch_ns, scene.beside->launch_ns);
  const float each = (all.height() - s.px(kBetween)) / 2;
  const Box upper = even_lines({all.min, {all.max.x, all.min.y + each}}, scene.band_rows);
  const float next = upper.max.y + s.px(kBetween);
  const Box lower = even_lines({{all.min.x, next}, {all.max.x, next + each}}, scene.beside->band_rows);
  const BandPlot above{scene, upper, axis}, below{*scene.beside, lower, axis};
  for (const BandPlot* plot : {&above, &below}) {
    draw_label(list, *plot, room.min.x, plot == &above ? tr("Above") : tr("Below"));
    draw_sms(list, *plot, plot->box.min.x - s.px(kSm));
    draw_bands(list, *plot, true);
  }
  draw_difference(list, above, below);
  draw_axis(list, below, below.box.max.y);
  point_at_bands("timeline_sms", above, &commands);
  point_at_bands("timeline_sms_below", below, nullptr);
}

}  // namespace attn
