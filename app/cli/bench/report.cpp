// attnscope report: a saved sweep as a folder to hand on.
#include <filesystem>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/arguments/command.h"
#include "app/cli/arguments/console_text.h"
#include "app/state/apply/apply.h"
#include "app/state/string/state_string.h"
#include "app/window/report.h"
#include "kernels/base/text.h"
#include "profiling/session/session.h"

namespace attn::cli {
namespace {

struct ReportArguments {
  std::string session, out, theme;
};

Result<int> report(const ReportArguments& a) {
  auto session = read_session(a.session);
  if (!session) return bad_input(session.error().message);
  if (rows_of(*session) == 0)
    return bad_input(
        phrase("{} contains no measurements; create some with `attnscope bench -o {}`.", a.session, a.session));
  for (const std::string& name : report_files()) {
    const NamedFile output{"-o", (std::filesystem::path(a.out) / name).string()};
    if (auto r = check_distinct({{tr("the session"), a.session}}, {output}); !r) return tl::unexpected(r.error());
  }
  for (const std::string& note : session->notes) say(phrase("attnscope: {}: {}.", a.session, note));
  PictureSpec picture;
  picture.state = initial_state();
  picture.width = 960;
  picture.height = 600;
  restore_bench(session->state, picture.state);
  if (!a.theme.empty() && a.theme != "dark" && a.theme != "light")
    return bad_input(phrase("Unknown --theme {}; use dark or light.", a.theme));
  picture.state.preferences.theme = a.theme == "dark" ? Theme::dark : Theme::light;
  for (SweepRun& run : session->runs) {
    show_run(picture.state.document.runs, run.id);
    picture.runs.push_back({std::move(run), RunFrom::file, false, false});
  }
  const auto written = write_report(picture, a.out);
  if (!written) return tl::unexpected(written.error());
  if (!written->no_plots.empty()) say(phrase("attnscope: no plots: {}", written->no_plots));
  say(phrase("Wrote {} in {}.", fmt::join(written->files, ", "), a.out));
  return 0;
}

}  // namespace

Command add_report(Parser program) {
  auto a = std::make_shared<ReportArguments>();
  Parser parser = program.add_subcommand("report", tr("Turn a saved sweep into a folder with plots, a summary, a "
                                                      "table and CSV"));
  parser.add_option("session", a->session, tr("Session saved by `attnscope bench -o` or the window"))
      ->required()
      ->type_name("FILE.attn");
  parser.add_option("-o,--out", a->out, tr("Created if missing; files with the same names are replaced"))
      ->required()
      ->type_name("FOLDER");
  parser.add_option("--theme", a->theme, tr("Theme of the plots, light or dark; default: light"))->type_name("NAME");
  parser.footer(
      tr("Examples:\n  attnscope report sweep.attn -o sweep-report\n  attnscope report sweep.attn --theme dark -o "
         "slides"));
  return {parser, [a](Stopper&) { return report(*a); }};
}

}  // namespace attn::cli
