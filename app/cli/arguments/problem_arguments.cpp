#include "app/cli/arguments/problem_arguments.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/arguments/console_text.h"
#include "app/state/apply/apply.h"
#include "app/state/string/state_string.h"
#include "kernels/base/text.h"
#include "kernels/formats/npy.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/model/kernel.h"
#include "kernels/model/problem/pages.h"
#include "kernels/model/problem/validate.h"
#include "kernels/museum/museum.h"

namespace attn::cli {
namespace {

Result<DType> parse_dtype(const std::string& option, const std::string& name) {
  if (const auto t = dtype_from_name(name)) return *t;
  return bad_input(phrase("Unknown {} {}; use f32, f16 or bf16.", option, name));
}

// A shape that follows Lq and Lk where they change.
void let_bias_follow(const Problem& before, Problem& p) {
  if (p.bias_shape.size() != 4) return;
  const std::int64_t old[4] = {before.B, before.Hq, before.Lq, before.Lk};
  const std::int64_t now[4] = {p.B, p.Hq, p.Lq, p.Lk};
  for (std::size_t axis = 0; axis < 4; ++axis) {
    if (p.bias_shape[axis] == old[axis] && p.bias_shape[axis] != 1) p.bias_shape[axis] = now[axis];
  }
}

// A kernel that can be recorded and walks as this one does.
std::string_view recorded_like(const std::string& id) {
  const auto wanted = find_kernel(id);
  std::string_view like = "cpu_flash";
  for (const KernelRow* row : ladder()) {
    if (wanted && row->record != nullptr && row->order == (*wanted)->order) like = row->id;
  }
  return like;
}

// --set NAME=VALUE.
struct GivenSetting {
  const Option* option = nullptr;
  std::optional<std::int64_t> value;  // none: auto
};

Result<GivenSetting> setting_of(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos)
    return bad_input(phrase("Invalid --set {}; use NAME=VALUE, such as br=64 or stages=auto.", text));
  const auto option = find_option(std::string_view(text).substr(0, equals));
  if (!option) return bad_input(phrase("--set {}: {}.", text, option.error().message));
  const auto value = value_from_text(**option, std::string_view(text).substr(equals + 1));
  if (!value) return bad_input(phrase("--set {}: {}.", text, value.error().message));
  return GivenSetting{*option, *value};
}

// "flash_mma declares br (16 to 256 in steps of 16), stages (1 to 4)."
std::string declared_by(std::span<const KernelRow* const> rows) {
  std::string words;
  for (const KernelRow* row : rows)
    words += phrase("{}{} declares {}.", words.empty() ? "" : " ", row->id, declared_words(*row));
  return words;
}

// Refused where every one of these kernels that reads it refuses the value: a sweep shows the others' own refusals.
Result<void> check_taken(const GivenSetting& setting, std::span<const KernelRow* const> rows) {
  std::string words;
  for (const KernelRow* row : rows) {
    const OptionSpec* spec = spec_of(*row, *setting.option);
    if (spec == nullptr) continue;
    if (!setting.value || spec->takes(*setting.value)) return ok();
    words += phrase(" {} takes {}.", row->id, range_words(*spec));
  }
  if (words.empty()) return ok();
  return bad_input(phrase("--set {}={}:{}", setting.option->name, value_text(*setting.option, *setting.value), words));
}

Result<State> changed(const State& state, const StateCommand& command) {
  return apply(state, command, nullptr);
}

}  // namespace

void MaskArguments::add_to(Parser parser) {
  parser.add_flag("--causal", causal, tr("Mask the keys after each query's position (aligned bottom-right)"));
  parser
      .add_option("--window", window,
                  tr("Number of keys visible before and after each query's position; -1: unlimited"))
      ->type_name("LEFT,RIGHT");
  parser
      .add_option("--key-lengths", key_lengths,
                  tr("Number of keys in each batch; the rest are masked, but their rows of V must be finite because 0 "
                     "x NaN is NaN"))
      ->type_name("N0,N1,...");
}

