#include "viz/step/problem/problem_draw.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "imgui_internal.h"

#include "kernels/base/text.h"
#include "kernels/model/inputs/input_spec.h"
#include "kernels/model/ring.h"
#include "kernels/museum/museum.h"
#include "viz/draw/hands.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/step/orders/looks.h"
#include "viz/step/problem/problem_fields.h"

namespace attn {
namespace {

constexpr float kRow = 28;    // logical height of a field's line,
constexpr float kClose = 26;  // and with a sentence, which would else leave no room for the letters
constexpr float kField = 24;  // of the field itself
constexpr float kWhatIfHead = 29, kWhatIf = 22;

// For fingers each has its size, and as much between two as without.
float field_height() {
  return for_finger(kField);
}

float row_height(float row) {
  return field_height() + row - kField;
}

struct Cursor {
  const ProblemPanel& panel;
  ImDrawList* list;
  float left, right, y;
  const Style& s;
  float row = kRow;

  Box field(float share = 0.5F) {
    const float x = left + (right - left) * (1 - share);
    return {{x, y}, {right, y + s.px(field_height())}};
  }
  void label(const char* words) const {
    draw_text_in(list, {{left, y}, {right, y + s.px(field_height())}}, Align::left, Face::text, 13,
                 colour_of(Token::dim), words);
  }
  void next() { y += s.px(row_height(row)); }
};

// One change of the document: the commands that make it.
void send(const ProblemPanel& panel, const Document& changed, int gesture) {
  const Document& now = panel.state.document;
  // Two changes of one edit are one entry of undo.
  if (gesture == 0 && changed.problem != now.problem && changed.inputs != now.inputs)
    gesture = ++panel.editing.last_gesture;
  if (changed.problem != now.problem) panel.commands.push_back(SetProblem{changed.problem, gesture});
  if (changed.options != now.options) panel.commands.push_back(SetOptions{changed.options, gesture});
  if (changed.inputs != now.inputs) panel.commands.push_back(SetInputs{changed.inputs, gesture});
}

void commit(const ProblemPanel& panel, ProblemField field, std::string_view text, int gesture) {
  const Result<Document> changed = with_field(panel.state.document, field, text);
  panel.editing.error = changed ? std::string() : changed.error().message;
  if (changed) send(panel, *changed, gesture);
}

// A label that is dragged sideways changes its numbers, one a step of eight pixels.
void drag_label(Cursor& at, const char* id, ProblemField field) {
  ImGui::SetCursorScreenPos({at.left, at.y});
  ImGui::InvisibleButton(id, {at.field().min.x - at.left - at.s.px(4), at.s.px(field_height())});
  if (ImGui::IsItemHovered() || ImGui::IsItemActive()) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  ProblemEditing& editing = at.panel.editing;
  if (ImGui::IsItemActivated()) editing.gesture = ++editing.last_gesture, editing.dragged = 0;
  if (!ImGui::IsItemActive()) return;
  const float moved = ImGui::GetMouseDragDelta(ImGuiMouseButton_Left, 4).x / at.s.px(8);
  const int steps = static_cast<int>(moved) - editing.dragged;
  if (steps == 0) return;
  auto numbers = whole_numbers(field_text(at.panel.state.document, field));
  if (!numbers) return;
  std::string text;
  for (const std::int64_t n : *numbers)
    text += std::to_string(std::max<std::int64_t>(n + steps, field == ProblemField::seed ? 0 : 1)) + " ";
  if (field == ProblemField::seed) text.pop_back();
  commit(at.panel, field, text, editing.gesture);
  editing.dragged += steps;
}

// `share` of the line; 1: the label has a line of its own, and the text begins at the left.
void text_field(Cursor& at, const char* id, const char* label, ProblemField field, bool draggable,
                float share = 0.46F) {
  at.label(label);
  if (share >= 1) at.y += at.s.px(field_height() - 2);
  if (draggable) drag_label(at, (std::string(id) + "_drag").c_str(), field);
  const Box box = at.field(share);
  const std::string shown = field_text(at.panel.state.document, field);
  std::array<char, kMaxSentenceBytes + 1> buffer{};
  std::strncpy(buffer.data(), shown.c_str(), buffer.size() - 1);
  ImGui::SetCursorScreenPos(box.min);
  ImGui::SetNextItemWidth(box.width());
  ImGui::PushFont(at.s.fonts.mono, at.s.px(13));
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {at.s.px(8), (box.height() - at.s.px(13)) / 2});
  const bool active = ImGui::GetActiveID() == ImGui::GetID(id);
  // At rest the number stands at the right edge, where its neighbours' do.
  if (!active) ImGui::PushStyleColor(ImGuiCol_Text, IM_COL32_BLACK_TRANS);
  ImGui::InputText(id, buffer.data(), buffer.size(), ImGuiInputTextFlags_AutoSelectAll);
  if (!active) ImGui::PopStyleColor();
  const bool done = ImGui::IsItemDeactivatedAfterEdit();
  // What is being typed outlives a popup that closes over it.
  std::optional<TypedField>& typed = at.panel.editing.typed;
  if (ImGui::IsItemActive() && buffer.data() != shown)
    typed = TypedField{field, buffer.data()};
  else if (typed && typed->field == field)
    typed.reset();
  ImGui::PopStyleVar();
  ImGui::PopFont();
  if (!active && !done) {
    const float room = box.width() - at.s.px(12);
    float size = 13;
    while (size > (share < 1 ? 9 : 12) && text_width(Face::mono, size, shown) > room) size -= 1;
    const std::string fits = elided_text(Face::mono, size, shown, room);
    draw_text_in(at.list, box, share < 1 ? Align::right : Align::left, Face::mono, size, colour_of(Token::text), fits,
                 8);
    if (fits != shown) tooltip(shown);
  }
  if (done) commit(at.panel, field, buffer.data(), 0);
  at.next();
}

// A combo in the panel's own look: the field, the choice at its right, a drawn caret.
bool begin_choice(Cursor& at, const char* id, const char* label, std::string_view shown, float share = 0.58F) {
  at.label(label);
  const Box box = at.field(share);
  ImGui::SetCursorScreenPos(box.min);
  ImGui::SetNextItemWidth(box.width());
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {at.s.px(8), (box.height() - at.s.px(13)) / 2});
  const bool open = begin_list(id, "", ImGuiComboFlags_NoArrowButton | ImGuiComboFlags_HeightLarge);
  ImGui::PopStyleVar();
  float size = 13;
  while (size > 10 && text_width(Face::text, size, shown) > box.width() - at.s.px(30)) size -= 0.5F;
  draw_text_in(at.list, box, Align::right, Face::text, size, colour_of(Token::text), shown, 22);
  draw_arrow(at.list, {box.max.x - at.s.px(11), box.centre().y}, 8, Arrow::down, colour_of(Token::dim));
  at.next();
  return open;
}

