// What the sweep panel offers, as plain values with the text already in them: its menus, and what each entry does to
// the sweep. The fields that are typed are in viz/bench/sweep/sweep_fields.h.
#pragma once

#include <string>
#include <vector>

#include "kernels/model/kernel.h"
#include "profiling/spec/sweep_spec.h"
#include "viz/state/model.h"

namespace attn {

struct SweepChoice {
  std::string words;
  bool on = false;
  SweepSpec changed;  // the sweep once this is taken
};
struct SweepMenu {
  const char* id = "";
  const char* label = "";  // empty: the menu takes the whole line
  std::string shown;
  std::string help;
  std::vector<SweepChoice> choices;
};
SweepMenu axis_menu(const SweepSpec& sweep);
SweepMenu dtype_menu(const SweepSpec& sweep);
// How Q, K, V and O lie in memory.
SweepMenu layout_menu(const SweepSpec& sweep);
SweepMenu mask_menu(const SweepSpec& sweep);
// How long the sequences of a batch are.
SweepMenu lengths_menu(const SweepSpec& sweep);
SweepMenu inputs_menu(const SweepSpec& sweep);
SweepMenu check_menu(const SweepSpec& sweep);
// What GPU kernels are compiled for where they are predicted.
SweepMenu arch_menu(const SweepSpec& sweep);
// Where GPU kernels run: one of the GPUs, or nowhere, and then what they are compiled for.
SweepMenu device_menu(const SweepSpec& sweep, const GpuView& gpus);
SweepMenu l2_menu(const SweepSpec& sweep);
SweepMenu counters_menu(const SweepSpec& sweep);
// Attention of others beside these kernels: the help says which Python would run it, or why none can.
SweepMenu peers_menu(const SweepSpec& sweep, const PeersView& peers);

// What the compiler answered for that architecture: the registers of each kernel, or why there are none. Empty without
// a GPU kernel, and before the program has looked for GPUs.
std::string compile_words(const SweepSpec& sweep, const Model& model);

bool runs_on_gpu(const SweepSpec& sweep);
// The kernels of a device in the order of the panel: its baseline, then the others.
std::vector<const KernelRow*> kernels_on(Processor processor, Pass pass);
// Why this sweep's dtype or layout keeps the kernel from running ("f32 only"); empty = neither does.
std::string refusal(const KernelRow& row, const SweepSpec& sweep);
// "about 12 s left"; empty where nothing is known.
std::string left_words(double seconds);

}  // namespace attn