Result<void> MaskArguments::apply_to(Mask& mask) const {
  if (causal) mask.causal = true;
  if (!window.empty()) {
    const auto sides = parse_numbers("--window", window);
    if (!sides || sides->size() != 2) {
      return bad_input(phrase("Invalid --window {}; use two integers LEFT,RIGHT, such as 128,0 or -1,16.", window));
    }
    mask.window_left = (*sides)[0];
    mask.window_right = (*sides)[1];
  }
  if (!key_lengths.empty()) {
    auto lengths = parse_numbers("--key-lengths", key_lengths);
    if (!lengths) return tl::unexpected(lengths.error());
    mask.key_lengths = *std::move(lengths);
  }
  return ok();
}

void OptionArguments::add_to(Parser parser, bool what_if) {
  parser
      .add_option("--tile", tile,
                  takes_tuned
                      ? tr("Query rows and keys per tile; default: the kernel's own; tuned: the tile chosen by `tune`")
                      : tr("Query rows and keys per tile"))
      ->type_name("BrxBc");
  parser.add_option("--threads", threads, tr("CPU threads; default: all cores"))->type_name("N");
  parser.add_option("--stages", stages, tr("Number of K and V tiles in a GPU kernel's shared memory at once"))
      ->type_name("N");
  add_set_to(parser);
  if (!what_if) return;
  parser.add_flag("--no-max", keep_max_at_zero, tr("What if the maximum is not subtracted (cpu_flash)"));
  parser.add_flag("--right-to-left", right_to_left, tr("What if the keys are visited from last to first (cpu_flash)"));
  parser.add_option("--accumulate", accumulate, tr("What if l and O are kept in f16 or bf16 (cpu_flash)"))
      ->type_name("DTYPE");
}

void OptionArguments::add_set_to(Parser parser) {
  parser
      .add_repeated("--set", set, tr("Option of the kernel, such as ranks=4 for a ring; can be repeated; see `list`"))
      ->type_name("NAME=VALUE");
}

bool OptionArguments::tuned() const {
  return tile == "tuned";
}

Result<void> OptionArguments::apply_to(Options& options) const {
  if (tuned() && !takes_tuned)
    return bad_input(tr("--tile tuned works only with bench, profile and verify; use a tile such as 64x32 here."));
  if (tile == "default") options.br = options.bc = 0;
  if (!tile.empty() && tile != "default" && !tuned()) {
    const auto extents = parse_extents("--tile", tile, tr("tile such as 64x32 (Br x Bc)"));
    if (!extents) return tl::unexpected(extents.error());
    if (std::max(extents->first, extents->second) > std::numeric_limits<std::int32_t>::max()) {
      return bad_input(phrase("--tile {} is too large; the maximum is 4096x4096.", tile));
    }
    options.br = static_cast<std::int32_t>(extents->first);
    options.bc = static_cast<std::int32_t>(extents->second);
  }
  if (threads) {
    if (*threads < 1) return bad_input(phrase("--threads {} must be at least 1.", *threads));
    options.threads = *threads;
  }
  if (stages) {
    if (*stages < 1) return bad_input(phrase("--stages {} must be at least 1.", *stages));
    options.stages = *stages;
  }
  if (keep_max_at_zero) options.subtract_max = false;
  if (right_to_left) options.key_order = KeyOrder::right_to_left;
  if (!accumulate.empty()) {
    const auto t = parse_dtype("--accumulate", accumulate);
    if (!t) return tl::unexpected(t.error());
    options.accumulate = *t;
  }
  for (const std::string& one : set) {
    const auto setting = setting_of(one);
    if (!setting) return tl::unexpected(setting.error());
    choose(options, *setting->option, setting->value);
  }
  return ok();
}