// Where all of them have no room: "causal + 2 more", and all when pointed at.
bool begin_choice_of(Cursor& at, const char* id, const char* label, const std::vector<std::string>& chosen) {
  std::string all = chosen.empty() ? tr("none") : chosen.front();
  for (std::size_t n = 1; n < chosen.size(); ++n) all += " + " + chosen[n];
  const bool whole = text_width(Face::text, 11, all) <= at.field(0.58F).width() - at.s.px(30);
  const bool open = begin_choice(at, id, label, whole ? all : phrase("{} + {} more", chosen[0], chosen.size() - 1));
  if (!whole && !open) tooltip(all);
  return open;
}

void preset_choice(Cursor& at) {
  const Document& d = at.panel.state.document;
  const FingerSized fingers;
  if (!begin_choice(at, "##preset", tr("Preset"), preset_title(d), 0.7F)) return;
  for (const Preset& p : presets()) {
    if (ImGui::Selectable(std::string(tr_of(p.title)).c_str(), p.id == d.preset)) {
      at.panel.editing.error.clear();
      at.panel.commands.push_back(ChoosePreset{std::string(p.id)});
    }
    if (p.id == d.preset) ImGui::SetItemDefaultFocus();
    tooltip(std::string(tr_of(p.what)));
  }
  end_list();
}

