#include "viz/step/timeline/pipeline_note_draw.h"

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/base/text.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"

namespace attn {
namespace {

constexpr float kSize = 12, kBehindTag = 8;  // logical
constexpr int kMostLines = 8;

float tag_width() {
  return text_width(Face::bold, kSize, tr("derived")) + style().px(10 + kBehindTag);
}

TextRuns runs_of(const NoteForm& form) {
  TextRuns runs;
  if (!form.told.empty()) runs.push_back(word(form.told, Token::text));
  if (!form.source.empty()) runs.push_back(word((runs.empty() ? "" : " ") + form.source));
  return runs;
}

}  // namespace

float draw_derived(ImDrawList* list, ImVec2 at, float size) {
  const Style& s = style();
  const std::string words = tr("derived");
  const Box tag{at, {at.x + text_width(Face::bold, size, words) + s.px(10), at.y + line_height(size)}};
  draw_dashed(list, tag, colour_of(Token::text));
  draw_text_in(list, tag, Align::centre, Face::bold, size, colour_of(Token::text), words);
  return tag.max.x;
}

float draw_note(ImDrawList* list, ImVec2 at, float width, const PipelineNote& note, bool draw) {
  const float top = at.y, tag = note.derived.empty() ? 0 : tag_width();
  if (draw && tag > 0) draw_derived(list, {at.x, at.y - style().px(1)}, kSize);
  if (const std::string told = told_words(note); !told.empty())
    at.y += draw_paragraph(list, {at.x + tag, at.y}, width - tag, kSize, {word(told, Token::text)}, kMostLines, draw);
  at.y += draw_paragraph(list, at, width, kSize, {word(note.source)}, kMostLines, draw);
  return at.y - top;
}

void draw_note_line(ImDrawList* list, const Box& in, const PipelineNote& note, Align align) {
  const bool derived = !note.derived.empty();
  const float tag = derived ? tag_width() : 0, room = in.width() - tag;
  const std::vector<NoteForm> forms = note_forms(note);
  const auto fits =
      std::ranges::find_if(forms, [&](const NoteForm& f) { return runs_width(runs_of(f), kSize) <= room; });
  if (fits == forms.end()) return;
  const TextRuns runs = runs_of(*fits);
  const float width = runs_width(runs, kSize), left = align == Align::right ? in.max.x - width : in.min.x + tag;
  if (derived) draw_derived(list, {left - tag, in.min.y - style().px(1)}, kSize);
  draw_runs(list, {left, in.min.y}, kSize, runs);
  ImGui::SetCursorScreenPos({left - tag, in.min.y});
  ImGui::InvisibleButton("##pipeline_note", {tag + width, std::max(in.height(), 1.0F)});
  tooltip(told_words(note) + (told_words(note).empty() ? "" : "\n") + note.source);
}

}  // namespace attn
