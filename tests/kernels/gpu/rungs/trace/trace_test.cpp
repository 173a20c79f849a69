// A traced run's buffer becomes a recording. The kernels' writes are imitated on the host from the same layout header.
#include "kernels/gpu/rungs/trace/trace.h"

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "kernels/base/dtype.h"
#include "kernels/formats/container.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/gpu/rungs/trace/trace_layout.h"
#include "kernels/ladder.h"
#include "kernels/recording/file/recording_file.h"
#include "kernels/recording/reading.h"
#include "kernels/recording/replay/exact.h"
#include "kernels/recording/replay/replay.h"
#include "tests/kernels/gpu/rungs/trace/traced_run.h"
#include "tests/kernels/temp_folder.h"

namespace attn::gpu {
namespace {

// What the threads of flash_simt, or of flash_wmma, write, in any order.
void run_flash(TracedRun& run) {
  const Problem& p = run.p();
  const Options& o = run.plan.options;
  const bool wmma = run.plan.kernel->id == "flash_wmma";
  const int lanes = wmma ? 2 : 16;
  const FlashTrace at = flash_trace(static_cast<int>(p.Dv), o.br, o.bc, lanes);
  const std::int64_t ti = (p.Lq + o.br - 1) / o.br, tj = (p.Lk + o.bc - 1) / o.bc;
  const FlashTracePlaces places = flash_trace_places(at, p.B * p.Hq * ti, tj, o.threads);
  for (std::int64_t tile = 0; tile < p.B * p.Hq * ti; ++tile) {
    const std::int64_t head = tile / ti, i = tile % ti;
    const auto block = static_cast<std::uint32_t>(head * ti + ti - 1 - i);
    for (int r = 0; r < o.br; ++r) {
      const std::int64_t row = i * o.br + r;
      const bool exists = row < p.Lq;
      float m = kNone, l[16] = {};
      std::vector<float> out(static_cast<std::size_t>(p.Dv));
      for (std::int64_t j = 0; j < tj; ++j) {
        const std::int64_t r1 = std::min<std::int64_t>(p.Lq, (i + 1) * o.br),
                           c1 = std::min<std::int64_t>(p.Lk, (j + 1) * o.bc);
        if (p.cover(head / p.Hq, i * o.br, r1, j * o.bc, c1) == TileCover::skipped) continue;
        float* record = run.trace.data() + places.tiles + (tile * tj + j) * at.tile;
        std::vector<float> s(static_cast<std::size_t>(o.bc), kNone);
        float larger = m;
        for (int c = 0; c < o.bc; ++c) {
          const std::int64_t key = j * o.bc + c;
          const bool inside = exists && key < p.Lk;
          const float score = inside ? run.score(head, row, key, kLog2E) : 0;
          float& masked = s[static_cast<std::size_t>(c)];
          masked = inside ? run.masked(head, row, key, score, kLog2E) : kNone;
          record[at.s + r * o.bc + c] = wmma && inside ? run.product(head, row, key) : score;
          record[at.masked + r * o.bc + c] = masked;
          larger = std::max(larger, masked);
        }
        const float shift = larger == kNone ? 0 : larger;
        const float alpha = m == larger ? 1 : std::exp2(m - shift);
        m = larger;
        for (float& part : l) part *= alpha;
        for (float& x : out) x *= alpha;
        for (int c = 0; c < o.bc; ++c) {
          const float weight = std::exp2(s[static_cast<std::size_t>(c)] - shift);
          record[at.p + r * o.bc + c] = weight;
          l[wmma ? c / (o.bc / 2) : c % 16] += weight;
          if (j * o.bc + c >= p.Lk) continue;
          for (std::int64_t d = 0; d < p.Dv; ++d) {
            float& x = out[static_cast<std::size_t>(d)];
            x = std::fmaf(wmma ? round_to(p.dtype, weight) : weight, run.v(head, j * o.bc + c, d), x);
          }
        }
        record[at.m + r] = m;
        record[at.alpha + r] = alpha;
        record[at.who + r] = who(block, static_cast<std::uint32_t>(r * o.threads / 32 / o.br));
        for (int lane = 0; lane < lanes; ++lane) record[at.l + r * lanes + lane] = l[lane];
        for (std::int64_t d = 0; d < p.Dv; ++d) record[at.o + r * at.o_stride + d] = out[static_cast<std::size_t>(d)];
      }
      if (!exists) continue;
      float sum = 0;
      for (const float part : l) sum += part;
      float* record = run.trace.data() + places.rows + tile * at.row;
      for (std::int64_t d = 0; d < p.Dv; ++d) {
        const float x = sum == 0 ? 0 : out[static_cast<std::size_t>(d)] / sum;
        record[at.row_o + r * at.o_stride + d] = x;
        run.out.out.set((head * p.Lq + row) * p.Dv + d, x);
      }
      run.out.lse.set(head * p.Lq + row, sum == 0 ? kNone : static_cast<float>((m + std::log2(sum)) * kLn2));
    }
  }
}

// What naive's and tiled's threads write.
void run_stored(TracedRun& run) {
  const Problem& p = run.p();
  const StoredTrace at = stored_trace(p.B * p.Hq * p.Lq, p.Lk, p.Dv);
  for (std::int64_t row = 0; row < p.B * p.Hq * p.Lq; ++row) {
    const std::int64_t head = row / p.Lq;
    float m = kNone;
    std::vector<float> s;
    for (std::int64_t c = 0; c < p.Lk; ++c) {
      s.push_back(run.masked(head, row % p.Lq, c, run.score(head, row % p.Lq, c, 1), 1));
      m = std::max(m, s.back());
      run.trace[static_cast<std::size_t>(at.s + row * p.Lk + c)] = s.back();
      run.trace[static_cast<std::size_t>(at.who_s + row * at.cuts_s + c / kTraceCut)] =
          who(static_cast<std::uint32_t>(c / 32), static_cast<std::uint32_t>(row % 8));
    }
    const float shift = m == kNone ? 0 : m;
    float l = 0;
    for (const float x : s) l += std::exp(x - shift);
    Array weights(p.dtype, {p.Lk});
    for (std::int64_t c = 0; c < p.Lk; ++c) {
      weights.set(c, l == 0 ? 0 : std::exp(s[static_cast<std::size_t>(c)] - shift) / l);
      run.trace[static_cast<std::size_t>(at.p + row * p.Lk + c)] = weights.get(c);
    }
    run.trace[static_cast<std::size_t>(at.m + row)] = m;
    run.trace[static_cast<std::size_t>(at.l + row)] = l;
    run.trace[static_cast<std::size_t>(at.who_p + row)] = who(static_cast<std::uint32_t>(row), 0);
    run.out.lse.set(row, l == 0 ? kNone : m + std::log(l));
    for (std::int64_t d = 0; d < p.Dv; ++d) {
      float sum = 0;
      for (std::int64_t c = 0; c < p.Lk; ++c) sum = std::fmaf(weights.get(c), run.v(head, c, d), sum);
      run.trace[static_cast<std::size_t>(at.o + row * p.Dv + d)] = sum;
      run.trace[static_cast<std::size_t>(at.who_o + row * at.cuts_o + d / kTraceCut)] = who(3, 1);
      run.out.out.set(row * p.Dv + d, sum);
    }
  }
}

TEST(TraceOfFlashSimt, BecomesARecordingThatReplays) {
  for (const bool causal : {false, true}) {
    for (const bool bias : {false, true}) {
      Problem p = ragged(causal);
      if (bias) p.bias_shape = {1, 1, 37, 53};
      TracedRun run = make_run("flash_simt", p, small_tile());
      run_flash(run);
      const auto rec = decoded(run);
      ASSERT_TRUE(rec) << rec.error().message;
      expect_good(*rec);
      EXPECT_EQ(rec->rules, Rules::none);
      EXPECT_EQ(rec->gpu->makers.size(), rec->versions.size());
    }
  }
}

// S before the mask is the product alone, l is two lanes' halves, P enters the product in 16 bits.
TEST(TraceOfFlashWmma, BecomesARecordingThatReplays) {
  for (const DType dtype : {DType::f16, DType::bf16}) {
    for (const bool bias : {false, true}) {
      Problem p = ragged(true);
      p.dtype = dtype;
      if (bias) p.bias_shape = {1, 1, 37, 53};
      TracedRun run = make_run("flash_wmma", p, small_tile());
      run_flash(run);
      const auto rec = decoded(run);
      ASSERT_TRUE(rec) << rec.error().message;
      expect_good(*rec);
      const EventIndex scores = *rec->find({0, 0, 1, 1, Phase::scores});
      EXPECT_EQ(rec->version(rec->after(scores, Slot::s)).holds.scaled,
                !bias && p.cover(0, 16, 32, 16, 32) == TileCover::full);
      EXPECT_EQ(rec->gpu->p, dtype);
    }
  }
}

TEST(TraceOfFlashSimt, HasTheEventsOfTheCpusRun) {
  const Problem p = ragged(true);
  TracedRun run = make_run("flash_simt", p, small_tile());
  run_flash(run);
  const auto rec = decoded(run);
  ASSERT_TRUE(rec) << rec.error().message;
  const KernelRow& row = **find_kernel("cpu_flash");
  const auto cpu = row.record(row, p, small_tile(), run.in, {});
  ASSERT_TRUE(cpu) << cpu.error().message;
  ASSERT_EQ(rec->events.size(), cpu->events.size());
  for (std::size_t e = 0; e < rec->events.size(); ++e) {
    EXPECT_EQ(rec->events[e].id, cpu->events[e].id) << e;
    EXPECT_EQ(rec->events[e].hbm_bytes, cpu->events[e].hbm_bytes) << e;
  }
  // S and m in base 2, l one column a lane; else the same numbers.
  const EventIndex e = *rec->find({1, 1, 2, 1, Phase::sum}), same = *cpu->find({1, 1, 2, 1, Phase::sum});
  const Version& m = rec->version(rec->after(e, Slot::m_new));
  EXPECT_EQ(m.holds, (Holds{.scaled = true, .base2 = true}));
  EXPECT_NEAR(rec->values(rec->after(e, Slot::m_new))[3] * kLn2, cpu->values(cpu->after(same, Slot::m_new))[3], 1e-5);
  const Version& l = rec->version(rec->after(e, Slot::l_new));
  EXPECT_TRUE(l.holds.partial);
  EXPECT_EQ(l.cols, 16);
  float sum = 0;
  for (int lane = 0; lane < 16; ++lane)
    sum += rec->values(rec->after(e, Slot::l_new))[static_cast<std::size_t>(3 * 16 + lane)];
  EXPECT_NEAR(sum, cpu->values(cpu->after(same, Slot::l_new))[3], 1e-4);
  // Query tile 2 of head 3 is block 9: later tiles come first.
  EXPECT_EQ(rec->gpu->makers[rec->after(e, Slot::m_new)], (Maker{9, 0}));
}

TEST(TraceOfFlashSimt, SaysWhatWasNotWritten) {
  TracedRun run = make_run("flash_simt", ragged(false), small_tile());
  run_flash(run);
  const Problem& p = run.p();
  const FlashTrace at = flash_trace(static_cast<int>(p.Dv), 16, 16, 16);
  const FlashTracePlaces places = flash_trace_places(at, 2 * 2 * 3, 4, run.plan.options.threads);
  const std::vector<float> whole = run.trace;
  run.trace[static_cast<std::size_t>(places.tiles + at.alpha + 5)] = std::bit_cast<float>(~0U);
  auto rec = decoded(run);
  ASSERT_FALSE(rec);
  EXPECT_NE(rec.error().message.find("did not write alpha at row 5 of head 0"), std::string::npos)
      << rec.error().message;
  run.trace = whole;
  run.trace[static_cast<std::size_t>(places.tiles + at.tile + at.who)] = std::bit_cast<float>(~0U);
  rec = decoded(run);
  ASSERT_FALSE(rec);
  EXPECT_NE(rec.error().message.find("wrote nothing for query tile 0, key tile 1"), std::string::npos)
      << rec.error().message;
  run.trace = whole;
  run.trace.pop_back();
  EXPECT_FALSE(decoded(run));
}

TEST(TraceOfFlashSimt, ReplayNamesTheFirstPlaceThatDiffers) {
  TracedRun run = make_run("flash_simt", ragged(false), small_tile());
  run_flash(run);
  const FlashTrace at = flash_trace(20, 16, 16, 16);
  const FlashTracePlaces places = flash_trace_places(at, 2 * 2 * 3, 4, run.plan.options.threads);
  const std::int64_t tile = places.tiles + at.tile;
  expect_replay_names_first_difference(run,
                                       {{tile + at.s, Phase::scores},
                                        {tile + at.m, Phase::max},
                                        {tile + at.alpha, Phase::rescale},
                                        {tile + at.p, Phase::weights},
                                        {tile + at.l, Phase::sum},
                                        {tile + at.o, Phase::output}},
                                       decoded, [](const Recording& rec, const ReplayDifference& d) {
                                         const EventId id = rec.events[d.event].id;
                                         EXPECT_EQ(id, (EventId{0, 0, 0, 1, id.phase}));
                                         EXPECT_EQ(d.row, 0);
                                         EXPECT_EQ(d.col, 0);
                                       });
}

TEST(TraceOfStoredScores, BecomesARecordingCutIntoTiles) {
  for (const char* kernel : {"naive", "tiled"}) {
    for (const DType dtype : {DType::f32, DType::bf16}) {
      for (const bool causal : {false, true}) {
        Problem p = ragged(causal);
        p.dtype = dtype;
        TracedRun run = make_run(kernel, p, {});
        run_stored(run);
        const auto rec = decoded(run);
        ASSERT_TRUE(rec) << rec.error().message;
        expect_good(*rec);
        EXPECT_EQ(rec->options.br, 16);
        EXPECT_EQ(rec->gpu->launched.threads, run.plan.options.threads);
        EXPECT_EQ(rec->gpu->launched.br, run.plan.options.br);
        // One m of a row, made with its last key tile.
        EXPECT_FALSE(rec->find({0, 0, 1, 1, Phase::max}));
        EXPECT_TRUE(rec->find({0, 0, 1, 3, Phase::max}));
      }
    }
  }
}

TEST(TraceOfStoredScores, ReplayNamesTheFirstPlaceThatDiffers) {
  TracedRun run = make_run("naive", ragged(true), {});
  run_stored(run);
  const StoredTrace at = stored_trace(2 * 2 * 37, 53, 20);
  expect_replay_names_first_difference(
      run,
      {{at.s, Phase::scores}, {at.m, Phase::max}, {at.l, Phase::sum}, {at.p, Phase::weights}, {at.o, Phase::output}},
      decoded, [](const Recording&, const ReplayDifference&) {});
}

// For charts and sentences: what is read is the formulas' numbers, in the same places.
TEST(FormulaReading, HasTheNumbersOfTheCpusRun) {
  const Problem p = ragged(true);
  TracedRun run = make_run("flash_simt", p, small_tile());
  run_flash(run);
  const auto held = decoded(run);
  ASSERT_TRUE(held) << held.error().message;
  EXPECT_TRUE(differs_from_formulas(*held));
  const Recording rec = formula_reading(*held);
  EXPECT_FALSE(differs_from_formulas(rec));
  const auto cpu = (**find_kernel("cpu_flash")).record(**find_kernel("cpu_flash"), p, small_tile(), run.in, {});
  ASSERT_TRUE(cpu) << cpu.error().message;
  EXPECT_FALSE(differs_from_formulas(*cpu));
  ASSERT_EQ(rec.events.size(), cpu->events.size());
  int compared = 0;
  for (EventIndex e = 0; e < rec.events.size(); ++e) {
    for (std::size_t s = 0; s < kSlots; ++s) {
      const VersionId mine = rec.events[e].after[s], theirs = cpu->events[e].after[s];
      ASSERT_EQ(mine == kNoVersion, theirs == kNoVersion) << e << " " << s;
      if (mine == kNoVersion) continue;
      const auto a = rec.values(mine), b = cpu->values(theirs);
      ASSERT_EQ(a.size(), b.size()) << e << " " << name_of(static_cast<Slot>(s));
      for (std::size_t n = 0; n < a.size(); ++n) {
        if (a[n] == b[n]) continue;
        ASSERT_NEAR(a[n], b[n], 1e-4 * (1 + std::fabs(b[n]))) << e << " " << name_of(static_cast<Slot>(s)) << " " << n;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 1000);
}

// Its numbers lie within the bounds that a chart shows, O and LSE at the end too.
TEST(FormulaReading, LiesWithinTheBoundsOfFp64) {
  for (const char* kernel : {"flash_simt", "naive", "flash_wmma"}) {
    Problem p = ragged(true);
    if (std::string(kernel) == "flash_wmma") p.dtype = DType::f16;
    TracedRun run = make_run(kernel, p, std::string(kernel) == "naive" ? Options{} : small_tile());
    if (std::string(kernel) == "naive")
      run_stored(run);
    else
      run_flash(run);
    const auto held = decoded(run);
    ASSERT_TRUE(held) << held.error().message;
    const Recording rec = formula_reading(*held);
    const ExactTile exact(rec, 1, 1, 1);
    int compared = 0;
    for (const EventIndex e : rec.events_of(1, 1, 1)) {
      for (std::size_t s = 0; s < kSlots; ++s) {
        const VersionId id = rec.events[e].after[s];
        if (id == kNoVersion || rec.version(id).made_by != e) continue;
        for (std::size_t n = 0; n < rec.values(id).size(); ++n) {
          const auto number = exact.at(id, n);
          if (!number || !std::isfinite(number->exact)) continue;
          ASSERT_LE(std::fabs(rec.values(id)[n] - number->exact), number->bound)
              << kernel << " " << e << " " << name_of(static_cast<Slot>(s)) << " " << n;
          ++compared;
        }
      }
    }
    EXPECT_GT(compared, 1000) << kernel;
  }
}

TEST(TraceOfAGpu, IsReadBackFromAFile) {
  for (const char* kernel : {"flash_simt", "naive"}) {
    TracedRun run = make_run(kernel, ragged(true), std::string(kernel) == "naive" ? Options{} : small_tile());
    if (std::string(kernel) == "naive")
      run_stored(run);
    else
      run_flash(run);
    const auto rec = decoded(run);
    ASSERT_TRUE(rec) << rec.error().message;
    const TempFolder folder;
    const auto file = folder.path() / "gpu.attn";
    const auto written = write_recording(file, *rec);
    ASSERT_TRUE(written) << written.error().message;
    const auto container = read_container(file);
    ASSERT_TRUE(container);
    const auto session = session_object(*container, "it");
    ASSERT_TRUE(session);
    EXPECT_EQ((*session)->at("version"), 2);  // an older program says that it is too old
    const auto back = read_recording(file);
    ASSERT_TRUE(back) << back.error().message;
    ASSERT_TRUE(back->gpu);
    EXPECT_EQ(back->gpu->uuid, rec->gpu->uuid);
    EXPECT_EQ(back->gpu->exp2, rec->gpu->exp2);
    EXPECT_EQ(back->gpu->p, rec->gpu->p);
    EXPECT_EQ(back->gpu->launched, rec->gpu->launched);
    EXPECT_EQ(back->gpu->cut, rec->gpu->cut);
    EXPECT_EQ(back->gpu->makers, rec->gpu->makers);
    EXPECT_EQ(back->options, rec->options);
    EXPECT_EQ(back->device, "NVIDIA H100");
    ASSERT_EQ(back->versions.size(), rec->versions.size());
    for (std::size_t v = 0; v < back->versions.size(); ++v) EXPECT_EQ(back->versions[v].holds, rec->versions[v].holds);
    expect_good(*back);
  }
}

TEST(TraceOfAGpu, RefusesAFileWhoseGpuPartsDoNotFit) {
  TracedRun run = make_run("flash_simt", ragged(false), small_tile());
  run_flash(run);
  const auto rec = decoded(run);
  ASSERT_TRUE(rec);
  Recording wrong = *rec;
  wrong.gpu->makers.pop_back();
  EXPECT_FALSE(check_recording(wrong, "it"));
  wrong = *rec;
  wrong.gpu.reset();
  EXPECT_FALSE(check_recording(wrong, "it"));
  nlohmann::json session = nlohmann::json::object();
  Container c;
  ASSERT_TRUE(add_recording(*rec, 0, session, c));
  const nlohmann::json good = session;
  const auto read = [&] {
    c.session_json = session_text(session, 2);
    return recordings_of(c, "it");
  };
  EXPECT_TRUE(read());
  for (const auto& [key, value] : std::initializer_list<std::pair<const char*, nlohmann::json>>{
           {"place", "tpu"}, {"arithmetic", "exp2"}, {"cut", {0, 16}}, {"cut", {16}}, {"makers", "r0/versions.npy"}}) {
    session = good;
    session["recordings"][0][key] = value;
    EXPECT_FALSE(read()) << key;
  }
}

TEST(Traceable, SaysWhyARunIsNot) {
  const KernelRow& row = **find_kernel("flash_simt");
  const Device device = *device_for(kArchRunOn);
  const auto source = kernel_source("flash_simt", {});
  ASSERT_TRUE(source);
  const auto plan = row.plan(row, ragged(false), small_tile(), device);
  ASSERT_TRUE(plan);
  EXPECT_TRUE(check_traceable(*plan, *source));
  KernelSource edited{"copies/flash_simt.cu", "int x;\n", "0123456789abcdef", true};
  const auto no_hooks = check_traceable(*plan, edited);
  ASSERT_FALSE(no_hooks);
  const std::string why = "flash_simt@01234567 cannot record itself: its source (copies/flash_simt.cu) has no hooks";
  EXPECT_NE(no_hooks.error().message.find(why), std::string::npos) << no_hooks.error().message;
  Problem large = ragged(false);
  large.Lq = large.Lk = 8192;
  const auto big = row.plan(row, large, {}, device);
  ASSERT_TRUE(big);
  EXPECT_FALSE(check_traceable(*big, *source));
}

}  // namespace
}  // namespace attn::gpu