// The entries of an open menu. One that the kernel cannot record says why and changes nothing.
void choose_among(Cursor& at, const std::vector<ProblemChoice>& choices) {
  const FingerSized fingers;
  for (const ProblemChoice& choice : choices) {
    if (ImGui::Selectable(choice.words.c_str(), choice.on)) {
      const auto why = why_not_recordable(choice.changed);
      at.panel.editing.error = why.value_or("");
      if (!why) send(at.panel, choice.changed, 0);
    }
    if (choice.on) ImGui::SetItemDefaultFocus();
    if (!choice.help.empty()) tooltip(choice.help);
  }
}

// The last entry of a menu: the user's own files, which a popup asks for.
void offer_files(Cursor& at, const char* words, bool on) {
  const FingerSized fingers;
  ImGui::Separator();
  if (ImGui::Selectable(words, on)) at.panel.commands.emplace_back(Ask{Popup::input_files});
}

void mask_choice(Cursor& at) {
  const Document& d = at.panel.state.document;
  if (begin_choice_of(at, "##mask", tr("Mask"), masks_of(d.problem))) choose_among(at, mask_choices(d)), end_list();
}

void generator_choice(Cursor& at) {
  const Document& d = at.panel.state.document;
  const FingerSized fingers;
  if (!begin_choice(at, "##generator", tr("Inputs"), generator_words(d.inputs))) return;
  const std::vector<ProblemChoice> choices = generator_choices(d);
  for (const ProblemChoice& choice : choices) {
    if (ImGui::Selectable(choice.words.c_str(), choice.on))
      at.panel.commands.push_back(SetInputs{choice.changed.inputs, 0});
  }
  ImGui::Separator();
  if (ImGui::Selectable(tr("type into the tiles"))) at.panel.commands.emplace_back(TypeNumbers{});
  tooltip(for_hands(tr("Or double-click a cell of Q, K or V"), tr("Or double-tap a cell of Q, K or V")));
  offer_files(at, tr("your .npy files"),
              std::none_of(choices.begin(), choices.end(), [](const auto& c) { return c.on; }));
  end_list();
}

void bias_choice(Cursor& at) {
  const Document& d = at.panel.state.document;
  if (!begin_choice_of(at, "##bias", tr("Bias"), biases_of(d))) return;
  choose_among(at, bias_choices(d));
  offer_files(at, tr("your .npy file"), !d.inputs.bias_file.empty());
  end_list();
}

void separator(Cursor& at) {
  at.list->AddLine({at.left, at.y + at.s.px(3)}, {at.right, at.y + at.s.px(3)}, colour_of(Token::line),
                   std::max(1.0F, at.s.px(1)));
  at.y += at.s.px(12);
}

void reading_choice(Cursor& at) {
  draw_runs(at.list, {at.left, at.y}, 13,
            {{tr("Show "), Face::text, Token::dim, 0, false}, {"O", Face::maths, TensorColour::o, 0, false}});
  at.y += at.s.px(22);
  const float middle = (at.left + at.right) / 2;
  const auto half = [&](const char* id, const Box& box, const TextRuns& words, OutputReading reading) {
    ImGui::SetCursorScreenPos(box.min);
    if (ImGui::InvisibleButton(id, {box.width(), box.height()}, ImGuiButtonFlags_EnableNav))
      at.panel.commands.push_back(SetReading{reading});
    const bool chosen = at.panel.state.view.step.reading == reading, warm = ImGui::IsItemHovered();
    at.list->AddRectFilled(box.min, box.max, colour_of(chosen || warm ? Token::field : Token::card), at.s.px(6));
    draw_outline(at.list, box, colour_of(chosen ? Token::text : Token::line), chosen ? 1.5F : 1, 6);
    draw_runs_in(at.list, box, Align::centre, 13, words);
  };
  const float bottom = at.y + at.s.px(for_finger(26));
  half("##reading_as_summed", {{at.left, at.y}, {middle - at.s.px(3), bottom}},
       {{tr("as summed"), Face::text, Token::text, 0, false}}, OutputReading::as_summed);
  half("##reading_divided", {{middle + at.s.px(3), at.y}, {at.right, bottom}},
       {{"÷ ", Face::text, Token::text, 0, false}, {"ℓ", Face::maths, TensorColour::l, 0, false}},
       OutputReading::divided);
  at.y = bottom + at.s.px(8);
}

