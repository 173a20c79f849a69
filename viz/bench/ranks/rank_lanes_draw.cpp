#include "viz/bench/ranks/rank_lanes_draw.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "viz/draw/canvas.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"

namespace attn {
namespace {

// Logical pixels.
constexpr float kName = 62, kSums = 112, kWork = 16, kCarried = 5, kLaneGap = 7, kTitle = 20, kWords = 18;
constexpr float kForecast = 14, kForecastGap = 6, kRingGap = 18, kAxis = 20, kKey = 22, kTickRoom = 72, kNarrow = 620;
constexpr float kLane = kWork + 2 * kCarried + 3;

// Where the axis lies, the same above and among the lanes.
struct LaneAxis {
  float left = 0, right = 0;  // pixels
  double us = 1;
  float x_of(double at) const { return left + (right - left) * static_cast<float>(at / us); }
  double at_of(float x) const { return us * static_cast<double>((x - left) / (right - left)); }
};

LaneAxis axis_of(const RankLanesScene& scene, float left, float width) {
  const Style& s = style();
  const bool narrow = width < s.px(kNarrow);
  return {left + s.px(kName), left + width - (narrow ? s.px(8) : s.px(kSums)), std::max(scene.us, 1e-3)};
}

// 1, 2 or 5 times a power of ten, wide enough apart for its label.
double step_of(const LaneAxis& axis, double factor) {
  const double most = std::max(1.0, static_cast<double>((axis.right - axis.left) / style().px(kTickRoom)));
  const double least = axis.us * factor / most, power = std::pow(10, std::floor(std::log10(least)));
  for (const double times : {1.0, 2.0, 5.0})
    if (times * power >= least) return times * power / factor;
  return 10 * power / factor;
}

template <class Each>
void each_tick(const LaneAxis& axis, double factor, const Each& each) {
  const double step = step_of(axis, factor);
  for (int n = 0; n * step <= axis.us; ++n) each(n * step);
}

void draw_axis(const RankLanesScene& scene, const LaneAxis& axis, float top) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  each_tick(axis, scene.unit.factor, [&](double us) {
    const std::string words = us == 0 ? "0 " + scene.unit.name : tick_text(us * scene.unit.factor);
    const float x = axis.x_of(us), half = text_width(Face::mono, 11, words) / 2;
    const float left = us == 0 ? x : std::min(x - half, axis.right - 2 * half);
    draw_text(list, {left, top + s.px(3)}, Face::mono, 11, colour(s.theme, Token::dim), words);
  });
}

void draw_work(ImDrawList* list, const Box& box, const RankSpan& span, bool home, ImU32 ink) {
  const Style& s = style();
  if (span.work == RankWork::wait) {
    const Box low{{box.min.x, box.min.y + s.px(3)}, {box.max.x, box.max.y - s.px(3)}};
    if (low.width() >= s.px(2)) draw_outline(list, low, colour(s.theme, Token::dim), 1, 1);
    return;
  }
  const ImU32 fill = faded(ink, span.turn % 2 == 0 ? 1.0F : 0.72F);
  list->AddRectFilled(box.min, {std::max(box.max.x, box.min.x + 1), box.max.y}, fill, s.px(1));
  const std::string turn = home ? std::string(tr("home")) : fmt::format("{}", span.turn);
  if (text_width(Face::mono, 11, turn) + s.px(6) < box.width())
    draw_text_in(list, box, Align::centre, Face::mono, 11, text_on(ink), turn);
}

// What a rank carries meanwhile: sent above, received below.
void draw_carried(ImDrawList* list, const Box& box, const RankSpan& span) {
  const Style& s = style();
  const ImU32 hue = colour(s.theme, span.work == RankWork::send ? TensorColour::k : TensorColour::v);
  const Box wide{box.min, {std::max(box.max.x, box.min.x + 1), box.max.y}};
  list->AddRectFilled(wide.min, wide.max, faded(hue, 0.35F));
  draw_hatch(list, wide, hue, 4);
}

void draw_lane(const RingLanes& ring, const RankLane& lane, const RankLanesScene& scene, const LaneAxis& axis,
               const Box& box) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float work = box.min.y + s.px(kWork), sent = work + s.px(kCarried + 1), received = sent + s.px(kCarried + 1);
  const ImU32 ink = kernel_colour(s.theme, ring.kernel);
  list->AddRectFilled({axis.left, box.min.y}, {axis.x_of(ring.us), work}, faded(colour(s.theme, Token::line), 0.4F));
  for (const RankSpan& span : lane.spans) {
    const float from = axis.x_of(span.begin_us), to = axis.x_of(span.end_us);
    if (span.work == RankWork::compute || span.work == RankWork::wait)
      draw_work(list, {{from, box.min.y}, {to, work}}, span, goes_home(ring, span), ink);
    else if (span.work == RankWork::send)
      draw_carried(list, {{from, work + s.px(1)}, {to, sent}}, span);
    else
      draw_carried(list, {{from, sent + s.px(1)}, {to, received}}, span);
  }
  const Box head{{box.min.x, box.min.y}, {axis.left - s.px(8), work}};
  draw_text_in(list, head, Align::left, Face::text, 12, colour(s.theme, Token::text),
               fitted_text(Face::text, 12, lane.name, head.width()));
  if (axis.right + s.px(20) < box.max.x && ring.us > 0)
    draw_text_in(list, {{axis.right + s.px(8), box.min.y}, {box.max.x, work}}, Align::right, Face::mono, 12,
                 colour(s.theme, Token::dim),
                 phrase("computes {:.0f} %", 100 * us_of(lane.spans, RankWork::compute) / ring.us));
  if (!ImGui::IsItemHovered()) return;
  draw_outline(list, {{axis.left, box.min.y}, {axis.x_of(ring.us), received}}, colour(s.theme, Token::dim), 1, 2);
  const ImVec2 pointer = ImGui::GetMousePos();
  const double us = axis.at_of(pointer.x);
  const RankSpan* span = nullptr;
  if (pointer.y >= box.min.y && pointer.y < work) {
    span = span_at(lane, RankWork::compute, us);
    if (span == nullptr) span = span_at(lane, RankWork::wait, us);
  } else if (pointer.y >= work && pointer.y < box.max.y) {
    span = span_at(lane, pointer.y < sent ? RankWork::send : RankWork::receive, us);
  }
  tooltip(span != nullptr ? span_words(ring, lane, *span, scene.unit) : lane.tip);
}

