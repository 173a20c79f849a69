// attnscope bench: a sweep to CSV, JSON, a session file and a picture.
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/apply.h"
#include "app/cli/command.h"
#include "app/cli/problem_arguments.h"
#include "app/cli/text.h"
#include "app/picture.h"
#include "kernels/kernel.h"
#include "profiling/session.h"
#include "profiling/sweep.h"

namespace attn::cli {
namespace {

struct BenchArguments {
  std::string kernels, axis = "L", values, generator, verify = "sampled", memory_limit, device;
  std::string csv, json, attn, png;
  std::optional<std::uint64_t> seed;
  std::optional<std::int64_t> tokens;
  double time_limit = 1;
  std::int32_t repeats = 5;
  ProblemArguments problem;
  OptionArguments options;
};

Result<SweepSpec> spec_of(const BenchArguments& a) {
  SweepSpec s;
  s.base = initial_state().document.sweep.base;
  if (auto r = a.problem.apply_to(s.base); !r) return tl::unexpected(r.error());
  if (auto r = a.options.apply_to(s.options); !r) return tl::unexpected(r.error());
  if (a.kernels.empty()) {
    for (const KernelRow& row : kernel_table()) s.kernels.emplace_back(row.id);
  } else {
    s.kernels = split(a.kernels, ',');
  }
  const auto axis = axis_from_name(a.axis);
  if (!axis) return tl::unexpected(axis.error());
  s.axis = *axis;
  const auto values = parse_numbers("--values", a.values);
  if (!values) return tl::unexpected(values.error());
  s.values = *values;
  if (!a.generator.empty()) {
    const auto g = generator_from_name(a.generator);
    if (!g) return bad_input(fmt::format("--generator {} is unknown; normal is usual.", a.generator));
    s.generator = *g;
  }
  if (a.seed) s.seed = *a.seed;
  if (a.tokens) s.tokens = *a.tokens;
  s.seconds_per_point = a.time_limit;
  s.least_repeats = a.repeats;
  if (a.verify != "sampled" && a.verify != "full" && a.verify != "none") {
    return bad_input(fmt::format("--verify {} is unknown; use sampled, full or none.", a.verify));
  }
  s.verify = a.verify != "none";
  s.verify_full = a.verify == "full";
  const auto limit = memory_limit_of(a.memory_limit);
  if (!limit) return tl::unexpected(limit.error());
  s.memory_limit = *limit;
  if (auto r = validate(s); !r) return tl::unexpected(r.error());
  return s;
}

std::string row_words(const Measurement& m) {
  std::string words = fmt::format("{}, {}: ", m.key.kernel, describe(m.key.problem));
  if (m.state != RowState::done) return words + fmt::format("{}: {}", name_of(m.state), m.reason);
  words += fmt::format("{:.1f} us (quartiles {:.1f} to {:.1f}, n = {})", m.time.median, m.time.q1, m.time.q3, m.time.n);
  if (!m.verdict) return words + ", not verified";
  if (!m.verdict->pass) return words + ", WRONG: " + m.verdict->reason;
  return words + fmt::format(", right: error {:.2e} of {:.2e} allowed", m.verdict->error, m.verdict->allowed);
}

std::string time_words(double seconds) {
  return seconds < 0    ? ""
         : seconds < 90 ? fmt::format(", {:.0f} s left", seconds)
                        : fmt::format(", {:.0f} min left", seconds / 60);
}

Result<void> write_picture(const SweepSpec& spec, const Session& session, const std::string& file) {
  PictureSpec picture;
  picture.state = initial_state();
  picture.state.document.sweep = spec;
  picture.state.view.workspace = Workspace::bench;
  picture.measurements = session.measurements;
  picture.provenance = session.provenance;
  return take_picture(picture, file);
}

// Every output that can be written is, whatever the others do; the first failure is told.
Result<void> write_outputs(const BenchArguments& a, const SweepSpec& spec, const Session& session) {
  Result<void> first = ok();
  const auto keep = [&first](const Result<void>& r) {
    if (!r && first) {
      first = r;
    } else if (!r) {
      say("attnscope: " + r.error().message);
    }
  };
  const bool nowhere = a.csv.empty() && a.json.empty() && a.attn.empty() && a.png.empty();
  if (nowhere || !a.csv.empty()) keep(write_text(nowhere ? "-" : a.csv, to_csv(session)));
  if (!a.json.empty()) keep(write_text(a.json, to_json(session)));
  if (!a.attn.empty()) keep(write_session(a.attn, session));
  if (!a.png.empty()) keep(write_picture(spec, session, a.png));
  return first;
}

Result<int> exit_of(const std::vector<Measurement>& rows) {
  std::size_t wrong = 0, done = 0;
  for (const Measurement& m : rows) {
    if (m.state == RowState::failed || (m.verdict && !m.verdict->pass)) ++wrong;
    if (m.state == RowState::done) ++done;
    if (m.state == RowState::cancelled) return fail(ErrorKind::cancelled, "Cancelled; the finished rows were kept.");
  }
  if (wrong > 0) return fail(ErrorKind::failed, fmt::format("{} of {} rows failed or are wrong.", wrong, rows.size()));
  if (done == 0) return fail(ErrorKind::cannot_run, "No point could be measured; each row says why.");
  return 0;
}

Result<int> bench(const BenchArguments& a, Stopper& stopper) {
  if (auto r = check_device(a.device); !r) return tl::unexpected(r.error());
  const auto spec = spec_of(a);
  if (!spec) return tl::unexpected(spec.error());
  int to_stdout = 0;
  for (const auto& [option, file] : {std::pair("--csv", a.csv), std::pair("--json", a.json),
                                     std::pair("--attn", a.attn), std::pair("--png", a.png)}) {
    if (file.empty()) continue;
    if (file == "-" && (option == std::string_view("--attn") || option == std::string_view("--png"))) {
      return bad_input(fmt::format("{} - is not written to stdout; name a file.", option));
    }
    to_stdout += file == "-" ? 1 : 0;
    if (auto r = check_writable(option, file); !r) return tl::unexpected(r.error());
  }
  if (to_stdout > 1) return bad_input("--csv - and --json - cannot both go to stdout.");

  say(estimate(*spec).words);
  Session session;
  SweepCallbacks callbacks;
  callbacks.progress = [](const SweepProgress& p) {
    say_progress(fmt::format("{}/{}  {}{}", p.done, p.total, p.now, time_words(p.seconds_left)));
  };
  callbacks.row = [&](const Measurement& m) {
    say(row_words(m));
    session.measurements.push_back(m);
    // A sweep that is killed leaves the rows so far.
    if (!a.attn.empty()) {
      session.provenance = provenance_here();
      if (const auto r = write_session(a.attn, session); !r) say("attnscope: " + r.error().message);
    }
  };
  auto rows = run_sweep(*spec, callbacks, stopper.token());
  say_progress("");
  if (!rows) return tl::unexpected(rows.error());
  session.measurements = *std::move(rows);
  session.provenance = provenance_here();
  if (auto r = write_outputs(a, *spec, session); !r) return tl::unexpected(r.error());
  if (stopper.token().stop_requested()) return fail(ErrorKind::cancelled, "Cancelled; the finished rows were kept.");
  return exit_of(session.measurements);
}

void add_outputs(CLI::App& parser, BenchArguments& a) {
  parser.add_option("--csv", a.csv, "Rows as CSV; - or nothing at all: to stdout")->type_name("FILE");
  parser.add_option("--json", a.json, "Rows with every sample as JSON; -: to stdout")->type_name("FILE");
  parser.add_option("--attn", a.attn, "A session for the window to open, kept up to date while it runs")
      ->type_name("FILE.attn");
  parser.add_option("--png", a.png, "A picture of the Bench workspace")->type_name("FILE.png");
}

}  // namespace

Command add_bench(CLI::App& program) {
  auto a = std::make_shared<BenchArguments>();
  CLI::App* parser = program.add_subcommand("bench", "Time kernels along one axis");
  parser->add_option("--kernels", a->kernels, "Some of `attnscope list`; left out: all")->type_name("ID,ID,...");
  parser->add_option("--axis", a->axis, "L, B, H, D, br, bc or threads; left out: L")->type_name("NAME");
  parser->add_option("--values", a->values, "Where on the axis")->required()->type_name("N,N,...");
  parser->add_option("--tokens", a->tokens, "With axis L: B = tokens / L")->type_name("N");
  parser->add_option("--generator", a->generator, "How the numbers are made; left out: normal")->type_name("NAME");
  parser->add_option("--seed", a->seed, "Of the generator")->type_name("N");
  parser->add_option("--repeats", a->repeats, "Repeats of a point, at least")->type_name("N");
  parser->add_option("--verify", a->verify, "Rows that are checked: sampled, full or none")->type_name("WHICH");
  parser->add_option("--time-limit", a->time_limit, "Of the repeats of one point; left out: 1")->type_name("SECONDS");
  parser->add_option("--memory-limit", a->memory_limit, "Refuse points that take more; left out: what is free")
      ->type_name("BYTES");
  add_device(*parser, a->device);
  a->problem.add_to(*parser, "--scale");
  a->options.add_to(*parser, true);
  add_outputs(*parser, *a);
  parser->footer(
      "Ctrl+C ends the sweep and writes the finished rows.\n"
      "Examples:\n"
      "  attnscope bench --kernels cpu_multicore,cpu_flash --axis L --values 512,1024,2048 --csv sweep.csv\n"
      "  attnscope bench --axis bc --values 16,32,64,128 --kernels cpu_flash --lq 1024 --d 128 --causal --json -");
  return {parser, [a](Stopper& stopper) { return bench(*a, stopper); }};
}

}  // namespace attn::cli