void take(const ProblemPanel& panel, const ProblemChoice& c) {
  const auto why = why_not_recordable(c.changed);
  panel.editing.error = why.value_or("");
  if (why) return;
  const Document& now = panel.state.document;
  if (c.changed.options != now.options) panel.commands.push_back(SetOptions{c.changed.options, 0});
  if (c.changed.inputs != now.inputs) panel.commands.push_back(SetInputs{c.changed.inputs, 0});
}

// Under the switch that brought it; a click goes to its step. Returns its height, 0 where there is no room.
float draw_outcome(const ProblemPanel& panel, const WhatIfOutcome& outcome, const Box& room) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float side = s.px(8), width = room.width() - 2 * side;
  const float words = draw_paragraph(list, {}, width, 13, outcome.words, 2, false);
  const float height = std::max(words + s.px(4), s.px(for_finger(22)));
  if (room.min.y + height > room.max.y) return 0;
  const Box box{room.min, {room.max.x, room.min.y + height}};
  ImGui::SetCursorScreenPos(box.min);
  if (ImGui::InvisibleButton("##whatif_outcome", {box.width(), box.height()}, ImGuiButtonFlags_EnableNav))
    panel.commands.insert(panel.commands.end(), outcome.go_there.begin(), outcome.go_there.end());
  list->AddRectFilled(box.min, box.max, colour_of(ImGui::IsItemHovered() ? Token::line : Token::field), s.px(6));
  draw_paragraph(list, {box.min.x + side, box.centre().y - words / 2}, width, 13, outcome.words, 2);
  tooltip(for_hands(tr("Click to go to that step"), tr("Tap to go to that step")));
  return height + s.px(2);
}

// As many as there is room for. Returns where they end.
float what_if(const ProblemPanel& panel, const Box& room, const std::vector<ProblemChoice>& choices) {
  const Style& s = style();
  draw_text(ImGui::GetWindowDrawList(), room.min, Face::bold, 13, colour_of(Token::text), tr("What if"));
  float y = room.min.y + s.px(21);
  constexpr float kShared = 0.56F;  // of the line: the first of two on it
  const float middle = room.min.x + room.width() * kShared, tall = s.px(for_finger(kWhatIf));
  for (std::size_t n = 0; n < choices.size(); ++n) {
    const ProblemChoice& c = choices[n];
    if (y + tall > room.max.y) break;
    const bool second = !c.brief.empty(), first = n + 1 < choices.size() && !choices[n + 1].brief.empty();
    const std::string& words = second ? c.brief : c.words;
    const Box line{{second ? middle : room.min.x, y}, {first ? middle : room.max.x, y + tall}};
    if (tick_box(line, c.id, words.c_str(), c.on)) take(panel, c);
    if (!c.help.empty()) tooltip(c.help);
    if (!first) y += tall;
    if (panel.outcome && panel.outcome->choice == c.id)
      y += draw_outcome(panel, *panel.outcome, {{room.min.x, y}, room.max});
  }
  return y + s.px(4);
}

void one_of(Cursor& at, const char* id, const char* label, const std::vector<ProblemChoice>& choices,
            float share = 0.58F) {
  const auto now = std::ranges::find_if(choices, [](const ProblemChoice& c) { return c.on; });
  if (!begin_choice(at, id, label, now == choices.end() ? "" : now->words, share)) return;
  choose_among(at, choices);
  end_list();
}

