// A row of flash_simt as it was measured on an H100 at L = 16384, H = 16, D = 128, with its counters.
#pragma once

#include <string_view>
#include <vector>

#include "profiling/figures/metrics.h"
#include "tests/viz/bench/rows.h"

namespace attn::profile_test {

inline void put(Measurement& m, std::string_view metric, double value, Origin origin = Origin::measured) {
  m.figures.resize(metric_table().size());
  Figure& f = m.figures[*find_metric(metric)];
  f.origin = origin;
  f.value = value;
  f.method = "put by a test";
}

inline Problem h100_problem() {
  Problem p;
  p.Hq = p.Hkv = 16;
  p.Lq = p.Lk = 16384;
  p.D = p.Dv = 128;
  return p;
}

inline Measurement h100_row(std::string_view kernel, double median_us) {
  Measurement m;
  m.key.kernel = kernel;
  m.key.problem = h100_problem();
  m.key.options.br = m.key.options.bc = 128;
  m.key.options.threads = 256;
  m.key.device = "NVIDIA H100 80GB HBM3";
  m.key.l2 = L2State::cold;
  m.processor = Processor::gpu;
  m.clock = "CUPTI kernel time stamps";
  m.time.n = 6;
  m.time.median = m.time.q1 = m.time.q3 = median_us;
  m.launches.resize(1);
  m.launches[0].grid[0] = 2048;
  m.launches[0].block[0] = 256;
  m.launches[0].shared_bytes = 129024;
  m.peaks.peak_gflops = 65230;
  m.peaks.copy_gb_per_s = 2831;
  put(m, "registers_count", 254, Origin::compiled);
  put(m, "shared_static_bytes", 0, Origin::compiled);
  put(m, "dram_read_bytes", 652015104);
  put(m, "dram_write_bytes", 127202048);
  put(m, "occupancy_achieved_pct", 12.49966);
  put(m, "l2_hit_pct", 97.5);
  put(m, "shared_wavefronts_count", 1000);
  put(m, "shared_conflicts_count", 250);
  fill_figures(m);
  return m;
}

}  // namespace attn::profile_test