Result<void> OptionArguments::check_read_by(std::span<const KernelRow* const> rows) const {
  struct Given {
    bool given;
    std::string name;
    std::vector<const Option*> any_of;
  };
  std::vector<Given> all = {{!tile.empty(), "--tile", {&Option::br, &Option::bc}},
                            {threads.has_value(), "--threads", {&Option::threads}},
                            {stages.has_value(), "--stages", {&Option::stages}},
                            {keep_max_at_zero, "--no-max", {&Option::subtract_max}},
                            {right_to_left, "--right-to-left", {&Option::key_order}},
                            {!accumulate.empty(), "--accumulate", {&Option::accumulate}}};
  for (const std::string& one : set) {
    const auto setting = setting_of(one);
    if (!setting) return bad_input(fmt::format("{} {}", setting.error().message, declared_by(rows)));
    if (auto good = check_taken(*setting, rows); !good) return good;
    all.push_back({true, "--set " + one, {setting->option}});
  }
  for (const Given& g : all) {
    const auto reads = [&g](const KernelRow& row) {
      return std::ranges::any_of(g.any_of, [&](const Option* option) { return spec_of(row, *option) != nullptr; });
    };
    if (!g.given || std::ranges::any_of(rows, [&](const KernelRow* row) { return reads(*row); })) continue;
    std::vector<std::string_view> names, readers;
    for (const KernelRow* row : rows) names.push_back(row->id);
    for (const KernelRow* row : ladder()) {
      if (reads(*row)) readers.push_back(row->id);
    }
    return bad_input(phrase("{} does not apply to {}, only to {}.{}", g.name, fmt::join(names, ", "),
                            fmt::join(readers, ", "),
                            g.name.starts_with("--set") ? " " + declared_by(rows) : std::string()));
  }
  return ok();
}

void ScoreArguments::add_to(Parser parser) {
  parser
      .add_option("--softcap", softcap,
                  tr("Cap the scores: S becomes C tanh(S / C), after the scale and before bias and mask"))
      ->type_name("C");
  parser.add_flag("--alibi", alibi,
                  tr("ALiBi: subtract slope x query-key distance from each score; slope 2^(-8(h+1)/H)"));
  parser.add_option("--slopes", slopes, tr("ALiBi with your own slopes: [H] or [B,H]"))->type_name("FILE.npy");
}

Result<void> ScoreArguments::apply_to(Problem& p) const {
  if (softcap) p.softcap = *softcap;
  if (alibi) p.alibi.emplace();
  if (slopes.empty()) return ok();
  if (alibi) return bad_input(tr("--alibi uses the standard slopes and --slopes your own; use only one."));
  auto file = NpyFile::open(slopes);
  if (!file) return bad_input(file.error().message);
  const std::vector<std::int64_t>& shape = file->header().shape;
  const bool fits = shape == std::vector{p.Hq} || shape == std::vector{p.B, p.Hq};
  if (!fits) {
    return bad_input(phrase("{} has shape [{}]; use [{}] ([Hq]) or [{}, {}] ([B, Hq]) for slopes.", slopes,
                            fmt::join(shape, ", "), p.Hq, p.B, p.Hq));
  }
  constexpr std::uint64_t kMaxBytes = 1 << 26;
  const auto array = file->read(kMaxBytes, DType::f32);
  if (!array) return bad_input(array.error().message);
  std::vector<float> values(static_cast<std::size_t>(array->size()));
  array->read(0, array->size(), values.data());
  p.alibi = kept_slopes(std::move(values), p.Hq);
  return ok();
}

void add_layout(Parser parser, std::string& layout, const std::string& what) {
  parser.add_option("--layout", layout, what)->type_name("NAME");
}

Result<AxisOrder> layout_of(const std::string& layout) {
  if (layout.empty()) return AxisOrder::bhld;
  for (const AxisOrder known : {AxisOrder::bhld, AxisOrder::blhd})
    if (layout == name_of(known)) return known;
  return bad_input(phrase("Unknown --layout {}; use bhld or blhd.", layout));
}

void ProblemArguments::add_to(Parser parser, const std::string& scale_option) {
  add_pass(parser, pass, training);
  parser.add_option("--b", B, tr("Batch"))->type_name("N");
  parser.add_option("--hq", Hq, tr("Query heads"))->type_name("N");
  parser.add_option("--hkv", Hkv, tr("Number of KV heads; default: same as --hq"))->type_name("N");
  parser.add_option("--lq,--l", Lq, tr("Number of queries; also of keys, unless --lk is given"))->type_name("N");
  parser.add_option("--lk", Lk, tr("Keys"))->type_name("N");
  parser.add_option("--d", D, tr("Head dimension, 1 to 256; also used for V unless --dv is given"))->type_name("N");
  parser.add_option("--dv", Dv, tr("Head dimension of V"))->type_name("N");
  parser.add_option("--dtype", dtype, tr("f32, f16 or bf16"))->type_name("DTYPE");
  parser.add_option(scale_option, scale, tr("Scale factor for QK^T; default: 1/sqrt(D)"))->type_name("X");
  parser
      .add_option("--bias-shape", bias_shape,
                  tr("Add a bias with ALiBi's values and this shape: 1 or B, 1 or Hq, 1 or Lq, 1 or Lk"))
      ->type_name("B,H,L,L");
  parser.add_option("--page", page, tr("Put K and V in shuffled pages of N keys (1 to 256); 0: contiguous"))
      ->type_name("N");
  scores.add_to(parser);
  mask.add_to(parser);
}

