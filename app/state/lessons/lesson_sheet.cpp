#include "app/state/lessons/lesson_sheet.h"

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/state/lessons/exercises.h"
#include "app/state/lessons/lesson_runs.h"
#include "app/state/string/state_string.h"
#include "kernels/base/printable.h"
#include "viz/learn/beat.h"
#include "viz/learn/exercise/plan_scene.h"
#include "viz/learn/lesson/lesson_words.h"
#include "viz/step/facts/letters.h"
#include "viz/step/orders/looks.h"

namespace attn {
namespace {

// A lesson comes from anywhere, and its sheet may go to a terminal.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

std::string html(const TextRuns& runs) {
  std::string out;
  for (const TextRun& run : runs) {
    const char* tag = run.face == Face::maths ? "i" : run.face == Face::mono ? "code" : "span";
    std::string text = fmt::format("<{0}>{1}</{0}>", tag, escaped(run.text));
    for (std::size_t at; (at = text.find('\n')) != text.npos;) text.replace(at, 1, "<br>");
    if (run.raise == 1) text.insert(0, "<sup>").append("</sup>");
    if (run.raise == -1 || run.raise == 2) text.insert(0, "<sub>").append("</sub>");
    out += text;
  }
  return out;
}

constexpr std::string_view kHead = R"(<meta charset="utf-8">
<style>
 body { font: 11pt/1.45 Roboto, "Helvetica Neue", Arial, sans-serif; max-width: 46em; margin: 2em auto; color: #111; }
 h1 { font-size: 18pt; margin: 0 0 .1em; } h2 { font-size: 12.5pt; margin: 1.4em 0 .2em; break-after: avoid; }
 section { break-inside: avoid; } i { font-family: "XITS", "Times New Roman", serif; } code { font-family: monospace; }
 table { display: inline-table; border-collapse: collapse; margin: .3em .9em .3em 0; vertical-align: top; }
 caption { text-align: left; font-size: 10pt; } td { border: 1px solid #888; padding: .15em .45em; text-align: right;
 font: 9.5pt monospace; } td.slot { border-style: dashed; min-width: 3.4em; } .answer { border-bottom: 1px solid #111;
 display: inline-block; min-width: 11em; height: 1.5em; } .key { background: #f1f1f1; padding: .4em .8em; }
 .dim { color: #555; } ol.options { margin: .3em 0; } .state { font: 8.5pt monospace; word-break: break-all; }
</style>
)";

constexpr std::int32_t kMostColumns = 10, kMostRows = 4;  // a sheet of paper is not wider

// What is live at the step: of a tile of queries the row that is followed, of K and V every key. What is to come is a
// dashed slot to write in.
std::string tiles_html(const Recording& rec, EventIndex e, std::int32_t row) {
  std::string out;
  for (const SheetLook& s : order_look(rec.order).sheet) {
    VersionId id = rec.after(e, s.slot);
    if (id == kNoVersion) id = rec.after(e, s.before);
    const std::string caption = fmt::format("<caption><i>{}</i></caption>", letter_of(s.slot));
    if (id == kNoVersion) {
      out += fmt::format("<table>{}<tr><td class=\"slot\">&nbsp;</td></tr></table>\n", caption);
      continue;
    }
    const Version& v = rec.version(id);
    const bool keys = slot_row(s.slot).rows == SlotRows::keys;
    const std::span<const float> values = rec.values(id);
    if (v.cols > kMostColumns || (keys && v.rows > kMostColumns)) continue;
    out += "<table>" + caption;
    for (std::int32_t r = 0; r < v.rows; ++r) {
      if (!keys && v.rows > kMostRows && v.first_row + r != row) continue;
      out += "<tr>";
      for (std::int32_t c = 0; c < v.cols; ++c)
        out += fmt::format(
            "<td>{}</td>",
            short_number(
                values[static_cast<std::size_t>(r) * static_cast<std::size_t>(v.cols) + static_cast<std::size_t>(c)]));
      out += "</tr>";
    }
    out += "</table>\n";
  }
  return out;
}

class Sheet {
 public:
  Sheet(const Lesson& lesson, const SheetOptions& options) : lesson_(lesson), options_(options) {}

  Result<std::string> write() {
    const std::string title = lesson_.words("title", options_.language);
    out_ = "<!doctype html>\n<html lang=\"" + escaped(options_.language) + "\">\n" + std::string(kHead);
    out_ += fmt::format("<title>{}</title>\n<h1>{}{}</h1>\n<p class=\"dim\">{}{}</p>\n", escaped(title),
                        lesson_.number.empty() ? "" : escaped(lesson_.number) + " ", escaped(title),
                        escaped(lesson_.words("goal", options_.language)), options_.key ? " Key." : "");
    int number = 0;
    for (const Beat& beat : lesson_.beats) {
      if (auto written = write_beat(beat, beat.ask ? ++number : 0); !written)
        return bad_input(fmt::format("{}, beat '{}', {}", lesson_.file, beat.id, written.error().message));
    }
    return out_ + "</html>\n";
  }

 private:
  Result<std::string> words(const Beat& beat, std::string_view part, ExpressionScope& scope) {
    const std::string& text = lesson_.words(text_key(beat, part), options_.language);
    if (text.empty()) return std::string();
    const auto runs = filled(text, scope, Face::text, Token::text);
    if (!runs) return tl::unexpected(runs.error());
    return html(*runs);
  }

  Result<void> write_beat(const Beat& beat, int number) {
    std::optional<std::uint64_t> seed;
    if (beat.again) {
      const auto fresh = fresh_seed(lesson_, beat, options_.seed);
      if (!fresh) return tl::unexpected(fresh.error());
      seed = *fresh;
    }
    LessonRuns runs(lesson_, seed);
    auto asked = asked_beat(lesson_, beat, beat.exercise ? options_.seed : seed, runs);
    if (!asked) return tl::unexpected(asked.error());
    ExpressionScope* const scope = &asked->scope;
    const auto title = words(beat, "title", *scope), say = words(beat, "say", *scope);
    if (!title) return tl::unexpected(title.error());
    if (!say) return tl::unexpected(say.error());
    out_ += fmt::format("<section>\n<h2>{}{}</h2>\n<p>{}</p>\n", number > 0 ? fmt::format("{}. ", number) : "", *title,
                        *say);
    if (const TextRuns origin = origins_of(lesson_, beat, *scope, options_.language); !origin.empty())
      out_ += fmt::format("<p class=\"dim\">{}</p>\n", html(origin));
    if (beat.ask) {
      if (auto written = write_question(beat, *scope); !written) return written;
    }
    if (options_.key && !beat.exercise) {
      if (auto state = write_state(beat, seed, scope->horizon); !state) return state;
    }
    out_ += "</section>\n";
    return ok();
  }

  Result<void> write_question(const Beat& beat, ExpressionScope& scope) {
    const auto question = question_of(beat, scope);
    if (!question) return tl::unexpected(question.error());
    if (!beat.exercise) {
      const auto rec = scope.recording_of(beat.run);
      if (!rec) return tl::unexpected(rec.error());
      out_ += tiles_html(**rec, scope.horizon, scope.row);
    } else if (auto drawn = write_given(beat, scope); !drawn) {
      return drawn;
    }
    const LessonAsk& ask = *beat.ask;
    if (!question->choices.empty()) {
      out_ += "<ol class=\"options\">\n";
      for (const Choice& choice : question->choices) {
        const auto text =
            choice.words.empty() ? Result<std::string>(html(choice.label)) : words(beat, choice.words, scope);
        if (!text) return tl::unexpected(text.error());
        out_ += "<li>" + *text + "</li>\n";
      }
      out_ += "</ol>\n";
    }
    if (ask.kind == AskKind::tiles) {
      out_ += "<table>";
      for (std::int32_t i = 0; i < question->map_rows; ++i) {
        out_ += "<tr>";
        for (std::int32_t j = 0; j < question->map_cols; ++j) {
          const bool right =
              question->right[static_cast<std::size_t>(i) * static_cast<std::size_t>(question->map_cols) +
                              static_cast<std::size_t>(j)];
          out_ += fmt::format("<td class=\"slot\">{}</td>", options_.key && right ? "×" : "&nbsp;");
        }
        out_ += "</tr>";
      }
      out_ += "</table>\n";
    }
    if (!options_.key) {
      out_ += fmt::format("<p>Answer{}: <span class=\"answer\"></span></p>\n",
                          ask.kind == AskKind::num ? ", " + ask.within.words() : "");
      return ok();
    }
    return write_key(beat, *question, scope);
  }

  // What an exercise gives, as a table; on the key nothing of it is empty.
  Result<void> write_given(const Beat& beat, ExpressionScope& scope) {
    const auto scene = plan_scene(beat.exercise->figure, beat.id, lesson_, options_.language, scope, options_.key);
    if (!scene) return tl::unexpected(scene.error());
    out_ += "<table>";
    for (const auto* rows : {&scene->rows, &scene->bars}) {
      for (const SceneRow& row : *rows) {
        out_ += fmt::format("<tr><td>{}</td>", html(row.label));
        for (const std::string& cell : row.cells)
          out_ += row.empty ? "<td class=\"slot\">&nbsp;</td>" : fmt::format("<td>{}</td>", cell);
        out_ += "</tr>";
      }
    }
    out_ += "</table>\n";
    return ok();
  }

  Result<void> write_key(const Beat& beat, const Question& question, ExpressionScope& scope) {
    const LessonAsk& ask = *beat.ask;
    out_ += "<div class=\"key\">";
    if (ask.kind == AskKind::num) {
      out_ += fmt::format("<b>{} {}</b> ({}). ", short_number(question.truth), escaped(ask.unit), ask.within.words());
    } else if (!question.choices.empty()) {
      for (std::size_t n = 0; n < question.right.size(); ++n)
        if (question.right[n]) out_ += fmt::format("<b>{}.</b> ", n + 1);
    }
    const auto right = words(beat, "right", scope);
    if (!right) return tl::unexpected(right.error());
    out_ += *right;
    for (std::size_t n = 0; n < ask.wrong.size(); ++n) {
      scope.typed = question.wrong[n];
      const auto told = words(beat, ask.wrong[n].text, scope);
      scope.typed.reset();
      if (!told) return tl::unexpected(told.error());
      const std::string value =
          ask.kind == AskKind::num ? short_number(question.wrong[n]) : escaped(ask.wrong[n].value);
      out_ += fmt::format("<br>Who says {}: {}", value, *told);
    }
    out_ += "</div>\n";
    return ok();
  }

  // Opens Step where the beat stands.
  Result<void> write_state(const Beat& beat, std::optional<std::uint64_t> seed, EventIndex cursor) {
    auto state = lesson_state(lesson_, beat.run, seed);
    if (!state) return tl::unexpected(state.error());
    state->view.step.cursor = cursor;
    const auto text = state_string(*state);
    if (!text) return tl::unexpected(text.error());
    out_ += fmt::format("<p class=\"state\">attnscope --state {}</p>\n", escaped(*text));
    return ok();
  }

  const Lesson& lesson_;
  const SheetOptions& options_;
  std::string out_;
};

}  // namespace

Result<std::string> lesson_sheet(const Lesson& lesson, const SheetOptions& options) {
  return Sheet(lesson, options).write();
}

}  // namespace attn