bool types_sentence(const Document& d) {
  return d.inputs.generator == Generator::words && d.inputs.q_file.empty();
}

void fields(Cursor& at) {
  preset_choice(at);
  if (types_sentence(at.panel.state.document))
    text_field(at, "##sentence", tr("Your sentence"), ProblemField::sentence, false, 1);
  one_of(at, "##pass", tr("Pass"), pass_choices(at.panel.state.document));
  if (const auto loops = loop_choices(at.panel.state.document); !loops.empty())
    one_of(at, "##outside", tr("Outer loop"), loops);
  // The palette splits them; here stands what is chosen.
  const bool split = chosen(at.panel.state.document.options, kSplits).value_or(1) > 1;
  if (const auto splits = split_choices(at.panel.state.document); split && !splits.empty())
    one_of(at, "##splits", tr("Keys"), splits);
  const Document& d = at.panel.state.document;
  const bool ring = ranks_of(d.options) > 1;
  if (const auto ranks = ring_choices(d); ring && !ranks.empty()) one_of(at, "##ranks", tr("Ring"), ranks);
  if (const auto deals = deal_choices(d); ring && !deals.empty()) one_of(at, "##deal", tr("Dealt"), deals);
  if (const auto pipes = pipeline_choices(d); follows_pipeline(d.options) && !pipes.empty())
    one_of(at, "##pipeline", tr("Steps"), pipes);
  text_field(at, "##heads", tr("Batch × heads"), ProblemField::heads, false);
  const Problem& p = at.panel.state.document.problem;
  text_field(at, "##length", p.Lq == p.Lk ? tr("Length") : tr("Lengths q × k"), ProblemField::length, true);
  text_field(at, "##dim", p.D == p.Dv ? tr("Head dim") : tr("Head dims"), ProblemField::dim, true);
  text_field(at, "##tile", tr("Tile Br × Bc"), ProblemField::tile, true);
  mask_choice(at);
  if (has_window(p.mask)) text_field(at, "##window", tr("Left, right"), ProblemField::window, false);
  if (!p.mask.key_lengths.empty())
    text_field(at, "##key_lengths", tr("Keys per batch"), ProblemField::key_lengths, false);
  // As with parts, the palette lays keys into pages.
  if (p.storage.kind() == Storage::paged) text_field(at, "##page", tr("Keys per page"), ProblemField::page, false);
  bias_choice(at);
  if (p.softcap) text_field(at, "##softcap", tr("Softcap"), ProblemField::softcap, false);
  text_field(at, "##scale", tr("Scale"), ProblemField::scale, false);
  generator_choice(at);
  // A sentence's numbers are made of its words alone.
  if (!types_sentence(d)) text_field(at, "##seed", tr("Seed"), ProblemField::seed, true);
  one_of(at, "##dtype", tr("Data type"), dtype_choices(d), 0.46F);
}

void error_words(Cursor& at) {
  const std::string& words = at.panel.editing.error;
  if (words.empty()) return;
  at.y += draw_paragraph(at.list, {at.left, at.y}, at.right - at.left, 12.5F,
                         {{words, Face::text, TensorColour::m, 0, false}}, 6) +
          at.s.px(4);
}

constexpr float kLettersHead = 21, kLetter = 19, kLeastLetter = 15;  // logical

