// The roofline of one problem (Williams, Waterman and Patterson 2009): what arithmetic and DRAM of this device would
// allow a kernel, and where each kernel stands. Plain values; roofline_draw.cpp draws them. The roofs are the copy
// rate, the fp32 multiply-add peak and that of the tensor cores as they were measured beside the rows, never a data
// sheet's.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profiling/figures/measurement.h"

namespace attn {

// A kernel. Useful FLOP alone (tflops' formula), so that rungs on one problem differ in height by their time.
struct RoofDot {
  std::string kernel, name;  // its id, and what it is called: shown_name()
  double tflops = 0;
  std::optional<double> measured;   // FLOP a byte of DRAM counted
  std::optional<double> predicted;  // FLOP a byte that the order must move at least
  bool chosen = false;
  bool elsewhere =
      false;         // its products run on another pipe than those of the chosen kernel, or by another instruction
  std::string pipe;  // then which: "fp32 pipes", "wgmma"
  std::string tip;
};

// A level of memory as the chosen kernel met it.
struct RoofLevel {
  std::string name;           // "DRAM", "L2", "shared memory"
  double gb_per_s = 0;        // its measured roof
  double intensity = 0;       // useful FLOP a byte that was counted there; shared memory: of turns of 128 bytes
  double allowed_tflops = 0;  // what the roof allows at that intensity
};

// A roof that is not drawn. `inner`: of a level inside DRAM.
struct MissingRoof {
  std::string name, reason;
  bool inner = false;
};

struct Roofline {
  std::string empty;                          // why nothing is drawn
  double copy_gb_per_s = 0, peak_tflops = 0;  // 0 = not measured
  // Of the formula's products, by those of the chosen kernel on tensor cores; 0 = not measured. A peer of 16 bits has
  // that of a kernel of ours with the same type.
  double tensor_tflops = 0;
  // Where the chosen kernel's own arithmetic ends: tensor cores' or multiply-adds'; 0 = not measured.
  double top_tflops = 0;
  bool by_warpgroups = false;  // the roof is that of wgmma
  // "mma.sync peak" or "wgmma peak", and how many products each of the formula takes; of a peer, also with which kernel
  // it was measured.
  std::string tensor_name;
  std::string peak_name;  // "multiply-add peak"; beside a roof of tensor cores it says where that is
  std::vector<RoofDot> dots;
  std::vector<RoofLevel> levels;  // of the chosen kernel, from DRAM inwards; those alone that were measured and counted
  std::vector<MissingRoof> missing;
  double x_min = 1, x_max = 1, y_min = 1, y_max = 1;
  std::string words;        // how far the chosen kernel is from its roofs
  std::string level_words;  // how near it is to each level's, and which have no roof; empty: a kernel of the CPU
  std::string note;         // what the roofs are, and which are missing
};

// `rows`: those of one problem and device; `chosen`: a kernel among them.
Roofline roofline(std::span<const Measurement* const> rows, const std::string& chosen);

// Where a logarithmic axis has its numbers: at the decades, and at 2 and 5 of each where fewer than two are in sight.
std::vector<double> roof_ticks(double from, double to);
// FLOP a byte at which the copy rate allows so many TFLOP/s; 0 = one of them is not known.
double ridge(const Roofline& roof, double tflops);
// Useful FLOP of the row's problem; 0 where it was not timed.
double useful_flop(const Measurement& m);
// Counted bytes of DRAM, read and written.
std::optional<double> dram_bytes(const Measurement& m);

}  // namespace attn