Result<void> ProblemArguments::apply_to(Problem& p) const {
  const Problem before = p;
  if (B) p.B = *B;
  if (Hq) p.Hq = p.Hkv = *Hq;
  if (Hkv) p.Hkv = *Hkv;
  if (Lq) p.Lq = p.Lk = *Lq;
  if (Lk) p.Lk = *Lk;
  if (D) p.D = p.Dv = *D;
  if (Dv) p.Dv = *Dv;
  if (scale) p.scale = *scale;
  if (auto r = apply_pass(pass, p, training); !r) return r;
  let_bias_follow(before, p);
  if (!dtype.empty()) {
    const auto t = parse_dtype("--dtype", dtype);
    if (!t) return tl::unexpected(t.error());
    p.dtype = *t;
  }
  if (!bias_shape.empty()) {
    auto shape = parse_numbers("--bias-shape", bias_shape);
    if (!shape) return tl::unexpected(shape.error());
    p.bias_shape = *std::move(shape);
  }
  if (auto r = scores.apply_to(p); !r) return r;
  if (auto r = mask.apply_to(p.mask); !r) return r;
  if (page)
    p = with_pages(std::move(p), *page);
  else if (p.storage.kind() == Storage::paged && (p.B != before.B || p.Lk != before.Lk))
    p = paged_anew(std::move(p));
  return validate(p);
}

void DocumentArguments::add_to(Parser parser, const std::string& scale_option) {
  parser.add_option("--state", state, tr("State string, as copied by Copy state in the window"))->type_name("STRING");
  parser.add_option("--preset", preset, tr("Example with its own shape, tile and numbers, such as `blackboard`"))
      ->type_name("ID");
  parser.add_option("--kernel", kernel, tr("Kernel to record; see `attnscope list`"))->type_name("ID");
  parser.add_option("--generator", generator, tr("How to generate the numbers: uniform, normal, late_outlier, ..."))
      ->type_name("NAME");
  parser
      .add_option("--sentence", sentence,
                  tr("Your own sentence for --preset words: 2 to 24 words, used as queries and keys"))
      ->type_name("TEXT");
  parser.add_option("--seed", seed, tr("Seed of the generator"))->type_name("N");
  parser.add_flag("--pages-in-order", pages_in_order, tr("What if the pages are stored in key order"));
  parser.add_option("--q", q, tr("Your own Q; needs --k and --v. The files determine the shape and dtype"))
      ->type_name("FILE.npy");
  parser.add_option("--k", k, tr("Your own K, in the dtype of --q"))->type_name("FILE.npy");
  parser.add_option("--v", v, tr("Your own V, for each key of --k"))->type_name("FILE.npy");
  parser.add_option("--bias", bias, tr("Your own bias, added to the scaled scores"))->type_name("FILE.npy");
  problem.add_to(parser, scale_option);
  options.add_to(parser, true);
}

