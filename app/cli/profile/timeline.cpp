// attnscope timeline: who waits for whom inside one launch of a pipelined kernel. Recorded on a GPU, or read from a
// session.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/cli/arguments/command.h"
#include "app/cli/arguments/console_text.h"
#include "app/cli/arguments/kernel_arguments.h"
#include "app/cli/arguments/problem_arguments.h"
#include "app/cli/arguments/session_file.h"
#include "app/worker/client.h"
#include "kernels/base/text.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/model/problem/validate.h"
#include "profiling/measure/source_now.h"
#include "profiling/session/session.h"
#include "profiling/timeline/timeline_text.h"
#include "viz/profile/timeline/scene/timeline_scene.h"

namespace attn::cli {
namespace {

constexpr double kLongest = 300;        // seconds: a first context and a compilation among them
constexpr std::int64_t kLength = 4096;  // where no --l is given

struct TimelineArguments {
  std::string kernel, session, id, save, csv_file, perfetto_file;
  std::int32_t gpu = 0;
  std::int64_t block = 0, blocks = 1;
  bool warm = false;
  ProblemArguments problem;
  OptionArguments options;
};

Result<Point> point_of(const TimelineArguments& a, const KernelRow& row) {
  Point p;
  p.gpu = a.gpu;
  p.kernel = row.id;
  p.problem.Lq = p.problem.Lk = kLength;
  p.problem.D = p.problem.Dv = 64;
  p.problem.dtype = row.dtypes.front();
  p.l2 = a.warm ? L2State::warm : L2State::cold;
  if (auto r = a.problem.apply_to(p.problem); !r) return tl::unexpected(r.error());
  if (auto r = validate(p.problem); !r) return tl::unexpected(r.error());
  const KernelRow* const rows[] = {&row};
  if (auto r = a.options.check_read_by(rows); !r) return tl::unexpected(r.error());
  if (auto r = a.options.apply_to(p.options); !r) return tl::unexpected(r.error());
  return p;
}

Result<Timeline> record(const TimelineArguments& a, Stopper& stopper) {
  const auto named = kernel_named(a.kernel);
  if (!named) return tl::unexpected(named.error());
  const KernelRow& row = *named->rows.front();
  if (row.stamps == nullptr) {
    if (!named->own.empty())
      return bad_input(phrase("{} has no \"timeline\" in its header (docs/own_kernel.md).", a.kernel));
    std::string having;
    for (const KernelRow& other : gpu::gpu_kernel_table())
      if (other.stamps != nullptr) having += fmt::format("{}{}", having.empty() ? "" : ", ", other.id);
    return bad_input(phrase("{} cannot record its pipeline; {} can.", a.kernel, having));
  }
  auto point = point_of(a, row);
  if (!point) return tl::unexpected(point.error());
  const Deadline deadline{kLongest, stopper.token()};
  GpuClient client;
  client.bring(named->own);
  const auto hello = client.hello(deadline);
  if (!hello) return tl::unexpected(hello.error());
  const auto at = std::ranges::find(hello->gpus, a.gpu, &gpu::GpuProperties::index);
  if (at == hello->gpus.end())
    return fail(ErrorKind::cannot_run, phrase("there is no GPU {}: this machine has {}", a.gpu, hello->gpus.size()));
  point->arch = at->arch();
  auto timeline = client.timeline(*point, {a.block, a.blocks}, deadline, say_progress);
  say_progress("");
  return timeline;
}

// Behind those that the file has.
Result<void> save(const std::string& file, const Timeline& t) {
  return change_session(file, [&](Session& session) { session.timelines.push_back(t); });
}

Result<std::vector<Timeline>> timelines_of(const TimelineArguments& a, Stopper& stopper) {
  if (a.session.empty()) {
    auto made = record(a, stopper);
    if (!made) return tl::unexpected(made.error());
    return std::vector<Timeline>{std::move(*made)};
  }
  auto session = read_session(a.session);
  if (!session) return tl::unexpected(session.error());
  std::vector<Timeline> kept;
  for (Timeline& t : session->timelines)
    if ((a.kernel.empty() || t.kernel == a.kernel) && (a.id.empty() || is_named(id_of(t), a.id)))
      kept.push_back(std::move(t));
  if (kept.empty() && !a.id.empty()) return bad_input(phrase("{} contains no timeline '{}'.", a.session, a.id));
  if (kept.empty())
    return bad_input(a.kernel.empty() ? phrase("{} contains no timeline.", a.session)
                                      : phrase("{} contains no timeline of {}.", a.session, a.kernel));
  return kept;
}

Result<void> check(const TimelineArguments& a) {
  if (a.kernel.empty() && a.session.empty())
    return bad_input(tr("Name a kernel to record, or use --session FILE.attn to read a timeline."));
  if (a.session.empty() && !a.id.empty()) return bad_input(tr("--id selects a timeline in a file; add --session."));
  if (!a.session.empty() && !a.save.empty())
    return bad_input(tr("--save stores a new recording and --session reads a file; use only one of the two."));
  for (const auto& [option, file] :
       {std::pair("--csv", a.csv_file), std::pair("--perfetto", a.perfetto_file), std::pair("--save", a.save)})
    if (!file.empty())
      if (auto r = check_writable(option, file); !r) return r;
  return check_distinct({{"--session", a.session}},
                        {{"--csv", a.csv_file}, {"--perfetto", a.perfetto_file}, {"--save", a.save}});
}

Result<int> show_timeline(const TimelineArguments& a, Stopper& stopper) {
  if (auto r = check(a); !r) return tl::unexpected(r.error());
  const auto all = timelines_of(a, stopper);
  if (!all) return tl::unexpected(all.error());
  if (all->size() > 1 && (!a.csv_file.empty() || !a.perfetto_file.empty()))
    return bad_input(
        phrase("{} contains {} matching timelines, but a table or trace shows only one. Choose one with --id.",
               a.session, all->size()));
  if (!a.save.empty())
    if (auto r = save(a.save, all->front()); !r) return tl::unexpected(r.error());
  if (!a.csv_file.empty())
    if (auto r = write_text(a.csv_file, timeline_csv(all->front())); !r) return tl::unexpected(r.error());
  if (!a.perfetto_file.empty())
    if (auto r = write_text(a.perfetto_file, timeline_perfetto(all->front())); !r) return tl::unexpected(r.error());
  if (a.csv_file == "-" || a.perfetto_file == "-") return 0;
  SourcesNow sources;
  for (const Timeline& t : *all) {
    if (const std::string why = sources.why_another(t); !why.empty()) say(fmt::format("attnscope: {}", why));
    if (auto r = print(phrase("ID: {}\n", id_of(t)) + timeline_text(t)); !r) return tl::unexpected(r.error());
  }
  return 0;
}

}  // namespace

Command add_timeline(Parser program) {
  auto a = std::make_shared<TimelineArguments>();
  Parser parser =
      program.add_subcommand("timeline", tr("Show who waits for whom within one launch of a pipelined kernel"));
  parser
      .add_option("kernel", a->kernel,
                  tr("GPU kernel that can record its pipeline: flash_hopper, flash_mma, or your own FILE.cu"))
      ->type_name("ID");
  parser.add_option("--session", a->session, tr("Read timelines from this file instead of recording one"))
      ->type_name("FILE.attn");
  parser.add_option("--id", a->id, tr("Only the timeline with this ID, as printed or as in a state string"))
      ->type_name("ID");
  parser.add_option("--gpu", a->gpu, tr("GPU to record on; default: 0"))->type_name("N");
  parser.add_option("--block", a->block, tr("First block of the grid to record state by state; default: 0"))
      ->type_name("N");
  parser
      .add_option(
          "--blocks", a->blocks,
          tr("Number of blocks to record state by state; all other blocks record only the start of each query tile"))
      ->type_name("N");
  parser.add_flag("--warm", a->warm, tr("Leave the L2 cache as the previous run left it"));
  parser.add_option("--save", a->save, tr("Session to add the timeline to"))->type_name("FILE.attn");
  parser.add_option("--csv", a->csv_file, tr("Write one row per lane state; -: stdout"))->type_name("FILE");
  parser.add_option("--perfetto", a->perfetto_file, tr("Write a trace for ui.perfetto.dev; -: stdout"))
      ->type_name("FILE.json");
  a->problem.add_to(parser, "--scale");
  a->options.add_to(parser, false);
  parser.footer(
      tr("Examples:\n  attnscope timeline flash_hopper --l 4096 --hq 16 --d 128 --causal --save run.attn\n"
         "  attnscope timeline --session run.attn --perfetto trace.json"));
  return {parser, [a](Stopper& stopper) { return show_timeline(*a, stopper); }};
}

}  // namespace attn::cli
