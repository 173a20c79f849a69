#include "app/shell/doors.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernels/base/text.h"
#include "kernels/recording/recording.h"
#include "viz/draw/hands.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/learn/figure/wall.h"
#include "viz/learn/figure/wall_draw.h"

namespace attn {
namespace {

constexpr float kWidth = 250, kGutter = 12, kHead = 34, kLeastWidth = 1120, kLeastHeight = 520;  // logical

// The tensors of the step at hand, as they are now: the picture takes every Next.
void draw_tile_picture(ImDrawList* list, const Box& box, const Model& model, EventIndex cursor) {
  const Recording* rec = model.recording.get();
  if (rec == nullptr || rec->events.empty()) return;
  const Style& s = style();
  const EventIndex e = std::min(cursor, static_cast<EventIndex>(rec->events.size() - 1));
  const auto rows = static_cast<float>(std::clamp<std::int64_t>(rec->options.br, 1, 4)),
             keys = static_cast<float>(std::clamp<std::int64_t>(rec->options.bc, 1, 4)),
             head = static_cast<float>(std::clamp<std::int64_t>(rec->problem.D, 1, 3)),
             values = static_cast<float>(std::clamp<std::int64_t>(rec->problem.Dv, 1, 3));
  const float gap = 0.7F, across = head + keys + keys + values + 3 * gap, down = rows + head + gap;
  const float cell = std::min(box.width() / across, box.height() / down);
  const ImVec2 at{box.centre().x - cell * across / 2, box.centre().y - cell * down / 2};
  const auto tile = [&](Slot slot, float x, float y, float cols, float count, bool transposed) {
    const VersionId id = rec->after(e, slot);
    float most = 0;
    if (id != kNoVersion)
      for (const float v : rec->values(id)) most = std::isfinite(v) ? std::max(most, std::fabs(v)) : most;
    for (int r = 0; r < static_cast<int>(count); ++r) {
      for (int c = 0; c < static_cast<int>(cols); ++c) {
        const ImVec2 corner{at.x + (x + static_cast<float>(c)) * cell, at.y + (y + static_cast<float>(r)) * cell};
        const Box place{{corner.x + s.px(1), corner.y + s.px(1)},
                        {corner.x + cell - s.px(1), corner.y + cell - s.px(1)}};
        const int row = transposed ? c : r, col = transposed ? r : c;
        const bool there = id != kNoVersion && row < rec->version(id).rows && col < rec->version(id).cols;
        if (!there) {
          draw_dashed(list, place, colour_of(Token::faint), 2);
          continue;
        }
        const float value = rec->values(id)[static_cast<std::size_t>(std::int64_t{row} * rec->version(id).cols + col)];
        const float shade = most > 0 && std::isfinite(value) ? value / most : 0;
        list->AddRectFilled(place.min, place.max, cell_fill(s.theme, tensor_of(slot), shade), s.px(2));
      }
    }
  };
  const bool new_sum = rec->after(e, Slot::o_new) != kNoVersion;
  const float low = head + gap;
  tile(Slot::k, head + gap, 0, keys, head, true);
  tile(Slot::q, 0, low, head, rows, false);
  tile(Slot::s, head + gap, low, keys, rows, false);
  tile(Slot::p, head + keys + 2 * gap, low, keys, rows, false);
  tile(new_sum ? Slot::o_new : Slot::o_old, head + 2 * keys + 3 * gap, low, values, rows, false);
}

struct Curve {
  std::string kernel;
  std::vector<ImVec2> points;  // log L, log time
};

// Times by length of the newest run that has several kernels at several lengths.
std::vector<Curve> curves_of(const Model& model, std::string& device) {
  for (const ListedRun& listed : model.runs) {
    std::map<std::string, std::vector<ImVec2>> by_kernel;
    for (const Measurement& m : listed.run.rows)
      if (m.time.median > 0)
        by_kernel[m.key.kernel].emplace_back(std::log(static_cast<float>(m.key.problem.Lq)),
                                             std::log(static_cast<float>(m.time.median)));
    std::vector<Curve> curves;
    for (auto& [kernel, points] : by_kernel) {
      std::ranges::sort(points, {}, &ImVec2::x);
      // One point a length: a run of several axes is no line.
      const bool line = std::ranges::adjacent_find(points, {}, &ImVec2::x) == points.end();
      if (line && points.size() > 2) curves.push_back({kernel, points});
    }
    if (curves.size() < 2) continue;
    device = listed.run.provenance.device;
    return curves;
  }
  return {};
}

void draw_chart_picture(ImDrawList* list, const Box& box, const Model& model) {
  const Style& s = style();
  std::string device;
  const std::vector<Curve> curves = curves_of(model, device);
  if (curves.empty()) {
    draw_text_in(list, box, Align::centre, Face::text, 13, colour_of(Token::dim), tr("nothing measured here yet"));
    return;
  }
  ImVec2 least = curves.front().points.front(), most = least;
  for (const Curve& c : curves) {
    for (const ImVec2& p : c.points) {
      least = {std::min(least.x, p.x), std::min(least.y, p.y)};
      most = {std::max(most.x, p.x), std::max(most.y, p.y)};
    }
  }
  const Box in{{box.min.x + s.px(4), box.min.y + s.px(6)}, {box.max.x - s.px(6), box.max.y - s.px(20)}};
  const auto at = [&](const ImVec2& p) {
    return ImVec2{in.min.x + in.width() * (p.x - least.x) / std::max(most.x - least.x, 1e-3F),
                  in.max.y - in.height() * (p.y - least.y) / std::max(most.y - least.y, 1e-3F)};
  };
  list->AddLine({in.min.x, in.max.y}, in.max, colour_of(Token::line), std::max(1.0F, s.px(1)));
  for (const Curve& c : curves) {
    std::vector<ImVec2> line;
    line.reserve(c.points.size());
    for (const ImVec2& p : c.points) line.push_back(at(p));
    const ImU32 ink = kernel_colour(s.theme, c.kernel);
    list->AddPolyline(line.data(), static_cast<int>(line.size()), ink, 0, s.px(2));
    for (const ImVec2& p : line) list->AddCircleFilled(p, s.px(2.6F), ink);
  }
  draw_text(list, {in.min.x, in.max.y + s.px(4)}, Face::text, 12, colour_of(Token::dim),
            fitted_text(Face::text, 12, phrase("time by length, {}", device), in.width()));
}

struct Door {
  const char* id;
  std::string title, words, button;
};

// Returns whether it was opened; `picture` gets the room over its words.
bool draw_door(ImDrawList* list, const Box& box, const Door& door, bool first, Box& picture) {
  const Style& s = style();
  draw_card(list, box);
  const float x = box.min.x + s.px(14), width = box.width() - s.px(28);
  const Box button{{x, box.max.y - s.px(12 + 30)}, {box.max.x - s.px(14), box.max.y - s.px(12)}};
  const TextRuns words{{door.words, Face::text, Token::dim, 0, false}};
  const float tall = draw_paragraph(list, {}, width, 13, words, 3, false);
  const float words_top = button.min.y - s.px(8) - tall, title_top = words_top - s.px(22);
  draw_text(list, {x, title_top}, Face::bold, 16, colour_of(Token::text), door.title);
  draw_paragraph(list, {x, words_top}, width, 13, words, 3);
  picture = {{x, box.min.y + s.px(12)}, {box.max.x - s.px(14), title_top - s.px(8)}};
  ImGui::SetCursorScreenPos(button.min);
  if (!first) return box_button(button, door.id, door.button.c_str());
  return main_button((door.button + door.id).c_str(), {button.width(), button.height()}, true);
}

}  // namespace

bool doors_have_room(const State& state, float width, float height) {
  const Style& s = style();
  return state.preferences.greet && state.view.workspace == Workspace::step && width >= s.px(kLeastWidth) &&
         height >= s.px(kLeastHeight);
}

float doors_width() {
  return style().px(kWidth);
}

void draw_doors(const State& state, const Model& model, const Box& box, Commands& commands) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  draw_text_in(list, {box.min, {box.max.x, box.min.y + s.px(kHead - 6)}}, Align::left, Face::bold, 14,
               colour_of(Token::text), tr("Where to start"));
  const std::string close = tr("Close for good");
  const float wide = text_width(Face::text, 13, close) + s.px(16);
  if (box_button({{box.max.x - wide, box.min.y}, {box.max.x, box.min.y + s.px(kHead - 8)}}, "##doors_close",
                 close.c_str()))
    commands.emplace_back(CloseGreeting{});
  if (!by_touch()) tooltip(tr("To reopen this page, press Ctrl+P and choose \"Where to start\""));
  const Door doors[] = {
      {"###door_learn", tr("Learn it"), tr("The inputs and output are small. Intermediate results do not fit on chip."),
       tr("The wall, 2 minutes")},
      {"###door_step", tr("Step my numbers"),
       tr("See every number in a run, with your own arrays or the example on the left."), tr("Choose .npy files")},
      {"###door_measure", tr("Measure"), tr("Race the kernels on this machine. Saved runs are included."),
       tr("Open Bench")}};
  const float pitch = (box.height() - s.px(kHead) + s.px(kGutter)) / 3;
  for (int n = 0; n < 3; ++n) {
    const float top = box.min.y + s.px(kHead) + pitch * static_cast<float>(n);
    Box picture;
    const Box place{{box.min.x, top}, {box.max.x, top + pitch - s.px(kGutter)}};
    const bool opened = draw_door(list, place, doors[n], n == 0, picture);
    const bool room = picture.height() >= s.px(36);
    if (n == 0) {
      static constexpr std::int64_t kTokens = 65536, kHeadDim = 128;
      if (room)
        draw_wall_areas(list, picture, wall_of({"NVIDIA H100 80GB HBM3", "sm_90a", 132, 0, 0, 0}, kTokens, kHeadDim),
                        false);
      if (opened) commands.emplace_back(StartLesson{"wall", ""});
    } else if (n == 1) {
      if (room) draw_tile_picture(list, picture, model, state.view.step.cursor);
      if (opened) commands.emplace_back(Ask{Popup::input_files});
    } else {
      if (room) draw_chart_picture(list, picture, model);
      if (opened) commands.emplace_back(ChooseWorkspace{Workspace::bench});
    }
  }
}

}  // namespace attn