// Closer together rather than not at all; words that are too long for the panel go on below where there is room.
void letters(Cursor& at, Order order, float bottom) {
  const std::vector<LetterWords> all = letter_words(order);
  const float room = bottom - at.y - at.s.px(kLettersHead + 12);
  if (room < at.s.px(kLeastLetter) * static_cast<float>(all.size())) return;
  separator(at);
  draw_text(at.list, {at.left, at.y}, Face::bold, 13, colour_of(Token::text), tr("Letters"));
  at.y += at.s.px(kLettersHead);
  float words_at = at.s.px(26);
  for (const LetterWords& l : all)
    words_at = std::max(words_at, runs_width({{std::string(l.letter), Face::maths, l.hue, 0, false}}, 14) + at.s.px(8));
  const float width = at.right - at.left - words_at;
  const auto lines_of = [&](const LetterWords& l) {
    const TextRuns runs{word(std::string(tr_of(l.words)))};
    return std::round(draw_paragraph(at.list, {}, width, 13, runs, 3, false) / line_height(13));
  };
  float lines = 0;
  for (const LetterWords& l : all) lines += lines_of(l);
  const bool whole = lines * at.s.px(kLeastLetter) <= room;
  const float pitch = std::min(at.s.px(kLetter), room / (whole ? lines : static_cast<float>(all.size())));
  for (const LetterWords& l : all) {
    draw_runs(at.list, {at.left, at.y}, 14, {{std::string(l.letter), Face::maths, l.hue, 0, false}});
    draw_paragraph(at.list, {at.left + words_at, at.y + at.s.px(1)}, width, 13, {word(std::string(tr_of(l.words)))},
                   whole ? 3 : 1);
    at.y += pitch * (whole ? lines_of(l) : 1);
  }
}

}  // namespace

void draw_problem_panel(const ProblemPanel& panel, const Box& box, bool card) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  if (card) draw_card(list, box);
  const float margin = card ? s.px(14) : 0;
  Cursor at{panel, list, box.min.x + margin, box.max.x - margin, box.min.y + (card ? s.px(12) : 0), s};
  if (types_sentence(panel.state.document)) at.row = kClose;
  const float bottom = box.max.y - margin;
  draw_text(list, {at.left, at.y}, Face::bold, 14, colour_of(Token::text), tr("Problem"));
  at.y += s.px(26);
  fields(at);
  error_words(at);
  const auto row = find_kernel_or_piece(panel.state.document.kernel);
  // The other orders divide before they sum: nothing to choose, nothing to put in.
  const Order order = row ? order_of(**row, panel.state.document.options) : Order::flash;
  const bool flash = order_look(order).undivided;
  if (flash) {
    separator(at);
    reading_choice(at);
  }
  const std::vector<ProblemChoice> choices = what_if_choices(panel.state.document);
  const bool derives = follows_pipeline(panel.state.document.options);
  const bool split = splits_of(panel.state.document.options) > 1;
  const bool backward = panel.state.document.problem.pass == Pass::backward;
  const bool asks = (flash || split || derives || backward) && !choices.empty();
  // Those of the pipeline, or of pages, stand first, and need no room for all.
  const bool paged = panel.state.document.problem.storage.kind() == Storage::paged;
  const auto lines =
      static_cast<std::size_t>(std::ranges::count_if(choices, [](const ProblemChoice& c) { return c.brief.empty(); }));
  const std::size_t shown = derives || paged ? 2 : lines;
  if (asks && at.y + s.px(kWhatIfHead + for_finger(kWhatIf) * static_cast<float>(shown)) <= bottom) {
    separator(at);
    at.y = what_if(panel, {{at.left, at.y}, {at.right, bottom}}, choices);
  }
  letters(at, order, bottom);
}

void keep_typed(const ProblemPanel& panel) {
  if (!panel.editing.typed) return;
  const TypedField typed = *std::exchange(panel.editing.typed, std::nullopt);
  commit(panel, typed.field, typed.text, 0);
}

float problem_panel_height(const State& state) {
  const Mask& mask = state.document.problem.mask;
  const float extra = (has_window(mask) ? 1.0F : 0.0F) + (state.document.problem.softcap ? 1.0F : 0.0F) +
                      (mask.key_lengths.empty() ? 0.0F : 1.0F) +
                      (state.document.problem.storage.kind() == Storage::paged ? 1.0F : 0.0F) +
                      (types_sentence(state.document) ? 1.0F : 0.0F);
  const float ticks = 6 * (for_finger(kWhatIf) - kWhatIf), reading = for_finger(26) - 26;
  return style().px(26 + row_height(kRow) * (12 + extra) + 12 + 56 + reading + 132 + ticks + 40);
}

}  // namespace attn