// A ring's end, and where it would be if ranks cost nothing but their share.
void draw_ends(const RingLanes& ring, const LaneAxis& axis, float top, float bottom) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float end = axis.x_of(ring.us);
  list->AddLine({end, top}, {end, bottom}, colour(s.theme, Token::text), s.px(1.5F));
  if (ring.ideal_us <= 0) return;
  const float ideal = axis.x_of(ring.ideal_us);
  list->AddLine({ideal, top}, {ideal, bottom}, colour(s.theme, Token::card), s.px(3));
  draw_dashed_line(list, {ideal, top}, {ideal, bottom}, colour(s.theme, Token::text));
}

// As long as the model says, dashed: nobody measured it.
void draw_forecast(const RingLanes& ring, const ForecastLane& lane, const LaneAxis& axis, const Box& box) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImU32 dim = colour(s.theme, Token::dim);
  draw_text_in(list, {box.min, {axis.left - s.px(8), box.max.y}}, Align::left, Face::text, 12, dim,
               fitted_text(Face::text, 12, lane.name, s.px(kName - 8)));
  const float end = std::max(axis.x_of(lane.us), axis.left + s.px(2));
  draw_dashed(list, {{axis.left, box.min.y}, {end, box.max.y}}, dim);
  // Behind its end, or inside where the room behind is too small.
  const float wide = text_width(Face::text, 12, lane.words);
  const float left = end + s.px(8) + wide < box.max.x ? end + s.px(8) : axis.left + s.px(8);
  draw_text_in(list, {{left, box.min.y}, {box.max.x, box.max.y}}, Align::left, Face::text, 12,
               colour(s.theme, Token::text), fitted_text(Face::text, 12, lane.words, box.max.x - left));
  if (!ImGui::IsItemHovered()) return;
  draw_outline(list, {{axis.left, box.min.y}, {end, box.max.y}}, dim, 1, 2);
  tooltip(lane.words + "\n" + forecast_tip(ring));
}

