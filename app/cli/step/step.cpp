// attnscope step: a recording as text or JSON.
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "app/cli/arguments/command.h"
#include "app/cli/arguments/console_text.h"
#include "app/cli/arguments/problem_arguments.h"
#include "app/cli/step/step_text.h"
#include "app/state/inputs/document_inputs.h"
#include "app/system/assets.h"
#include "app/system/file_lock.h"
#include "app/worker/client.h"
#include "app/worker/record.h"
#include "kernels/base/files.h"
#include "kernels/base/text.h"
#include "kernels/gpu/rungs/trace/trace.h"
#include "kernels/ladder.h"
#include "kernels/recording/file/recording_file.h"
#include "kernels/recording/reading.h"
#include "kernels/recording/replay/replay.h"

namespace attn::cli {
namespace {

constexpr std::uint64_t kMaxTextBytes = 4 << 20;

struct StepArguments {
  DocumentArguments document;
  std::string attn, device;
  std::optional<std::int64_t> from, to;
  double time_limit = 0;
  bool as_json = false, force = false, raw = false;
};

// None for what is no regular file (/dev/null).
Result<std::optional<FileLock>> lock_for(const std::string& file) {
  std::error_code error;
  if (std::filesystem::exists(file, error) && !std::filesystem::is_regular_file(file, error)) return std::nullopt;
  auto lock = FileLock::of_file(file);
  if (!lock) return tl::unexpected(lock.error());
  return *std::move(lock);
}

// The window's own words; without them the steps are named by their phase.
StepTexts load_texts() {
  Result<StepTexts> texts = StepTexts{};
  for (const std::string_view name : kStepTextFiles) {
    auto file = find_asset(std::string(name));
    if (!file) {
      texts = tl::unexpected(file.error());
    } else if (const auto bytes = read_file(*file, kMaxTextBytes); !bytes) {
      texts = tl::unexpected(bytes.error());
    } else {
      texts = parse_step_texts({reinterpret_cast<const char*>(bytes->data()), bytes->size()}, *std::move(texts));
    }
    if (!texts) break;
  }
  if (texts) return *std::move(texts);
  say(phrase("attnscope: the sentences for the steps are omitted. {}", texts.error().message));
  return {};
}

struct Range {
  EventIndex first = 0, last = 0;
};

Result<Range> range_of(const StepArguments& a, const Recording& rec) {
  const auto steps = static_cast<std::int64_t>(rec.events.size());
  const std::int64_t from = a.from.value_or(1), to = a.to.value_or(steps);
  for (const auto& [option, step] : {std::pair("--from", from), std::pair("--to", to)}) {
    if (step < 1 || step > steps) {
      return bad_input(phrase("Invalid {} {}: this run has steps 1 to {}.", option, step, steps));
    }
  }
  if (from > to) return bad_input(phrase("--from {} is after --to {}.", from, to));
  return Range{static_cast<EventIndex>(from - 1), static_cast<EventIndex>(to - 1)};
}

Result<void> print_text(StepWriter& writer, const Range& range, const Recording& rec, const std::stop_token& stop) {
  if (auto r = print(writer.heading()); !r) return r;
  for (EventIndex e = range.first; e <= range.last; ++e) {
    if (stop.stop_requested()) return fail(ErrorKind::cancelled, "Cancelled.");
    if (auto r = print(writer.text(e)); !r) return r;
  }
  return range.last + 1 == rec.events.size() ? print(writer.summary()) : ok();
}

Result<void> print_json(StepWriter& writer, const Range& range, const std::stop_token& stop) {
  if (auto r = print_data("{" + writer.json_heading() + ",\n\"steps\": [\n"); !r) return r;
  for (EventIndex e = range.first; e <= range.last; ++e) {
    if (stop.stop_requested()) return fail(ErrorKind::cancelled, "Cancelled.");
    if (auto r = print_data(writer.json(e) + (e < range.last ? ",\n" : "\n")); !r) return r;
  }
  return print_data("],\n" + writer.json_summary() + "}\n");
}

// What the kernel held on a GPU. `attnscope step` alone: the window has tasks for this.
Result<Recording> record_on(std::int32_t index, const DocumentArguments& a, Document d, const std::stop_token& stop) {
  const auto row = find_kernel(a.kernel.empty() ? d.kernel : a.kernel);
  if (!row) return tl::unexpected(row.error());
  d.kernel = (*row)->id;
  d.options = gpu::smallest_tile(**row);  // a preset's is a CPU kernel's
  if (auto r = a.options.apply_to(d.options); !r) return tl::unexpected(r.error());
  if ((*row)->processor != Processor::gpu) {
    return bad_input(phrase("{} runs on the CPU; omit --device gpu, or name a GPU kernel.", d.kernel));
  }
  const auto inputs = document_inputs(d.problem, d.inputs, {});
  if (!inputs) return tl::unexpected(inputs.error());
  constexpr double kSeconds = 120;  // compilation included
  GpuClient client;
  const auto hello = client.hello({kSeconds, stop}, false);
  if (!hello) return tl::unexpected(hello.error());
  const auto place = static_cast<std::size_t>(index);
  if (place >= hello->gpus.size()) {
    return fail(ErrorKind::cannot_run, phrase("there is no GPU {}: this machine has {}.", index, hello->gpus.size()));
  }
  GpuRunRequest r;
  r.gpu = index;
  r.kernel = d.kernel;
  r.problem = d.problem;
  r.options = d.options;
  r.inputs = &*inputs;
  auto made = record_on_gpu(client, r, device_of(hello->gpus[place]), {kSeconds, stop});
  if (!made) return tl::unexpected(made.error());
  if (!made->same_bits) {
    return fail(ErrorKind::failed, phrase("{}: the recorded run and the plain run gave different bits.", d.kernel));
  }
  if (const auto difference = replay(made->recording, stop))
    say(phrase("attnscope: replay differs: {}", difference->words));
  made->recording.labels = labels_of(d.problem, d.inputs, {});
  return std::move(made->recording);
}

Result<int> print_steps(const StepArguments& a, Stopper& stopper) {
  const auto choice = choose_device(a.device);
  if (!choice) return tl::unexpected(choice.error());
  if (auto r = stopper.limit_time(a.time_limit); !r) return tl::unexpected(r.error());
  if (!a.attn.empty()) {
    if (a.attn == "-") return bad_input(tr("--attn -: cannot write .attn files to stdout; name a file."));
    if (auto r = check_writable("--attn", a.attn); !r) return tl::unexpected(r.error());
    std::error_code error;
    if (!a.force && std::filesystem::is_regular_file(a.attn, error)) {
      return bad_input(phrase("{} already exists; use --force to replace it, or name another file.", a.attn));
    }
  } else if (a.force) {
    return bad_input(tr("--force needs a session to replace; specify one with --attn."));
  }
  const bool on_gpu = choice->processor == Processor::gpu;
  const auto state = a.document.state_of(!on_gpu);
  if (!state) return tl::unexpected(state.error());
  if (auto r = check_distinct(input_files_of(*state), {{"--attn", a.attn}}); !r) return tl::unexpected(r.error());
  const auto held = on_gpu ? record_on(choice->index, a.document, state->document, stopper.token())
                           : record_document(state->document, stopper.token());
  if (!held) return tl::unexpected(held.error());
  const auto range = range_of(a, *held);
  if (!range) return tl::unexpected(range.error());
  if (!a.attn.empty()) {
    const auto lock = lock_for(a.attn);
    // Where no lock can be made the error is that of writing.
    if (!lock && lock.error().kind == ErrorKind::cannot_run) return tl::unexpected(lock.error());
    if (auto r = write_recording(a.attn, *held); !r) return tl::unexpected(r.error());
  }
  const Recording rec = a.raw || !differs_from_formulas(*held) ? *held : formula_reading(*held);
  StepWriter writer(rec, load_texts());
  const auto printed =
      a.as_json ? print_json(writer, *range, stopper.token()) : print_text(writer, *range, rec, stopper.token());
  if (!printed) return tl::unexpected(printed.error());
  return 0;
}

}  // namespace

Command add_step(Parser program) {
  auto a = std::make_shared<StepArguments>();
  Parser parser = program.add_subcommand("step", tr("Print every step of one run, as text or JSON"));
  a->document.add_to(parser);
  parser.add_option("--from", a->from, tr("First step, counted from 1 as in the window"))->type_name("N");
  parser.add_option("--to", a->to, tr("Last step"))->type_name("N");
  parser.add_flag("--json", a->as_json, tr("Print JSON with exact values instead of text"));
  parser.add_option("--attn", a->attn, tr("Also write the recording, to open in the window"))->type_name("FILE.attn");
  parser.add_flag("--raw", a->raw,
                  tr("GPU: print numbers as the kernel holds them (base 2, l per lane), not as in the formulas"));
  parser.add_flag("--force", a->force, tr("Overwrite the file in --attn"));
  parser.add_option("--time-limit", a->time_limit, tr("Stop after this many seconds; 0: no limit"))
      ->type_name("SECONDS");
  add_device(parser, a->device);
  parser.footer(tr(
      "Examples:\n  attnscope step --preset blackboard\n  attnscope step --preset late_outlier --kernel cpu_flash1 "
      "--from 30 --to 40\n  attnscope step --preset late_outlier --kernel flash_simt --tile 16x16 --device gpu --attn "
      "gpu.attn\n  attnscope step --lq 6 --lk 8 --d 4 --tile 2x4 --causal --generator normal --seed 7 --json"));
  return {parser, [a](Stopper& stopper) { return print_steps(*a, stopper); }};
}

}  // namespace attn::cli
