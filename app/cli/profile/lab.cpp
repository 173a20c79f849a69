// attnscope lab: the lab of Profile without its window: a kernel built otherwise, checked, timed, beside the original.
#include <algorithm>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/arguments/command.h"
#include "app/cli/arguments/console_text.h"
#include "app/cli/arguments/kernel_arguments.h"
#include "app/cli/arguments/picture_arguments.h"
#include "app/cli/arguments/problem_arguments.h"
#include "app/worker/bench.h"
#include "kernels/base/clock.h"
#include "kernels/base/text.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/lab/experiments.h"
#include "kernels/ladder.h"
#include "kernels/model/problem/validate.h"
#include "profiling/figures/metrics.h"
#include "profiling/figures/statistics.h"
#include "profiling/session/json/measurement_json.h"
#include "viz/profile/lab/lab.h"

namespace attn::cli {
namespace {

constexpr std::int64_t kLength = 4096, kHeads = 16, kDim = 64;
constexpr int kMostLoops = 100;

struct LabArguments {
  std::string kernel, experiment, arch;
  PictureArguments picture;
  bool list = false, print_text = false, as_json = false, no_sample = false;
  int loop = 1;
  ProblemArguments problem;
  OptionArguments options;
  BuildArguments build;
};

Result<int> list_experiments(bool as_json) {
  nlohmann::json all = nlohmann::json::array();
  std::string text;
  for (const Experiment* each : experiments()) {
    const Experiment& e = *each;
    all.push_back({{"id", e.id},
                   {"title", e.title},
                   {"kernel", e.rung},
                   {"question", e.question},
                   {"change", e.change},
                   {"answer", e.answer}});
    text += fmt::format("{:<18} {:<11} {}\n{:<30} {}\n", e.id, e.rung, tr_of(e.question), "", tr_of(e.change));
    if (!e.answer.empty()) text += fmt::format("{:<30} {}\n", "", tr_of(e.answer));
  }
  if (auto r = as_json ? print_data(all.dump(2) + "\n") : print(text); !r) return tl::unexpected(r.error());
  return 0;
}

// What is tried: the original, the edit's text and options, as the window's lab holds them.
struct Subject {
  NamedKernels named;
  const KernelRow* original = nullptr;
  LabView lab;
};

Result<void> take_experiment(const LabArguments& a, Subject& s) {
  const auto experiment = find_experiment(a.experiment);
  if (!experiment) return tl::unexpected(experiment.error());
  const auto rung = find_kernel((*experiment)->rung, {});
  if (!rung) return tl::unexpected(rung.error());
  s.original = *rung;
  const auto source = gpu::text_to_edit(**rung);
  if (!source) return tl::unexpected(source.error());
  s.lab.original.text = source->text;
  auto text = changed_text(**experiment, source->text);
  if (!text) return tl::unexpected(text.error());
  s.lab.now = {*std::move(text), {}, (*experiment)->options};
  s.lab.experiment = a.experiment;
  return ok();
}

// A file that edits a rung is set beside the rung; one with a header of its own beside itself as its text is.
Result<void> take_kernel(const LabArguments& a, Subject& s) {
  auto named = kernel_named(a.kernel);
  if (!named) return tl::unexpected(named.error());
  s.named = *std::move(named);
  const KernelRow* row = s.named.rows.front();
  s.original = row;
  if (row->processor != Processor::gpu) return ok();  // refused in words by who asked
  const auto source = gpu::text_to_edit(*row);
  if (!source) return tl::unexpected(source.error());
  s.lab.original.text = s.lab.now.text = source->text;
  if (s.named.own.empty()) return ok();
  const gpu::OwnKernel& own = *gpu::own_kernel(*s.named.own.front());
  s.lab.now.build = own.build;
  if (own.edits == nullptr) return ok();
  s.original = own.edits;
  const auto shipped = gpu::text_to_edit(*own.edits);
  if (!shipped) return tl::unexpected(shipped.error());
  s.lab.original.text = shipped->text;
  return ok();
}

Result<Subject> subject_of(const LabArguments& a) {
  if (a.kernel.empty() == a.experiment.empty())
    return bad_input(tr("Name a kernel (an id or FILE.cu), or use --experiment ID; see `attnscope lab --list`."));
  Subject s;
  if (auto r = a.kernel.empty() ? take_experiment(a, s) : take_kernel(a, s); !r) return tl::unexpected(r.error());
  if (s.original->processor != Processor::gpu)
    return bad_input(phrase("{} runs on the CPU: the lab compiles only GPU kernels.", s.original->id));
  if (auto r = gpu::check_build(a.build.build); !r) return bad_input(r.error().message + ".");
  if (a.build.build.max_registers != 0) s.lab.now.build.max_registers = a.build.build.max_registers;
  s.lab.now.build.fast_math |= a.build.build.fast_math;
  const KernelRow* const rows[] = {s.original};
  if (auto r = a.options.check_read_by(rows); !r) return tl::unexpected(r.error());
  if (auto r = a.options.apply_to(s.lab.now.options); !r) return tl::unexpected(r.error());
  Problem& p = s.lab.problem;
  p.Hq = p.Hkv = kHeads;
  p.Lq = p.Lk = kLength;
  p.D = p.Dv = kDim;
  p.dtype = s.original->dtypes.front();
  if (auto r = a.problem.apply_to(p); !r) return tl::unexpected(r.error());
  if (auto r = validate(p); !r) return tl::unexpected(r.error());
  s.lab.kernel = s.original->id;
  s.lab.options.assign(s.original->options.begin(), s.original->options.end());
  s.lab.arch = a.arch.empty() ? std::string(gpu::kArchRunOn) : a.arch;
  if (auto arch = gpu::device_for(s.lab.arch); !arch) return tl::unexpected(arch.error());
  return s;
}

Point point_of(const Subject& s, const std::string& kernel, const Options& options) {
  Point p;
  p.arch = s.lab.arch;
  p.kernel = kernel;
  p.problem = s.lab.problem;
  p.options = options;
  return p;
}

// Seconds from the text to the row, and to the samples of its lines; none where there are none.
struct Loops {
  std::vector<double> rows, lines;
};

std::shared_ptr<Measurement> sampled(const LabArguments& a, Measurement row, GpuBench& bench, Stopper& stopper) {
  if (!a.no_sample && row.state == RowState::done) bench.sample(row, say_progress, stopper.token());
  return std::make_shared<Measurement>(std::move(row));
}

// As often as it was asked for; each time another text, as if somebody had typed.
Result<Loops> build(const LabArguments& a, Subject& s, GpuBench& bench, Stopper& stopper) {
  Loops seconds;
  for (int n = 0; n < a.loop; ++n) {
    LabChange change = s.lab.now;
    if (n > 0) change.text += fmt::format("\n// again, {}\n", n);
    auto edit = gpu::edit_of(*s.original, change.text, change.build);
    if (!edit) return tl::unexpected(edit.error());
    const double begin = steady_seconds();
    bench.meet({*edit});
    Measurement answer = bench.try_out(point_of(s, (*edit)->name, change.options), say_progress, stopper.token());
    const double row_seconds = steady_seconds() - begin;
    const auto row = sampled(a, std::move(answer), bench, stopper);
    seconds.rows.push_back(row_seconds);
    if (row->samples != nullptr) seconds.lines.push_back(steady_seconds() - begin);
    if (stopper.token().stop_requested()) return fail(ErrorKind::cancelled, tr("The lab was cancelled."));
    s.lab.marks = gpu::marks_of(row->state == RowState::failed ? row->reason : "", row->warnings, s.lab.now.text);
    LabTry made{(*edit)->name, s.lab.now, row};
    made.row_seconds = row_seconds;
    made.lines_seconds = row->samples == nullptr ? 0 : seconds.lines.back();
    s.lab.tries = {std::move(made)};
  }
  return seconds;
}

std::string seconds_text(const char* what, std::vector<double> seconds) {
  if (seconds.empty()) return {};
  std::ranges::sort(seconds);
  return fmt::format("{}: {:.2f} s{}\n", what, quantile(seconds, 0.5),
                     seconds.size() > 1
                         ? phrase(", median of {} ({:.2f} to {:.2f})", seconds.size(), seconds.front(), seconds.back())
                         : "");
}

// The lines that take the most of the warps' time, beside what the same lines of the original take.
std::string lines_text(const LabScene& scene, const std::string& source) {
  constexpr std::size_t kMost = 10;
  if (scene.lines.by_line.empty()) return {};
  std::vector<std::pair<std::int32_t, const LabLine*>> lines;
  lines.reserve(scene.lines.by_line.size());
  for (const auto& [number, line] : scene.lines.by_line) lines.emplace_back(number, &line);
  std::ranges::stable_sort(lines, [](const auto& x, const auto& y) { return x.second->share > y.second->share; });
  lines.resize(std::min(lines.size(), kMost));
  std::string text = phrase("{:>6} {:>6} {:>9}  {:<10} source; % of warp time\n", "line", "%", "original", "phase");
  for (const auto& [number, line] : lines) {
    std::string_view rest = source;
    for (std::int32_t n = 1; n < number; ++n) rest.remove_prefix(std::min(rest.find('\n'), rest.size() - 1) + 1);
    rest = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    text +=
        fmt::format("{:>6} {:>6} {:>9}  {:<10} {}\n", number, line->text,
                    line->before ? fmt::format("{:.1f}", 100 * *line->before) : "-", gpu::name_of(line->phase), rest);
  }
  return text;
}

std::string text_of(const LabScene& scene, const Subject& s, const Loops& seconds) {
  std::string text = scene.headline + "\n";
  for (const std::string& words : scene.words) text += words.empty() ? "" : words + "\n";
  if (!scene.question.empty()) text += scene.question + "\n";
  for (const auto& [line, mark] : scene.marks)
    text += fmt::format("{} {}: {}\n", mark.error ? "error" : "warning", line, mark.words);
  const std::string build = gpu::words_of(s.lab.now.build);
  text += fmt::format("{} on {}{}\n", scene.name, scene.problem, build.empty() ? "" : ", " + build);
  for (const ProfileGroup& group : scene.groups)
    for (const ProfileFigure& f : group.figures)
      text += fmt::format("  {:<34} {:>14} {:>14} {:>8}\n", f.label, f.text, f.other, f.change.text);
  text += lines_text(scene, s.lab.now.text);
  text += seconds_text(tr("From source to row"), seconds.rows);
  text += seconds_text(tr("From source to samples by line"), seconds.lines);
  return text;
}

nlohmann::json json_of(const LabScene& scene, const Subject& s, const Loops& seconds) {
  const InEnglish recorded;
  nlohmann::json j{{"headline", scene.headline},
                   {"kernel", s.lab.kernel},
                   {"name", scene.name},
                   {"experiment", s.lab.experiment},
                   {"edit", measurement_to_json(*s.lab.tries.back().row, true)},
                   {"seconds", seconds.rows},
                   {"lines_seconds", seconds.lines}};
  if (s.lab.before) j["original"] = measurement_to_json(*s.lab.before, true);
  return j;
}

// The window's lab with this very edit in it.
Result<void> draw(const LabArguments& a, const Subject& s) {
  auto picture = a.picture.of_profile(ProfilePage::lab, {s.lab.kernel, s.lab.problem, {}, s.lab.arch});
  if (!picture) return tl::unexpected(picture.error());
  picture->lab = std::make_shared<const LabView>(s.lab);
  return take_picture(*picture, a.picture.png);
}

Result<int> lab(const LabArguments& a, Stopper& stopper) {
  if (a.list) return list_experiments(a.as_json);
  if (a.loop < 1 || a.loop > kMostLoops)
    return bad_input(phrase("Invalid --loop {}; use 1 to {}.", a.loop, kMostLoops));
  if (auto r = a.picture.check(); !r) return tl::unexpected(r.error());
  if (auto r = check_distinct({{"FILE.cu", a.kernel}}, {{"--png", a.picture.png}}); !r)
    return tl::unexpected(r.error());
  auto s = subject_of(a);
  if (!s) return tl::unexpected(s.error());
  if (a.picture.asked() && !find_kernel(s->lab.kernel, {})) return bad_input(tr_of(kLadderAlone));
  if (a.print_text) {
    const auto edit = gpu::edit_of(*s->original, s->lab.now.text, s->lab.now.build);
    if (!edit) return tl::unexpected(edit.error());
    if (auto r = print_data(gpu::file_text(**edit)); !r) return tl::unexpected(r.error());
    return 0;
  }
  GpuBench bench;
  bench.bring(s->named.own);
  // The original first: the worker is then as warm as in a window where somebody types.
  s->lab.before = sampled(
      a, bench.try_out(point_of(*s, std::string(s->original->id), {}), say_progress, stopper.token()), bench, stopper);
  const auto seconds = build(a, *s, bench, stopper);
  say_progress("");
  if (!seconds) return tl::unexpected(seconds.error());
  GpuView gpu;
  const LabScene scene = lab_scene(s->lab, gpu);
  if (auto r =
          a.as_json ? print_data(json_of(scene, *s, *seconds).dump(2) + "\n") : print(text_of(scene, *s, *seconds));
      !r)
    return tl::unexpected(r.error());
  if (a.picture.asked())
    if (auto r = draw(a, *s); !r) return tl::unexpected(r.error());
  const Measurement& m = *s->lab.tries.back().row;
  const bool wrong = m.verdict && outcome_of(*m.verdict) == Outcome::wrong;
  // Without a GPU what was compiled is all there is.
  const bool built =
      m.state == RowState::done || (m.state == RowState::refused && figure(m, "registers_count").available());
  return built && !wrong ? 0 : 1;
}

}  // namespace

Command add_lab(Parser program) {
  auto a = std::make_shared<LabArguments>();
  Parser parser =
      program.add_subcommand("lab", tr("Build, check and time a changed GPU kernel, and compare it with the original"));
  parser
      .add_option("kernel", a->kernel,
                  tr("Kernel from `attnscope list`, or a FILE.cu, either your own or saved by the lab"))
      ->type_name("ID");
  parser.add_option("--experiment", a->experiment, tr("Run a prepared experiment instead of a kernel"))
      ->type_name("ID");
  parser.add_flag("--list", a->list, tr("List the experiments with their questions, changes and answers"));
  parser.add_flag("--text", a->print_text, tr("Print the .cu file without trying it"));
  parser
      .add_option("--loop", a->loop,
                  tr("Build and measure this many times, with a different source each time; default: 1"))
      ->type_name("N");
  parser.add_flag("--no-sample", a->no_sample, tr("Skip the samples by line, which show where the warps wait"));
  a->picture.add_to(parser, tr("Save a picture of the lab with this build"));
  parser.add_option("--arch", a->arch, tr("Architecture to compile for without a GPU; default: sm_90a"))
      ->type_name("SM");
  a->problem.add_to(parser, "--scale");
  a->options.add_to(parser, false);
  a->build.add_to(parser);
  parser.add_flag("--json", a->as_json, tr("Print JSON"));
  parser.footer(
      tr("Default problem: H 16, L 4096, D 64, in the first type that the kernel supports. Exit code 1: the result is "
         "wrong or the build failed.\n"
         "Examples:\n"
         "  attnscope lab --list\n"
         "  attnscope lab --experiment pad_away\n"
         "  attnscope lab --experiment expf --text > expf.cu\n"
         "  attnscope lab flash_simt --tile 64x64 --maxrregcount 128\n"
         "  attnscope lab flash_simt --tile 64x64 --threads 128 --png lab.png\n"
         "  attnscope lab my_attention.cu --fast-math --l 1024"));
  return {parser, [a](Stopper& stopper) { return lab(*a, stopper); }};
}

}  // namespace attn::cli