// Below a ring's lanes, on their axis.
float draw_forecasts(const RingLanes& ring, std::size_t n, const LaneAxis& axis, const Box& room) {
  const Style& s = style();
  float y = room.min.y;
  for (const ForecastLane& lane : ring.forecasts) {
    y += s.px(kForecastGap);
    const Box box{{room.min.x, y}, {room.max.x, y + s.px(kForecast)}};
    ImGui::SetCursorScreenPos(box.min);
    ImGui::InvisibleButton(fmt::format("forecast_{}_{}", n, lane.ranks).c_str(), {box.width(), box.height()},
                           ImGuiButtonFlags_EnableNav);
    draw_forecast(ring, lane, axis, box);
    y = box.max.y;
  }
  return y;
}

void draw_ring(const RankLanesScene& scene, std::size_t n, const LaneAxis& axis, float width) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const RingLanes& ring = scene.rings[n];
  ImVec2 at = ImGui::GetCursorScreenPos();
  const float pace = text_width(Face::mono, 12, ring.pace), title = text_width(Face::bold, 13, ring.title);
  const bool beside = title + pace + s.px(24) < width;
  draw_text(list, at, Face::bold, 13, colour(s.theme, Token::text), fitted_text(Face::bold, 13, ring.title, width));
  if (beside) draw_text(list, {at.x + title + s.px(12), at.y}, Face::mono, 12, colour(s.theme, Token::text), ring.pace);
  at.y += s.px(kTitle);
  if (!beside) {
    draw_text(list, at, Face::mono, 12, colour(s.theme, Token::text), fitted_text(Face::mono, 12, ring.pace, width));
    at.y += s.px(kWords);
  }
  draw_text(list, at, Face::text, 12, colour(s.theme, Token::dim), fitted_text(Face::text, 12, ring.words, width));
  at.y += s.px(kWords + 4);
  const float pitch = s.px(kLane + kLaneGap), top = at.y;
  const float bottom = top + pitch * static_cast<float>(ring.lanes.size()) - s.px(kLaneGap);
  each_tick(axis, scene.unit.factor, [&](double us) {
    list->AddLine({axis.x_of(us), top}, {axis.x_of(us), bottom}, colour(s.theme, Token::line), 1);
  });
  for (std::size_t r = 0; r < ring.lanes.size(); ++r) {
    const Box box{{at.x, top + pitch * static_cast<float>(r)},
                  {at.x + width, top + pitch * static_cast<float>(r) + s.px(kLane)}};
    ImGui::SetCursorScreenPos(box.min);
    ImGui::InvisibleButton(fmt::format("lane_{}_{}", n, r).c_str(), {width, box.height()}, ImGuiButtonFlags_EnableNav);
    draw_lane(ring, ring.lanes[r], scene, axis, box);
  }
  draw_ends(ring, axis, top - s.px(2), bottom);
  ImGui::SetCursorScreenPos({at.x, draw_forecasts(ring, n, axis, {{at.x, bottom}, {at.x + width, bottom}})});
  ImGui::Dummy({width, s.px(kRingGap)});
}

// A GPU's neighbour writes to its memory: only sockets are read.
bool receives(const RankLanesScene& scene) {
  return std::ranges::any_of(scene.rings, [](const RingLanes& r) { return share_of_work(r, RankWork::receive) > 0; });
}

