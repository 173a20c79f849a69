// Each field of MeasureSpec changed from its default, for tests that nothing of it is lost on the way.
#pragma once

#include <array>

#include "profiling/spec/measure_spec.h"

namespace attn::test {

struct MeasureChange {
  const char* field;
  void (*make)(MeasureSpec&);
};

inline constexpr std::array kMeasureChanges{
    MeasureChange{"generator", [](MeasureSpec& s) { s.generator = Generator::uniform; }},
    MeasureChange{"seed", [](MeasureSpec& s) { s.seed = ~std::uint64_t{0}; }},
    MeasureChange{"seconds_per_point", [](MeasureSpec& s) { s.seconds_per_point = 0.1; }},
    MeasureChange{"min_repeats", [](MeasureSpec& s) { s.min_repeats = 7; }},
    MeasureChange{"verify", [](MeasureSpec& s) { s.verify = false; }},
    MeasureChange{"verify_full", [](MeasureSpec& s) { s.verify_full = true; }},
    MeasureChange{"memory_limit", [](MeasureSpec& s) { s.memory_limit = 1ULL << 40; }},
    MeasureChange{"gpu", [](MeasureSpec& s) { s.gpu = 3; }},
    MeasureChange{"arch", [](MeasureSpec& s) { s.arch = "sm_80"; }},
    MeasureChange{"l2", [](MeasureSpec& s) { s.l2 = L2State::warm; }},
    MeasureChange{"counters", [](MeasureSpec& s) { s.counters = false; }},
};

// Does not compile when a field comes or goes: it belongs in the list above then.
inline std::size_t fields_of_measure_spec() {
  const MeasureSpec spec;
  const auto& [generator, seed, seconds, repeats, verify, full, limit, gpu, arch, l2, counters] = spec;
  const std::array<const void*, 11> fields{&generator, &seed, &seconds, &repeats, &verify,  &full,
                                           &limit,     &gpu,  &arch,    &l2,      &counters};
  return fields.size();
}

}  // namespace attn::test
