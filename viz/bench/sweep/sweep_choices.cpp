#include "viz/bench/sweep/sweep_choices.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/input_spec.h"
#include "kernels/model/inputs/ragged.h"
#include "profiling/figures/metrics.h"
#include "profiling/figures/peers.h"
#include "profiling/spec/sweep_point.h"
#include "viz/bench/sweep/sweep_fields.h"
#include "viz/draw/figure_text.h"

namespace attn {
namespace {

// The sweep with one of its values replaced.
// `part` may belong to a base of SweepSpec.
template <class Owner, class Value>
SweepChoice with(const SweepSpec& sweep, std::string words, Value Owner::*part,
                 const std::type_identity_t<Value>& value) {
  SweepChoice choice{std::move(words), sweep.*part == value, sweep};
  choice.changed.*part = value;
  return choice;
}

}  // namespace

SweepMenu axis_menu(const SweepSpec& sweep) {
  SweepMenu menu{"##axis", tr("Vary"), axis_title(sweep.axis), {}, {}};
  for (const Axis& a : all_axes()) menu.choices.push_back({axis_title(a), a == sweep.axis, with_axis(sweep, a)});
  return menu;
}

SweepMenu dtype_menu(const SweepSpec& sweep) {
  SweepMenu menu{"##dtype", tr("Type"), std::string(name_of(sweep.base.dtype)), {}, {}};
  for (const DType t : {DType::f32, DType::f16, DType::bf16}) {
    SweepChoice choice{std::string(name_of(t)), t == sweep.base.dtype, sweep};
    choice.changed.base.dtype = t;
    if (t == DType::f32) choice.changed.base.output = OutputType::as_inputs;  // it is f32
    menu.choices.push_back(std::move(choice));
  }
  return menu;
}

namespace {

const char* axes_words(AxisOrder order) {
  return order == AxisOrder::bhld ? "[B, H, L, D]" : "[B, L, H, D]";
}

template <class T>
bool takes(std::span<const T> all, const T& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

}  // namespace

SweepMenu layout_menu(const SweepSpec& sweep) {
  std::string takers;
  for (const KernelRow* row : ladder_of(sweep.base.pass))
    if (takes(row->layouts, AxisOrder::blhd)) takers += fmt::format("{}{}", takers.empty() ? "" : ", ", row->id);
  SweepMenu menu{"##layout",
                 tr("Layout"),
                 axes_words(sweep.base.layout),
                 tr("Order of the axes of Q, K, V and O in memory. A kernel's output is the same in either order."),
                 {}};
  if (!takers.empty()) menu.help += "\n" + phrase("Kernels that support {}: {}", axes_words(AxisOrder::blhd), takers);
  for (const AxisOrder order : {AxisOrder::bhld, AxisOrder::blhd}) {
    SweepChoice choice{axes_words(order), order == sweep.base.layout, sweep};
    choice.changed.base.layout = order;
    menu.choices.push_back(std::move(choice));
  }
  return menu;
}

SweepMenu mask_menu(const SweepSpec& sweep) {
  Mask causal, window;
  causal.causal = true;
  window.window_left = 255;
  window.window_right = 0;
  const std::array<std::pair<const char*, Mask>, 3> masks{{{"none", {}}, {"causal", causal}, {"window 256", window}}};
  SweepMenu menu{"##mask", tr("Mask"), tr("your own"), {}, {}};
  for (const auto& [name, mask] : masks) {
    SweepChoice choice{name, mask == sweep.base.mask, sweep};
    choice.changed.base.mask = mask;
    if (choice.on) menu.shown = name;
    menu.choices.push_back(std::move(choice));
  }
  // Switched on and off by themselves, whatever the mask is.
  constexpr double kUsualCap = 30;
  const Problem& base = sweep.base;
  SweepChoice softcap{phrase("softcap {}", base.softcap.value_or(kUsualCap)), base.softcap.has_value(), sweep};
  softcap.changed.base.softcap = base.softcap ? std::nullopt : std::optional(kUsualCap);
  SweepChoice alibi{"ALiBi", base.alibi.has_value(), sweep};
  alibi.changed.base.alibi = base.alibi ? std::nullopt : std::optional(std::vector<float>());
  for (SweepChoice* choice : {&softcap, &alibi}) {
    if (choice->on) menu.shown = (menu.shown == "none" ? "" : menu.shown + " + ") + choice->words;
    menu.choices.push_back(std::move(*choice));
  }
  return menu;
}

SweepMenu lengths_menu(const SweepSpec& sweep) {
  struct Length {
    Ragged ragged;
    const char* name;
  };
  constexpr std::array<Length, 5> kLengths{{{Ragged::none, marked("all Lk")},
                                            {Ragged::uniform, marked("uniform")},
                                            {Ragged::zipf, "Zipf"},
                                            {Ragged::even, marked("even")},
                                            {Ragged::one_long, marked("one long")}}};
  const bool own = !sweep.base.mask.key_lengths.empty();
  SweepMenu menu{"##lengths",
                 tr("Key lengths"),
                 own ? tr("your own") : "",
                 tr("Of a batch of B sequences. Uniform: Lk / B to Lk. Zipf: Lk / 1, 2, 3 ... Even: all lengths are "
                    "equal, with the same total as Zipf. One long: one length is Lk, and all others are Lk / 64."),
                 {}};
  for (const Length& length : kLengths) {
    SweepChoice choice{tr_of(length.name), !own && sweep.ragged == length.ragged, sweep};
    choice.changed.ragged = length.ragged;
    choice.changed.base.mask.key_lengths.clear();
    if (choice.on) menu.shown = choice.words;
    menu.choices.push_back(std::move(choice));
  }
  return menu;
}

SweepMenu inputs_menu(const SweepSpec& sweep) {
  SweepMenu menu{
      "##inputs",
      tr("Inputs"),
      std::string(name_of(sweep.generator)),
      tr("Normally distributed random numbers are the fair choice: zeros run faster and would be misleading."),
      {}};
  for (const Generator g : all_generators())
    menu.choices.push_back(with(sweep, std::string(name_of(g)), &SweepSpec::generator, g));
  return menu;
}

SweepMenu check_menu(const SweepSpec& sweep) {
  struct Check {
    const char* name;
    bool verify, full;
  };
  constexpr std::array<Check, 3> kChecks{
      {{marked("sampled"), true, false}, {marked("every row"), true, true}, {marked("off"), false, false}}};
  const std::string_view now = !sweep.verify ? tr("off") : sweep.verify_full ? tr("every row") : tr("sampled");
  SweepMenu menu{"##check",
                 tr("Check"),
                 std::string(now),
                 tr("The rows of each output that are compared with the fp64 reference."),
                 {}};
  for (const Check& c : kChecks) {
    SweepChoice choice{tr_of(c.name), tr_of(c.name) == now, sweep};
    choice.changed.verify = c.verify;
    choice.changed.verify_full = c.full;
    menu.choices.push_back(std::move(choice));
  }
  return menu;
}

SweepMenu arch_menu(const SweepSpec& sweep) {
  SweepMenu menu{
      "##arch",
      tr("Compile for"),
      sweep.arch,
      tr("Registers, shared memory and occupancy as predicted by the compiler, for any GPU, present or not."),
      {}};
  for (const std::string_view arch : gpu::architectures())
    menu.choices.push_back(with(sweep, std::string(arch), &SweepSpec::arch, std::string(arch)));
  return menu;
}

SweepMenu device_menu(const SweepSpec& sweep, const GpuView& gpus) {
  if (gpus.gpus.empty()) return arch_menu(sweep);
  SweepMenu menu{"##gpu", "", phrase("GPU {}: not found", sweep.gpu), tr("GPU to run the kernels on"), {}};
  for (const GpuChoice& g : gpus.gpus) {
    if (g.index == sweep.gpu) menu.shown = g.name;
    menu.choices.push_back(with(sweep, phrase("GPU {}: {}, {}", g.index, g.name, g.arch), &SweepSpec::gpu, g.index));
  }
  return menu;
}

SweepMenu l2_menu(const SweepSpec& sweep) {
  SweepMenu menu{
      "##l2",
      tr("L2 cache"),
      std::string(name_of(sweep.l2)),
      tr("Cold: other data is read through the GPU's L2 cache before each repeat. Counter runs start cold, too."),
      {}};
  for (const L2State state : {L2State::cold, L2State::warm})
    menu.choices.push_back(with(sweep, std::string(name_of(state)), &SweepSpec::l2, state));
  return menu;
}

SweepMenu counters_menu(const SweepSpec& sweep) {
  return {"##counters",
          tr("Counters"),
          sweep.counters ? tr("on") : tr("off"),
          tr("DRAM bytes, occupancy and so on, through CUPTI. 'off' leaves the counters to another profiler."),
          {with(sweep, "on", &SweepSpec::counters, true), with(sweep, "off", &SweepSpec::counters, false)}};
}

SweepMenu peers_menu(const SweepSpec& sweep, const PeersView& peers) {
  std::vector<std::string> torchs, all;
  std::string titles, missing;
  for (const PeerRow& row : peer_table()) {
    const bool runs = std::ranges::any_of(sweep.kernels, [&](const std::string& id) {
      const auto kernel = find_kernel(id, sweep.own);
      return kernel && (*kernel)->processor == row.processor;
    });
    if (!runs) continue;
    if (!row.package.empty()) {
      const auto package = peers.packages.find(row.id);
      if (package == peers.packages.end()) continue;  // nobody has looked
      if (!package->second.empty()) {
        missing += fmt::format("\n{}: {}", row.title, sentence(package->second));
        continue;
      }
    } else {
      torchs.emplace_back(row.id);
    }
    all.emplace_back(row.id);
    titles += fmt::format("{}{}", titles.empty() ? "" : ", ", row.title);
  }
  SweepMenu menu{"##peers", tr("Peers"), tr("off"), "", {}};
  menu.choices.push_back(with(sweep, "off", &SweepSpec::peers, {}));
  menu.help = tr("Other implementations, timed alternately with these kernels");
  if (all.empty()) {
    menu.help += tr(". Tick a kernel first.");
  } else if (!peers.why_none.empty()) {
    menu.help += fmt::format(": {}.\n{}", titles, sentence(peers.why_none));
  } else {
    menu.help += fmt::format(": {}.{}{}", titles, peers.words.empty() ? "" : "\n" + sentence(peers.words), missing);
    menu.choices.push_back(with(sweep, tr("torch's"), &SweepSpec::peers, torchs));
    if (all != torchs) menu.choices.push_back(with(sweep, tr("all that are installed"), &SweepSpec::peers, all));
  }
  if (!sweep.peers.empty()) {
    const bool usual = sweep.peers == torchs, every = !usual && sweep.peers == all;
    menu.shown = usual ? tr("torch's") : every ? tr("all that are installed") : phrase("{} chosen", sweep.peers.size());
    if ((!usual && !every) || !peers.why_none.empty())
      menu.choices.push_back(with(sweep, menu.shown, &SweepSpec::peers, sweep.peers));
  }
  return menu;
}

namespace {

bool any_kept_on_gpu(const SweepSpec& sweep, const KeptTilesView& kept) {
  return std::ranges::any_of(kept.tiles, [&](const KeptTile& k) {
    const auto row = find_kernel(k.kernel, sweep.own);
    return k.tile && row && (*row)->processor == Processor::gpu;
  });
}

}  // namespace

std::string compile_words(const SweepSpec& sweep, const Model& model) {
  if (!runs_on_gpu(sweep) || !model.gpu.looked) return {};  // nobody has asked yet: a picture has no compiler
  if (auto valid = validate(sweep); !valid) return {};      // said where it stands
  if (model.compiled_for != sweep_key(sweep) && model.task.running) return tr("Compilation starts when the run ends.");
  if (sweep.tuned && model.compiled.empty() && model.kept.of == sweep_key(sweep) && !any_kept_on_gpu(sweep, model.kept))
    return {};  // why no tile is kept stands beside Run
  if (model.compiled_for != sweep_key(sweep) || model.compiled.empty())
    return phrase("Compiling for {} ...", sweep.arch);
  std::string words, why, whose;
  for (const std::string& id : sweep.kernels) {
    // The last value's: registers seldom hang on it, and where they do the table has each.
    const auto last = std::find_if(model.compiled.rbegin(), model.compiled.rend(),
                                   [&](const Measurement& m) { return m.key.kernel == id; });
    if (last == model.compiled.rend()) continue;
    const Figure& registers = figure(*last, "registers_count");
    if (registers.available())
      words += fmt::format("{}{} {:.0f}", words.empty() ? tr("Registers: ") : ", ", id, registers.value);
    else if (why.empty()) {
      why = sentence(last->launches.empty() ? last->reason : registers.reason);
      whose = id;
    }
  }
  if (words.empty()) return why;
  return words + "." + (why.empty() ? "" : fmt::format(" {}: {}", whose, why));
}

bool runs_on_gpu(const SweepSpec& sweep) {
  return std::any_of(sweep.kernels.begin(), sweep.kernels.end(), [&](const std::string& id) {
    const auto row = find_kernel(id, sweep.own);
    return row && (*row)->processor == Processor::gpu;
  });
}

std::vector<const KernelRow*> kernels_on(Processor processor, Pass pass) {
  std::vector<const KernelRow*> rows;
  for (const KernelRow* row : ladder_of(pass)) {
    if (row->processor == processor) rows.push_back(row);
  }
  std::stable_partition(rows.begin(), rows.end(),
                        [&](const KernelRow* row) { return row->id == baseline_of(processor, pass); });
  return rows;
}

std::string refusal(const KernelRow& row, const SweepSpec& sweep) {
  if (takes(row.dtypes, sweep.base.dtype)) {
    if (!takes(row.layouts, sweep.base.layout)) return phrase("{} only", axes_words(row.layouts.front()));
    if (!takes(row.outputs, sweep.base.output)) return phrase("O in {} only", name_of(sweep.base.dtype));
    return takes(row.storages, sweep.base.storage.kind()) ? std::string() : tr("contiguous keys only");
  }
  std::string names;
  for (const DType t : row.dtypes) names += fmt::format("{}{}", names.empty() ? "" : ", ", name_of(t));
  return phrase("{} only", names);
}

std::string left_words(double seconds) {
  if (seconds < 0) return {};
  if (seconds < 90) return phrase("about {:.0f} s left", std::max(1.0, std::ceil(seconds)));
  return phrase("about {:.0f} min left", std::ceil(seconds / 60));
}

}  // namespace attn