// What the marks mean.
void draw_key(const RankLanesScene& scene) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 start = ImGui::GetCursorScreenPos();
  const float room = ImGui::GetContentRegionAvail().x;
  ImVec2 at = start;
  const auto entry = [&](const char* words, const auto& mark) {
    const float width = s.px(24) + text_width(Face::text, 12, words);
    if (at.x > start.x && at.x + width > start.x + room) at = {start.x, at.y + s.px(kKey)};
    mark(Box{{at.x, at.y + s.px(2)}, {at.x + s.px(18), at.y + s.px(12)}});
    draw_text(list, {at.x + s.px(24), at.y}, Face::text, 12, colour(s.theme, Token::dim), words);
    at.x += width + s.px(18);
  };
  entry(tr("computes the numbered turn"),
        [&](const Box& box) { list->AddRectFilled(box.min, box.max, kernel_colour(s.theme, scene.kernel), s.px(1)); });
  const bool sums = std::ranges::any_of(scene.rings, &RingLanes::sums);
  entry(sums ? tr("waits for a share or for dK and dV") : tr("waits for the next share"),
        [&](const Box& box) { draw_outline(list, box, colour(s.theme, Token::dim), 1, 1); });
  entry(sums ? tr("sends K, V, dK, dV") : tr("sends K, V"), [&](const Box& box) {
    draw_carried(list, box, {RankWork::send, 0, 0, 0});
  });
  if (receives(scene))
    entry(sums ? tr("receives K, V, dK, dV") : tr("receives K, V"), [&](const Box& box) {
      draw_carried(list, box, {RankWork::receive, 0, 0, 0});
    });
  entry(tr("one rank's time / number of ranks"), [&](const Box& box) {
    draw_dashed_line(list, {box.centre().x, box.min.y - s.px(2)}, {box.centre().x, box.max.y + s.px(2)},
                     colour(s.theme, Token::text));
  });
  if (std::ranges::any_of(scene.rings, [](const RingLanes& r) { return !r.forecasts.empty(); }))
    entry(tr("forecast"), [&](const Box& box) { draw_dashed(list, box, colour(s.theme, Token::dim)); });
  ImGui::Dummy({room, at.y - start.y + s.px(kKey)});
}

// Along another axis than ranks: the values that have rings.
void draw_values(const RankLanesScene& scene, Commands& commands) {
  if (scene.values.size() < 2) return;
  const Style& s = style();
  const float left = ImGui::GetCursorPosX(), right = ImGui::GetContentRegionMax().x;
  float x = left;
  for (const std::int64_t value : scene.values) {
    const std::string words = phrase("{} = {}", scene.axis_letter, grouped_count(value));
    const float width = text_width(Face::text, 12, words) + s.px(16);
    if (x > left && x + width > right) x = left;
    if (x > left) ImGui::SameLine(0, s.px(4));
    if (toggle(fmt::format("{}##value_{}", words, value).c_str(), value == scene.value,
               tr("Show the rings at this value")))
      commands.push_back(ChooseBenchValue{value});
    x += width + s.px(4);
  }
}

void draw_choices(const RankLanesScene& scene, Commands& commands) {
  const Style& s = style();
  const float right = ImGui::GetContentRegionMax().x, top = ImGui::GetCursorPosY();
  heading(tr("Lanes of the ranks"));
  const std::string copy = tr("Copy as CSV");
  const float wide = text_width(Face::text, 12, copy) + s.px(16);
  ImGui::SetCursorPos({right - wide, top - s.px(2)});
  if (small_button((copy + "###copy_lanes").c_str(), true, tr("All visible spans, rank by rank, in microseconds")))
    commands.push_back(CopyText{rank_lanes_csv(scene)});
  draw_values(scene, commands);
}

}  // namespace

void draw_rank_lanes(const RankLanesScene& scene, ImVec2 size, Commands& commands) {
  const Style& s = style();
  if (begin_card("ranks", size)) {
    if (!scene.empty.empty()) {
      heading(tr("Lanes of the ranks"));
      dim_text(scene.empty);
    } else {
      ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, s.px(6)));
      draw_choices(scene, commands);
      draw_key(scene);
      const ImVec2 at = ImGui::GetCursorScreenPos();
      const float width = ImGui::GetContentRegionAvail().x - s.px(14);  // the scroll bar's room
      const LaneAxis axis = axis_of(scene, at.x, width);
      draw_axis(scene, axis, at.y);
      ImGui::Dummy({width, s.px(kAxis)});
      ImGui::PushStyleColor(ImGuiCol_ChildBg, 0U);
      if (ImGui::BeginChild("lanes", {0, 0}, ImGuiChildFlags_NavFlattened))
        for (std::size_t n = 0; n < scene.rings.size(); ++n) draw_ring(scene, n, axis, width);
      fade_where_more();
      ImGui::EndChild();
      ImGui::PopStyleColor();
      ImGui::PopStyleVar();
    }
  }
  ImGui::EndChild();
}

}  // namespace attn
