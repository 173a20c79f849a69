// Rows of peers in files, and what they have of figures.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "profiling/figures/baseline.h"
#include "profiling/figures/metrics.h"
#include "profiling/figures/peers.h"
#include "profiling/session/session.h"
#include "tests/kernels/temp_folder.h"
#include "tests/profiling/strict_csv.h"

namespace attn {
namespace {

Measurement peer_row() {
  Measurement m;
  m.key.kernel = "torch-flash";
  m.key.problem.dtype = DType::f16;
  m.key.device = "a GPU";
  m.key.l2 = L2State::cold;
  m.processor = Processor::gpu;
  m.clock = "CUDA events, in turns";
  m.samples_us = {10, 12, 11, 10, 12, 11};
  m.time = {6, 11, 10.25, 11.75, 10, 12, 10, 12, false, false};
  m.verdict = Verdict{};
  m.verdict->pass = true;
  m.verdict->at(Tensor::o).error = 1e-4;
  m.verdict->at(Tensor::o).allowed = 1e-3;
  TimedBeside naive{"naive", {}, m.time}, mma{"flash_mma", {}, m.time};
  naive.time.median = 110;
  naive.time.max = naive.time.q3 = naive.time.ci_high = 120;
  mma.options.br = 64;
  m.peer = PeerFacts{"FlashAttention-2", "torch 2.11.0, CUDA 13.0", "lower-right causal bias", {naive, mma}};
  relate_to_baseline(m, {});
  return m;
}

TEST(PeerRows, ComeBackFromAFileAsTheyWere) {
  const TempFolder folder;
  const Session written = session_of(provenance_here(), {peer_row()});
  ASSERT_TRUE(write_session(folder / "p.attn", written));
  const auto read = read_session(folder / "p.attn");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->notes.empty()) << read->notes.front();
  const Measurement& m = read->runs.at(0).rows.at(0);
  ASSERT_TRUE(m.peer);
  EXPECT_EQ(m.peer->title, "FlashAttention-2");
  EXPECT_EQ(m.peer->software, "torch 2.11.0, CUDA 13.0");
  EXPECT_EQ(m.peer->how, "lower-right causal bias");
  ASSERT_EQ(m.peer->beside.size(), 2U);
  EXPECT_EQ(m.peer->beside[1].kernel, "flash_mma");
  EXPECT_EQ(m.peer->beside[1].options.br, 64);
  EXPECT_EQ(m.peer->beside[0].time.median, 110);
  ASSERT_TRUE(m.verdict);
  EXPECT_TRUE(m.verdict->no_lse());
  EXPECT_DOUBLE_EQ(figure(m, "speedup_ratio").value, 10);
}

TEST(PeerRows, HaveTimeRateAndErrorAndSayWhyNothingElse) {
  const Measurement m = peer_row();
  EXPECT_DOUBLE_EQ(figure(m, "time_us_median").value, 11);
  EXPECT_TRUE(figure(m, "tflops").available());
  EXPECT_TRUE(figure(m, "error_abs").available());
  EXPECT_NE(figure(m, "lse_error_abs").reason.find("returns no LSE"), std::string::npos);
  for (const char* none : {"dram_read_bytes", "registers_count", "memory_peak_bytes", "compulsory_bytes"})
    EXPECT_EQ(figure(m, none).reason, "for peers, only time and error are measured") << none;
}

TEST(PeerRows, StandInTheCsvWithTheirTurns) {
  const test::StrictCsv table(to_csv(session_of(provenance_here(), {peer_row()})));
  ASSERT_EQ(table.rows.size(), 1U);
  const auto field = [&](const std::string& name) { return table.rows[0].at(name); };
  EXPECT_EQ(field("kernel"), "torch-flash");
  EXPECT_EQ(field("peer"), "FlashAttention-2");
  EXPECT_EQ(field("peer_beside_us"), "naive=110;flash_mma=11");
  EXPECT_EQ(field("br"), "");
  EXPECT_EQ(field("verdict"), "pass");
}

TEST(PeerRows, NoTwoPeersShareAnId) {
  for (const PeerRow& a : peer_table())
    for (const PeerRow& b : peer_table()) EXPECT_TRUE(&a == &b || a.id != b.id) << a.id;
  EXPECT_EQ(find_peer("torch-flush"), nullptr);
}

}  // namespace
}  // namespace attn
