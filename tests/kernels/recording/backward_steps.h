// What both kinds of a backward's recordings are held against: inputs with what the forward kept, and fp64.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <gtest/gtest.h>

#include "kernels/cpu/backward/forward.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/model/order_row.h"
#include "kernels/recording/recording.h"
#include "kernels/recording/replay/exact.h"

namespace attn::test {

inline Inputs inputs_for(const Problem& p, std::uint64_t seed, Generator generator = Generator::normal) {
  InputSpec spec;
  spec.generator = generator;
  spec.seed = seed;
  auto in = make_all_inputs(p, spec, in_turn, 0, Stream{});
  EXPECT_TRUE(in) << (in ? "" : in.error().message);
  return *std::move(in);
}

// Every number on show at any step is one of a version.
inline void expect_exact(const Recording& rec) {
  std::size_t held = 0, missing = 0;
  for (std::int32_t b = 0; b < rec.problem.B; ++b) {
    for (std::int32_t h = 0; h < rec.problem.Hq; ++h) {
      for (std::int32_t i = 0; i < rec.query_tiles(); ++i) {
        const ExactTile exact(rec, b, h, i);
        for (VersionId v = 0; v < rec.versions.size(); ++v) {
          const Version& version = rec.version(v);
          const EventId& made = rec.events[version.made_by].id;
          // What is summed over queries is asked of one tile.
          const bool keys = slot_row(version.slot).rows == SlotRows::keys;
          if (is_input(version.slot) || made.b != b) continue;
          if (keys ? h != 0 || i != 0 : made.h != h || made.i != i) continue;
          const auto values = rec.values(v);
          for (std::size_t n = 0; n < values.size(); ++n) {
            const auto at = exact.at(v, n);
            if (!at) {
              ++missing;
              continue;
            }
            ++held;
            const auto x = static_cast<double>(values[n]);
            if (!std::isfinite(x) || !std::isfinite(at->exact)) continue;
            ASSERT_LE(std::fabs(x - at->exact), at->bound)
                << describe(rec.problem) << " tile " << rec.options.br << "x" << rec.options.bc << " "
                << name_of(version.slot) << " " << n << " of step " << version.made_by + 1 << " ("
                << name_of(made.phase) << "): " << x << " for " << at->exact;
          }
        }
      }
    }
  }
  EXPECT_GT(held, 0U);
  EXPECT_EQ(missing, 0U) << describe(rec.problem);
}

}  // namespace attn::test
