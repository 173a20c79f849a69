// attnscope museum: the kernels that are wrong on purpose, run and examined.
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/cli/arguments/command.h"
#include "app/cli/arguments/console_text.h"
#include "app/state/apply/apply.h"
#include "app/state/string/state_string.h"
#include "app/system/child_process.h"
#include "app/system/posix.h"
#include "app/worker/client.h"
#include "kernels/base/files.h"
#include "kernels/base/folders.h"
#include "kernels/base/hash.h"
#include "kernels/base/text.h"
#include "kernels/cpu/backward/forward.h"
#include "kernels/gpu/compile/sources.h"
#include "kernels/judge/first_wrong/first_wrong.h"
#include "kernels/judge/verdict.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/museum/museum.h"
#include "kernels/museum/right_run.h"
#include "kernels/museum/run_verdict.h"

namespace attn::cli {
namespace {

struct MuseumArguments {
  std::string piece, seed;
  std::int32_t runs = 100;
  double time_limit = 0;
  bool source = false;
};

Result<void> print_list() {
  std::string text = fmt::format("{:<24} {:<11} {}\n", "piece", tr("based on"), tr("symptom"));
  for (const Piece& p : museum()) text += fmt::format("{:<24} {:<11} {}\n", p.id, p.right, tr_of(p.symptom));
  text +=
      tr("Each piece is a correct kernel with one change, and it actually runs. `attnscope museum PIECE` runs and "
         "examines one piece.\n");
  return print(text);
}

std::string heading(const Piece& p) {
  return phrase(
      "{}: {}\n"
      "Deliberately wrong: based on {} ({}).\n"
      "{}\n",
      p.id, tr_of(p.title), p.right, p.patch->source, tr_of(p.symptom));
}

std::string ending(const Piece& p) {
  return phrase("The bug         {}\nHidden          {}\nPatch of {}:\n{}", tr_of(p.bug), tr_of(p.hidden),
                p.patch->source, patch_text(*p.patch));
}

std::string verdict_words(const Verdict& v) {
  std::string words(name_of(outcome_of(v)));
  if (!v.reason.empty()) words += ": " + v.reason;
  return words;
}

// The patched text of a CUDA piece.
Result<std::string> source_of(const Piece& p) {
  const auto source = gpu::kernel_source(p.right, {});
  if (!source) return tl::unexpected(source.error());
  return patched(*p.patch, source->text);
}

Result<int> print_source(const Piece& p) {
  if (p.row != nullptr) {
    return bad_input(
        phrase("--source prints CUDA source, but {} is C++ and already compiled in. The piece differs from {} only in "
               "its patch.",
               p.id, p.patch->source));
  }
  const auto text = source_of(p);
  if (!text) return tl::unexpected(text.error());
  if (auto r = print(*text); !r) return tl::unexpected(r.error());
  return 0;
}

InputSpec inputs_of(const Piece& p, std::uint64_t seed) {
  InputSpec spec;
  spec.generator = p.generator;
  spec.seed = seed;
  return spec;
}

std::string numbers_words(const Piece& p, std::uint64_t seed) {
  const std::string tile = p.options.br > 0 ? phrase(", tile {} x {}", p.options.br, p.options.bc) : "";
  return phrase("{}{}, {} numbers, seed {}", describe(p.problem), tile, name_of(p.generator), seed);
}

// A state string that opens the piece in the window, at the step that was found.
std::string window_words(const Piece& p, std::uint64_t seed, const std::optional<FirstWrong>& first) {
  auto state = apply(initial_state(), ShowPiece{std::string(p.id)}, nullptr);
  if (!state) return {};
  state->document.inputs.seed = seed;
  if (first) state->view.step.cursor = first->event;
  const auto text = state_string(*state);
  return text ? phrase("In the window    attnscope --state {}\n", *text) : "";
}

// ---- on the CPU

Result<int> examine(const Piece& p, std::uint64_t seed, const std::stop_token& stop) {
  const auto inputs = make_all_inputs(p.problem, inputs_of(p, seed), in_turn, 0, Stream{});
  if (!inputs) return tl::unexpected(inputs.error());
  const auto rec = p.row->record(*p.row, p.problem, p.options, *inputs, stop);
  if (!rec) return tl::unexpected(rec.error());
  const auto right = right_run(*rec, stop);
  if (!right) return tl::unexpected(right.error());
  const auto verdict = verdict_of(*rec, stop), right_verdict = verdict_of(*right, stop);
  if (!verdict) return tl::unexpected(verdict.error());
  if (!right_verdict) return tl::unexpected(right_verdict.error());
  const auto found = find_first_wrong(*rec, *right, stop);
  if (!found) return tl::unexpected(found.error());
  std::string text = heading(p);
  text += phrase("Run here on     {}: {} steps\n", numbers_words(p, seed), rec->events.size());
  text += phrase("Verdict         {}\n", verdict_words(*verdict));
  text += phrase("{:<15} {}, on the same numbers\n", right->kernel, verdict_words(*right_verdict));
  if (const auto& first = *found) {
    text += phrase("First wrong     {}\n                {}\n", place_words(*first), spread_words(*first));
    text += phrase("Likely cause    {}\n",
                   first->cause.empty() ? tr("No known cause fits; look at the step's operands.") : first->cause);
  } else {
    text += tr("First wrong     No step: the bug does not show up with these numbers.\n");
  }
  text += ending(p) + window_words(p, seed, *found);
  if (auto r = print(text); !r) return tl::unexpected(r.error());
  return 0;
}

// ---- on a GPU

// The worker takes the patched text for an edited copy of the kernel, from a folder of the museum's own.
Result<std::filesystem::path> put_source(const Piece& p) {
  const auto text = source_of(p);
  if (!text) return tl::unexpected(text.error());
  const auto cache = cache_folder();
  if (cache.empty()) return fail(ErrorKind::cannot_run, tr("there is no cache folder for its source; set HOME"));
  const auto folder = cache / "museum" / std::string(p.id);
  if (auto made = make_folder(folder); !made) return tl::unexpected(made.error());
  const auto bytes = std::as_bytes(std::span(*text));
  if (auto r = write_file_atomically(folder / fmt::format("{}.cu", p.right), bytes); !r)
    return tl::unexpected(r.error());
  return folder;
}

struct GpuTally {
  std::int32_t wrong = 0, runs = 0;
  std::set<std::string> answers;  // hashes of O's bits
  std::string first;              // of the first wrong run
  std::string cause;
};

Result<GpuTally> run_on_gpu(const Piece& p, std::uint64_t seed, std::int32_t runs, GpuClient& client,
                            const std::stop_token& stop) {
  constexpr double kSecondsOfRun = 120;  // compilation is in the first
  const auto inputs = make_inputs(p.problem, inputs_of(p, seed));
  if (!inputs) return tl::unexpected(inputs.error());
  const RowSample sample = choose_rows(p.problem, false);
  const auto reference = reference_rows(p.problem, *inputs, sample.rows, 0, stop);
  if (!reference) return tl::unexpected(reference.error());
  GpuRunRequest request;
  request.kernel = p.right;
  request.problem = p.problem;
  request.options = p.options;
  request.inputs = &*inputs;
  GpuTally tally;
  for (; tally.runs < runs; ++tally.runs) {
    const auto answer = client.run(request, {kSecondsOfRun, stop});
    if (!answer) return tl::unexpected(answer.error());
    const Outputs& out = answer->outputs;
    tally.answers.insert(hash_of(std::span(out.out.data(), out.out.bytes())));
    const Verdict v = judge(p.problem, *inputs, *reference, out, sample);
    if (v.pass) continue;
    if (tally.wrong++ > 0) continue;
    tally.first = verdict_words(v);
    const auto first = find_first_wrong_result(p.problem, *reference, out, v.allowed(), v.lse_allowed());
    if (first) tally.first += "\n                " + place_words(*first);
    if (first) tally.cause = first->cause;
  }
  return tally;
}

Result<int> examine_on_gpu(const Piece& p, std::uint64_t seed, std::int32_t runs, const std::stop_token& stop) {
  if (auto r = print(heading(p) + ending(p)); !r) return tl::unexpected(r.error());
  const auto folder = put_source(p);
  if (!folder) return tl::unexpected(folder.error());
  GpuClient client([&folder] {
    return Child::start({"ATTNSCOPE_KERNELS=" + folder->string(), executable_path().string(), "worker"},
                        "/usr/bin/env");
  });
  constexpr double kSecondsToStart = 60;
  const auto hello = client.hello({kSecondsToStart, stop}, false);
  const std::string needs =
      phrase("{} is a CUDA kernel: it needs an NVIDIA GPU to run, and no recording can replace a run. ", p.id);
  if (!hello) return fail(hello.error().kind, needs + hello.error().message);
  if (hello->gpus.empty()) return fail(ErrorKind::cannot_run, phrase("{}This machine has no NVIDIA GPU.", needs));
  if (hello->compiler.empty()) return fail(ErrorKind::cannot_run, needs + hello->compiler_error);
  const auto tally = run_on_gpu(p, seed, runs, client, stop);
  if (!tally) return tl::unexpected(tally.error());
  std::string text = phrase("Run on          {}: {}\n", hello->gpus.front().name, numbers_words(p, seed));
  text += phrase("Verdict         {} of {} runs are wrong, with {} different results\n", tally->wrong, tally->runs,
                 tally->answers.size());
  if (!tally->first.empty()) text += phrase("First wrong     {}\n", tally->first);
  if (!tally->cause.empty()) text += phrase("In common       {}\n", tally->cause);
  text += tr("A GPU run is not recorded step by step, so the first wrong step is unknown.\n");
  if (auto r = print(text); !r) return tl::unexpected(r.error());
  return 0;
}

Result<int> show(const MuseumArguments& a, Stopper& stopper) {
  if (auto r = stopper.limit_time(a.time_limit); !r) return tl::unexpected(r.error());
  if (a.runs < 1) return bad_input(phrase("--runs {} must be at least 1.", a.runs));
  if (a.piece.empty()) {
    if (a.source || !a.seed.empty()) return bad_input(tr("--seed and --source apply to one piece; name the piece."));
    if (auto r = print_list(); !r) return tl::unexpected(r.error());
    return 0;
  }
  const auto piece = find_piece(a.piece);
  if (!piece) return tl::unexpected(piece.error());
  const Piece& p = **piece;
  if (a.source) return print_source(p);
  std::uint64_t seed = p.seed;
  if (!a.seed.empty()) {
    const auto number = parse_seed(a.seed, std::numeric_limits<std::uint64_t>::max());
    if (!number) return tl::unexpected(number.error());
    seed = *number;
  }
  return p.row != nullptr ? examine(p, seed, stopper.token()) : examine_on_gpu(p, seed, a.runs, stopper.token());
}

}  // namespace

Command add_museum(Parser program) {
  auto a = std::make_shared<MuseumArguments>();
  Parser parser =
      program.add_subcommand("museum", tr("Examine deliberately wrong kernels: verdict, first wrong step and cause"));
  parser.add_option("piece", a->piece, tr("Piece to examine; default: list all pieces"))->type_name("PIECE");
  parser.add_option("--seed", a->seed, tr("Seed for the numbers; default: the piece's own"))->type_name("N");
  parser.add_option("--runs", a->runs, tr("Number of runs of a CUDA piece on the GPU; default: 100"))->type_name("N");
  parser.add_flag("--source", a->source,
                  tr("Print the whole patched source of a CUDA piece, to compile as an edited copy"));
  parser.add_option("--time-limit", a->time_limit, tr("Stop after this many seconds; 0: no limit"))
      ->type_name("SECONDS");
  parser.footer(
      tr("C++ pieces run on any machine. CUDA pieces need an NVIDIA GPU; without one, the exit code is "
         "3.\n"
         "Examples:\n"
         "  attnscope museum\n"
         "  attnscope museum alpha_on_l_only --seed 7\n"
         "  attnscope museum missing_barrier --source"));
  return {parser, [a](Stopper& stopper) { return show(*a, stopper); }};
}

}  // namespace attn::cli