Result<State> DocumentArguments::state_of(bool shows_step) const {
  Result<State> s = state.empty() ? Result<State>(initial_state()) : open_state_string(state);
  if (s && !preset.empty()) s = changed(*s, ChoosePreset{preset});
  if (s && sentence) s = with_sentence(*std::move(s), *sentence);
  if (s && !kernel.empty()) s = changed(*s, ChooseKernel{kernel});
  // The window then chooses it for Bench alone; asked for by name it would be another kernel's run under its name.
  if (s && shows_step && !kernel.empty() && s->document.kernel != kernel) {
    return bad_input(phrase("--kernel {}: this version records only CPU kernels; use {}, which has the same order.",
                            kernel, recorded_like(kernel)));
  }
  if (!s) return s;

  Problem p = s->document.problem;
  InputSpec inputs = s->document.inputs;
  const int named = (q.empty() ? 0 : 1) + (k.empty() ? 0 : 1) + (v.empty() ? 0 : 1);
  if (named != 0 || !bias.empty()) {
    if (named != 3) return bad_input(tr("--q, --k and --v belong together; name all three files."));
    std::optional<DType> to;
    if (!problem.dtype.empty()) {
      const auto t = parse_dtype("--dtype", problem.dtype);
      if (!t) return tl::unexpected(t.error());
      to = *t;
    }
    const auto from_files =
        inputs_from_files(q, k, v, bias.empty() ? std::nullopt : std::optional<std::filesystem::path>(bias), to);
    if (!from_files) return bad_input(from_files.error().message);
    p = from_files->problem;
    inputs = InputSpec{};
    inputs.q_file = q;
    inputs.k_file = k;
    inputs.v_file = v;
    inputs.bias_file = bias;
  }
  if (auto r = problem.apply_to(p); !r) return tl::unexpected(r.error());
  if (!generator.empty()) {
    const auto g = generator_from_name(generator);
    if (!g) {
      std::string names;
      for (const Generator other : all_generators()) names += (names.empty() ? "" : ", ") + std::string(name_of(other));
      return bad_input(phrase("Unknown --generator {}; use {}.", generator, names));
    }
    inputs.generator = *g;
  }
  if (!seed.empty()) {
    const auto number = parse_seed(seed, std::numeric_limits<std::uint64_t>::max());
    if (!number) return tl::unexpected(number.error());
    inputs.seed = *number;
  }
  if (pages_in_order) {
    if (p.storage.kind() == Storage::dense)
      return bad_input(tr("--pages-in-order needs keys in pages; add --page, or --preset pages."));
    inputs.pages = PageOrder::in_order;
  }
  Options o = s->document.options;
  if (auto r = options.apply_to(o); !r) return tl::unexpected(r.error());
  s = changed(*s, SetProblem{p, 0});
  if (!s) return s;
  // Another kernel stands in for one that does not take the pass; asked for by name it is refused.
  const auto named_kernel = find_kernel_or_piece(kernel);
  if (named_kernel && shows_step && s->document.kernel != kernel) {
    if (auto good = check_takes(**named_kernel, p); !good) return tl::unexpected(good.error());
  }
  if (const auto row = find_kernel_or_piece(kernel.empty() ? s->document.kernel : kernel)) {
    if (auto r = options.check_read_by(std::span(&*row, 1)); !r) return tl::unexpected(r.error());
  }

  s = changed(*s, SetInputs{inputs, 0});
  if (s) s = changed(*s, SetOptions{o, 0});
  return s;
}

std::vector<NamedFile> input_files_of(const State& state) {
  const InputSpec& in = state.document.inputs;
  return {{"Q", in.q_file}, {"K", in.k_file}, {"V", in.v_file}, {tr("the bias"), in.bias_file}};
}

void add_device(Parser parser, std::string& device) {
  parser.add_option("--device", device, tr("Where to run: cpu, gpu, or gpu:1 for the second GPU"))
      ->type_name("NAME")
      ->default_str("cpu");
}

Result<DeviceChoice> choose_device(const std::string& device) {
  if (device.empty() || device == "cpu") return DeviceChoice{};
  if (device == "gpu") return DeviceChoice{Processor::gpu, 0};
  if (device.starts_with("gpu:")) {
    const auto index = parse_numbers("--device", std::string_view(device).substr(4));
    if (index && index->size() == 1 && (*index)[0] >= 0 && (*index)[0] < 1024) {
      return DeviceChoice{Processor::gpu, static_cast<std::int32_t>((*index)[0])};
    }
  }
  return bad_input(phrase("Unknown --device {}; use cpu, gpu or gpu:N.", device));
}

Result<void> check_device(const std::string& device) {
  const auto choice = choose_device(device);
  if (!choice) return tl::unexpected(choice.error());
  if (choice->processor == Processor::cpu) return ok();
  return fail(ErrorKind::cannot_run,
              phrase("--device {}: this command runs only on the CPU; use `run` or `verify` for a GPU.", device));
}

}  // namespace attn::cli
