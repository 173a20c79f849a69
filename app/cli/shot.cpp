// attnscope shot: any view as a PNG, with no display.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "app/cli/command.h"
#include "app/cli/problem_arguments.h"
#include "app/cli/text.h"
#include "app/picture.h"
#include "app/state_string.h"
#include "profiling/session.h"

namespace attn::cli {
namespace {

struct ShotArguments {
  DocumentArguments document;
  std::string view, size = "1440x900", theme, session, out, chart;
  std::optional<std::int64_t> step;
  float scale = 1;
};

Result<Workspace> workspace_of(const std::string& name) {
  for (const Workspace w : {Workspace::step, Workspace::bench, Workspace::profile, Workspace::learn}) {
    if (name == name_of(w)) return w;
  }
  return bad_input(fmt::format("--view {} is unknown; use step, bench, profile or learn.", name));
}

Result<StepChart> chart_of(const std::string& name) {
  for (const StepChart c : {StepChart::row, StepChart::hindsight, StepChart::passes, StepChart::error}) {
    if (name == name_of(c)) return c;
  }
  return bad_input(fmt::format("--chart {} is unknown; use row, hindsight, passes or error.", name));
}

Result<void> set_view(const ShotArguments& a, State& state) {
  if (!a.view.empty()) {
    const auto workspace = workspace_of(a.view);
    if (!workspace) return tl::unexpected(workspace.error());
    state.view.workspace = *workspace;
  }
  if (!a.theme.empty()) {
    if (a.theme != "dark" && a.theme != "light") {
      return bad_input(fmt::format("--theme {} is unknown; use dark or light.", a.theme));
    }
    state.preferences.theme = a.theme == "dark" ? Theme::dark : Theme::light;
  }
  if (!a.chart.empty()) {
    const auto chart = chart_of(a.chart);
    if (!chart) return tl::unexpected(chart.error());
    state.view.chart = *chart;
  }
  if (!(a.scale >= 1 && a.scale <= 3)) return bad_input(fmt::format("--scale {} is not in 1 to 3.", a.scale));
  state.preferences.scale = a.scale;
  return ok();
}

// The step's number is checked against the recording, so that a wrong one is not a picture of another step.
Result<void> set_recording(const ShotArguments& a, const std::stop_token& stop, PictureSpec& picture) {
  if (picture.state.view.workspace != Workspace::step) {
    return a.step ? Result<void>(bad_input("--step goes with --view step.")) : ok();
  }
  if (!a.step) return ok();
  auto rec = record_document(picture.state.document, stop);
  if (!rec) return tl::unexpected(rec.error());
  const auto steps = static_cast<std::int64_t>(rec->events.size());
  if (*a.step < 1 || *a.step > steps) {
    return bad_input(fmt::format("--step {} is not a step of this run: there are 1 to {}.", *a.step, steps));
  }
  picture.state.view.cursor = static_cast<EventIndex>(*a.step - 1);
  picture.recording = std::make_shared<const Recording>(*std::move(rec));
  return ok();
}

Result<void> set_session(const ShotArguments& a, PictureSpec& picture) {
  if (a.session.empty()) return ok();
  auto session = read_session(a.session);
  if (!session) return bad_input(session.error().message);
  // Bench stands as it stood when the session was saved, unless the command line says otherwise.
  if (const auto saved = parse_state_string(session->state); saved && a.document.state.empty()) {
    picture.state.document.sweep = saved->state.document.sweep;
    picture.state.view.bench_metric = saved->state.view.bench_metric;
    picture.state.view.bench_baseline = saved->state.view.bench_baseline;
  }
  picture.measurements = std::move(session->measurements);
  picture.provenance = std::move(session->provenance);
  if (!session->recordings.empty() && !a.step) {
    picture.recording = std::make_shared<const Recording>(std::move(session->recordings.front()));
  }
  return ok();
}

Result<int> shoot(const ShotArguments& a, Stopper& stopper) {
  const auto size = parse_extents("--size", a.size, "size like 1440x900");
  if (!size) return tl::unexpected(size.error());
  if (size->first < 320 || size->second < 240 || std::max(size->first, size->second) > 8192) {
    return bad_input(fmt::format("--size {} is out of range: 320x240 to 8192x8192.", a.size));
  }
  if (a.out == "-") return bad_input("-o - : pictures are not written to stdout; name a file.");
  if (auto r = check_writable("-o", a.out); !r) return tl::unexpected(r.error());
  auto state = a.document.state_of();
  if (!state) return tl::unexpected(state.error());
  PictureSpec picture;
  picture.state = *std::move(state);
  picture.width = static_cast<int>(size->first);
  picture.height = static_cast<int>(size->second);
  if (auto r = set_view(a, picture.state); !r) return tl::unexpected(r.error());
  if (auto r = set_session(a, picture); !r) return tl::unexpected(r.error());
  if (auto r = set_recording(a, stopper.token(), picture); !r) return tl::unexpected(r.error());
  if (a.session.empty()) picture.provenance = provenance_here();
  if (auto r = take_picture(picture, a.out); !r) return tl::unexpected(r.error());
  say(fmt::format("Wrote {} ({} x {} pixels).", a.out, picture.width, picture.height));
  return 0;
}

}  // namespace

Command add_shot(CLI::App& program) {
  auto a = std::make_shared<ShotArguments>();
  CLI::App* parser = program.add_subcommand("shot", "A picture of any view, with no display");
  parser->add_option("--view", a->view, "step, bench, profile or learn; left out: that of --state, else step")
      ->type_name("NAME");
  parser->add_option("--step", a->step, "Which step, from 1 as the window counts them")->type_name("N");
  parser->add_option("--chart", a->chart, "Step's chart: row, hindsight, passes or error; left out: row")
      ->type_name("NAME");
  parser->add_option("--session", a->session, "Rows and recording of a saved session")->type_name("FILE.attn");
  parser->add_option("--size", a->size, "Pixels; left out: 1440x900")->type_name("WxH");
  parser->add_option("--scale", a->scale, "Size of text and tiles, 1 to 3; --qk-scale is the factor of QK^T")
      ->type_name("X");
  parser->add_option("--theme", a->theme, "dark or light; left out: dark")->type_name("NAME");
  parser->add_option("-o,--out", a->out, "The picture")->required()->type_name("FILE.png");
  a->document.add_to(*parser, "--qk-scale");
  parser->footer(
      "Examples:\n"
      "  attnscope shot --view step --preset late_outlier --step 50 -o step.png\n"
      "  attnscope shot --view bench --session sweep.attn --theme light --size 1920x1080 -o bench.png");
  return {parser, [a](Stopper& stopper) { return shoot(*a, stopper); }};
}

}  // namespace attn::cli
