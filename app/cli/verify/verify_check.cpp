#include "app/cli/verify/verify_check.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/cli/arguments/console_text.h"
#include "app/worker/record.h"
#include "kernels/base/bytes.h"
#include "kernels/base/clock.h"
#include "kernels/base/text.h"
#include "kernels/cpu/backward/forward.h"
#include "kernels/cpu/run.h"
#include "kernels/cpu/thread_crew.h"
#include "kernels/judge/verdict.h"
#include "kernels/model/fits.h"
#include "kernels/model/problem/tensor_bytes.h"
#include "kernels/recording/file/recording_file.h"
#include "kernels/recording/replay/replay.h"
#include "profiling/measure/source_now.h"
#include "profiling/tune/store.h"

namespace attn::cli {
namespace {

// The case with its answer to compare with, worked out once for all kernels.
struct Prepared {
  std::uint64_t memory_limit = 0;  // what the reference leaves to the kernels; 0 = what is free
  Inputs in;
  RowSample sample;
  ReferenceRows reference;
};

Result<Prepared> prepare(const CheckCase& c, const Check& check, const std::stop_token& stop) {
  Prepared p;
  const std::uint64_t room = check.memory_limit != 0 ? check.memory_limit : free_memory();
  const std::uint64_t tensors = tensor_bytes(c.problem);
  const std::uint64_t reference_takes = reference_bytes(c.problem, check.arguments->rows == "full", 0);
  if (tensors > room || reference_takes > room - tensors) {
    return fail(ErrorKind::cannot_run,
                phrase("its tensors need {}, checking the output needs {}, and the limit is {}", format_bytes(tensors),
                       format_bytes(reference_takes), format_bytes(room)));
  }
  if (check.memory_limit != 0) p.memory_limit = check.memory_limit - reference_takes;
  auto in = inputs_of(c);
  if (!in) return tl::unexpected(in.error());
  p.in = *std::move(in);
  cpu::ThreadCrew crew(check.device.cores);
  const std::uint64_t left = check.memory_limit == 0 ? 0 : std::max<std::uint64_t>(1, p.memory_limit);
  if (auto added = add_forward(c.problem, p.in, left, Stream{stop, nullptr, &crew}); !added)
    return tl::unexpected(added.error());
  if (check.arguments->traced) return p;  // the plain run is what it is held against
  p.sample = choose_rows(c.problem, check.arguments->rows == "full");
  auto reference = reference_rows(c.problem, p.in, p.sample.rows, 0, stop);
  if (!reference) return tl::unexpected(reference.error());
  p.reference = *std::move(reference);
  return p;
}

// A kernel's answer; on a GPU all repeats at once.
struct Answer {
  Outputs outputs;
  bool same_bits = true;
};

double gpu_seconds(const Check& check) {
  return check.arguments->hang_limit > 0 ? check.arguments->hang_limit : kGpuSecondsOfCase;
}

// `repeats`: on a GPU.
Result<Answer> answer_of(const KernelRow& row, const CheckCase& c, const Prepared& prepared, const Check& check,
                         std::int32_t repeats, const std::stop_token& stop) {
  if (check.gpu == nullptr) {
    auto out = run_on_cpu(row, c.problem, check.options, prepared.in, prepared.memory_limit, stop);
    if (!out) return tl::unexpected(out.error());
    return Answer{std::move(*out), true};
  }
  GpuRunRequest r;
  r.gpu = check.choice.index;
  r.kernel = row.id;
  r.problem = c.problem;
  r.options = check.options;
  r.inputs = &prepared.in;
  r.repeats = repeats;
  r.memory_limit = check.memory_limit;
  auto answer = check.gpu->run(r, {gpu_seconds(check), stop});
  if (!answer) return tl::unexpected(answer.error());
  return Answer{std::move(answer->outputs), answer->same_bits};
}

// A run that records itself: the plain run's bits, and a record that a replay agrees with. As try_kernel().
Result<std::string> try_traced(const KernelRow& row, const CheckCase& c, const Prepared& prepared, const Check& check,
                               const std::stop_token& stop, Tally& tally) {
  GpuRunRequest r;
  r.gpu = check.choice.index;
  r.kernel = row.id;
  r.problem = c.problem;
  r.options = check.options;
  r.inputs = &prepared.in;
  r.memory_limit = check.memory_limit;
  const auto made = record_on_gpu(*check.gpu, r, check.device, {gpu_seconds(check), stop});
  if (!made) {
    if (made.error().kind == ErrorKind::failed) return made.error().message;
    return tl::unexpected(made.error());
  }
  tally.plain_us += made->plain_us;
  tally.traced_us += made->traced_us;
  if (!made->same_bits) return tr("the recorded run and the plain run gave different bits");
  if (auto good = check_recording(made->recording, tr("its recording")); !good) return good.error().message;
  const auto difference = replay(made->recording, stop);
  if (stop.stop_requested()) return fail(ErrorKind::cancelled, "Cancelled.");
  return difference ? phrase("replay differs: {}", difference->words) : std::string();
}

double share_of(double error, double allowed) {
  if (!std::isfinite(error)) return HUGE_VAL;
  return allowed > 0 ? error / allowed : (error > 0 ? HUGE_VAL : 0);
}

void count_outputs(const Verdict& v, Tally& tally) {
  for (const OutputVerdict& j : v.outputs) {
    WorstOf& worst = tally.outputs[j.tensor];
    if (const double ratio = share_of(j.error, j.allowed); ratio > worst.ratio) worst = {ratio, j.error, j.allowed};
  }
}

// One run of a kernel on one case, or `repeats` that must give the same bits. The value is what is wrong with it; empty
// = nothing.
Result<std::string> try_run(const KernelRow& row, const CheckCase& c, const Prepared& prepared, const Check& check,
                            std::int32_t repeats, const std::stop_token& stop, Tally& tally) {
  const auto answer = answer_of(row, c, prepared, check, repeats, stop);
  if (!answer) {
    // A launch that broke is a wrong kernel, not one that does not take the problem.
    if (answer.error().kind == ErrorKind::failed) return answer.error().message;
    return tl::unexpected(answer.error());
  }
  const Verdict v = judge(c.problem, prepared.in, prepared.reference, answer->outputs, prepared.sample);
  if (makes_gradients(c.problem.pass)) count_outputs(v, tally);
  const double ratio = share_of(v.error(), v.allowed());
  if (ratio > tally.worst) {
    tally.worst = ratio;
    tally.error = v.error();
    tally.allowed = v.allowed();
    tally.worst_case = describe(c);
  }
  if (v.not_judged) {
    ++tally.not_judged;
    ++tally.unjudged[v.reason];
  } else if (!v.pass) {
    return v.reason + " (" + v.sample + ")";
  }
  if (!answer->same_bits) return tr("a repeat and the first run gave different bits");
  for (std::int32_t n = 1; check.gpu == nullptr && n < repeats; ++n) {
    const auto again = run_on_cpu(row, c.problem, check.options, prepared.in, prepared.memory_limit, stop);
    if (!again) return tl::unexpected(again.error());
    if (!same_bits(answer->outputs, *again)) return phrase("repeat {} and the first run gave different bits", n);
  }
  return std::string();
}

// Where blocks add in whatever order they come each run has bits of its own, and is held against the reference.
Result<std::string> try_kernel(const KernelRow& row, const CheckCase& c, const Prepared& prepared, const Check& check,
                               const std::stop_token& stop, Tally& tally) {
  const std::int32_t repeats = check.arguments->repeats;
  if (repeats_bits(row, check.options)) return try_run(row, c, prepared, check, repeats, stop, tally);
  Result<std::string> wrong;
  for (std::int32_t n = 0; n < repeats && wrong && wrong->empty(); ++n) {
    const std::int64_t not_judged = tally.not_judged;
    wrong = try_run(row, c, prepared, check, 1, stop, tally);
    if (tally.not_judged != not_judged) break;
  }
  return wrong;
}

// Sets the options of the case: with --tile tuned the tile that was kept for it. The reason why there is none is the
// same for all cases, so that the summary counts them in one line; a file that is refused is named.
Result<void> take_options(const KernelRow& row, const CheckCase& c, Check& check) {
  if (!check.arguments->options.tuned()) return ok();
  Options asked;
  if (auto r = check.arguments->options.apply_to(asked); !r) return r;
  if (tile_from(row, asked, true).empty())
    return fail(ErrorKind::cannot_run, tr("the tile is set to tuned, but this kernel has no tile"));
  const TunedKey key = tuned_key(row, c.problem, check.device, source_hash_now(row, c.problem), check.compiler);
  const auto with = tuned_options(tuned_folder(), key, row, c.problem, asked, check.device);
  if (!with && with.error().kind == ErrorKind::cannot_run)
    return fail(ErrorKind::cannot_run,
                phrase("the tile is set to tuned, but there is no tuned tile for this problem; run `attnscope tune {}`",
                       row.id));
  if (!with) return tl::unexpected(with.error());
  check.options = *with;
  return ok();
}

}  // namespace

Result<void> check_case(const CheckCase& c, Check& check, const std::stop_token& stop) {
  const auto prepared = prepare(c, check, stop);
  if (!prepared) {
    if (prepared.error().kind == ErrorKind::cancelled) return tl::unexpected(prepared.error());
    ++check.case_skips[describe(c) + ": " + prepared.error().message];
    for (const KernelRow* row : check.kernels) ++check.tallies[{row->id, c.problem.dtype}].skipped;
    return ok();
  }
  for (const KernelRow* row : check.kernels) {
    Tally& tally = check.tallies[{row->id, c.problem.dtype}];
    const std::int64_t not_judged_before = tally.not_judged;
    auto takes = check.hung.contains(row->id)
                     ? fail(ErrorKind::cannot_run, tr("not tried: an earlier case did not respond"))
                     : take_options(*row, c, check);
    if (takes) takes = row->supports(*row, c.problem, check.options, check.device);
    const auto attempt = check.arguments->traced ? try_traced : try_kernel;
    const double begin = steady_seconds();
    const auto wrong =
        takes ? attempt(*row, c, *prepared, check, stop, tally) : Result<std::string>(tl::unexpected(takes.error()));
    if (!wrong) {
      if (wrong.error().kind == ErrorKind::cancelled) return tl::unexpected(wrong.error());
      ++tally.skipped;
      ++tally.skips[wrong.error().message];
    } else if (wrong->empty()) {
      if (tally.not_judged == not_judged_before) ++tally.passed;
    } else {
      ++tally.failed;
      if (check.gpu != nullptr && steady_seconds() - begin >= gpu_seconds(check)) check.hung.insert(row->id);
      const std::string line = phrase("FAIL {} on {}: {}\n", row->id, describe(c), *wrong);
      if (auto r = print(line); !r) return r;
    }
  }
  return ok();
}

std::string summary(const Check& check) {
  std::size_t width = 6;
  for (const auto& [key, tally] : check.tallies) width = std::max(width, key.first.size());
  std::string text =
      fmt::format("{:<{}} {:<5} {:>6} {:>6} {:>7}  {:>9} {:>9}  {:>5}  {}\n", "kernel", width, "dtype", "passed",
                  "failed", "skipped", "error", "allowed", "ratio", tr("where the ratio is worst"));
  for (const KernelRow* row : check.kernels) {
    for (const auto& [key, t] : check.tallies) {
      if (key.first != row->id) continue;
      text += fmt::format("{:<{}} {:<5} {:>6} {:>6} {:>7}  ", key.first, width, name_of(key.second), t.passed, t.failed,
                          t.skipped);
      text += t.worst < 0 ? fmt::format("{:>9} {:>9}  {:>5}\n", "-", "-", "-")
                          : fmt::format("{:>9.2e} {:>9.2e}  {:>5.2f}  {}\n", t.error, t.allowed, t.worst, t.worst_case);
      for (const auto& [tensor, w] : t.outputs) {
        text += fmt::format("{:<{}} {:<5} {:>22}  {:>9.2e} {:>9.2e}  {:>5.2f}\n", "", width, "", name_of(tensor),
                            w.error, w.allowed, w.ratio);
      }
    }
  }
  for (const auto& [key, t] : check.tallies) {
    if (t.traced_us <= 0) continue;
    text += phrase("{} {} took {:.1f} µs with recording and {:.1f} µs without: {:.1f} times as long\n", key.first,
                   name_of(key.second), t.traced_us, t.plain_us, t.traced_us / t.plain_us);
  }
  for (const auto& [key, t] : check.tallies) {
    for (const auto& [reason, count] : t.skips) {
      text += plural(count, "skipped {} case of {} {}: {}\n", "skipped {} cases of {} {}: {}\n", key.first,
                     name_of(key.second), reason);
    }
    for (const auto& [reason, count] : t.unjudged) {
      text += plural(count, "{} case of {} {} {}\n", "{} cases of {} {} {}\n", key.first, name_of(key.second), reason);
    }
  }
  for (const auto& [reason, count] : check.case_skips) text += phrase("skipped {}\n", reason);
  return text;
}

}  // namespace attn::cli
