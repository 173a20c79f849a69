// The lines for softcap and ALiBi are in no build, hash or list of a problem without them, and count for one with.
#include "kernels/gpu/compile/score_lines.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "kernels/base/files.h"
#include "kernels/formats/container.h"
#include "kernels/gpu/compile/listing/listing.h"
#include "kernels/gpu/compile/service.h"
#include "kernels/gpu/rungs/common.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/gpu/rungs/specialise.h"
#include "tests/environment/asked.h"
#include "tests/environment/paths.h"
#include "tests/kernels/temp_folder.h"

namespace attn::gpu {
namespace {

TEST(ScoreLines, AreThoseThatEndInTheMark) {
  for (const char* line :
       {"  return x;  // @score", "int64 head;  // @score of the row", "// @score", "x;  // @score\r"}) {
    EXPECT_TRUE(is_score_line(line)) << line;
  }
  for (const char* line : {"return x;", "  // @scores", "// @phase S", "@score", "// the score"}) {
    EXPECT_FALSE(is_score_line(line)) << line;
  }
  EXPECT_EQ(without_score_lines("a\n  b;  // @score\nc"), "a\nc");
  EXPECT_EQ(with_blank_score_lines("a\n  b;  // @score\nc"), "a\n\nc");
  EXPECT_TRUE(has_score_lines("a\nb  // @score\n"));
  EXPECT_FALSE(has_score_lines("a\nb\n"));
}

Problem problem(DType dtype, bool softcap, bool alibi) {
  Problem p;
  p.Hq = p.Hkv = 2;
  p.Lq = p.Lk = 300;
  p.D = p.Dv = 32;  // narrow heads compile sooner
  p.dtype = dtype;
  p.mask.causal = true;
  if (softcap) p.softcap = 30;
  if (alibi) p.alibi.emplace();
  return p;
}

// Every hash that a session of the program's own names, of every rung.
std::map<std::string, std::set<std::string>> bundled_hashes() {
  std::map<std::string, std::set<std::string>> hashes;
  for (const auto& file : std::filesystem::directory_iterator(test::source_folder() + "/assets/sessions")) {
    const auto container = read_container(file.path());
    EXPECT_TRUE(container) << file.path();
    if (!container) continue;
    const auto session = session_object(*container, file.path().string());
    EXPECT_TRUE(session) << file.path();
    if (!session) continue;
    nlohmann::json runs = (*session)->value("runs", nlohmann::json::array());
    runs.push_back(**session);
    for (const nlohmann::json& run : runs) {
      for (const nlohmann::json& m : run.value("measurements", nlohmann::json::array())) {
        if (m.value("place", "") == "gpu") hashes[m.at("kernel")].insert(m.value("source_hash", ""));
      }
    }
  }
  return hashes;
}

TEST(ScoreLines, LeaveTheHashesOfBundledSessionsAsTheyAre) {
  int rungs = 0;
  for (const auto& [id, hashes] : bundled_hashes()) {
    const auto row = std::ranges::find(gpu_kernel_table(), id, &KernelRow::id);
    if (row == gpu_kernel_table().end()) continue;  // a peer
    const auto source = source_of(*row, problem(row->dtypes.front(), false, false), {});
    ASSERT_TRUE(source);
    EXPECT_TRUE(hashes.contains(source->hash)) << id << " " << source->hash;
    ++rungs;
  }
  EXPECT_GE(rungs, 6);
}

TEST(ScoreLines, OfNoRungAreSeenWithoutSoftcapAndAlibi) {
  for (const SourceText& s : embedded_sources()) {
    for (const char* word : {"@score", "softcap", "slopes", "slope_of", "score.cuh"}) {
      EXPECT_EQ(s.text.find(word), std::string_view::npos) << s.name << " has " << word;
    }
  }
  // What is compiled with them is those texts and the score lines, nothing else.
  std::size_t with = 0;
  for (const SourceText& s : embedded_sources(ScoreLines::in)) {
    if (is_score_header(s.name)) continue;
    const auto plain = std::ranges::find(embedded_sources(), s.name, &SourceText::name);
    ASSERT_NE(plain, embedded_sources().end()) << s.name;
    EXPECT_EQ(without_score_lines(s.text), plain->text) << s.name;
    with += has_score_lines(s.text) ? 1 : 0;
  }
  EXPECT_GE(with, 4U);
}

TEST(ScoreLines, CountForTheHashOfARowWithSoftcapOrAlibi) {
  std::vector<SourceText> changed(embedded_sources(ScoreLines::in).begin(), embedded_sources(ScoreLines::in).end());
  for (SourceText& s : changed) {
    if (s.name == "kernels/gpu/score.cuh") s.text = "// another tanh\n";
  }
  for (const KernelRow& row : gpu_kernel_table()) {
    const auto plain = source_of(row, problem(row.dtypes.front(), false, false), {});
    const auto capped = source_of(row, problem(row.dtypes.front(), true, false), {});
    const auto sloped = source_of(row, problem(row.dtypes.front(), false, true), {});
    ASSERT_TRUE(plain && capped && sloped);
    EXPECT_NE(plain->hash, capped->hash) << row.id;
    const auto listing = list_source(*capped, row.id, "sm_90a", "");
    ASSERT_TRUE(listing) << listing.error().message;
    EXPECT_TRUE(std::ranges::any_of(listing->files, [](const ListedFile& f) { return is_score_header(f.name); }));
    EXPECT_EQ(capped->hash, sloped->hash) << row.id << ": the defines tell them apart, as they do dtypes";
    EXPECT_NE(plain->text_hash, capped->text_hash) << row.id;
    EXPECT_NE(capped->hash, source_hash(row.id, capped->text, changed)) << row.id << ": score.cuh does not count";
    EXPECT_EQ(plain->hash, source_hash(row.id, plain->text, embedded_sources())) << row.id;
    const auto headers = headers_of(row.id, capped->text, embedded_sources(ScoreLines::in));
    EXPECT_TRUE(std::ranges::any_of(headers, [](const SourceText& s) { return is_score_header(s.name); })) << row.id;
  }
}

TEST(ScoreLines, AreSaidByTheDefinesOfACompilation) {
  for (const KernelRow& row : gpu_kernel_table()) {
    for (const bool softcap : {false, true}) {
      for (const bool alibi : {false, true}) {
        const Problem p = problem(row.dtypes.front(), softcap, alibi);
        if (!check_takes(row, p)) continue;
        const auto plan = row.plan(row, p, {}, *device_for("sm_90a"));
        ASSERT_TRUE(plan) << row.id << ": " << plan.error().message;
        EXPECT_EQ(score_lines_for(defines_of(*plan, true)), score_lines_for(p)) << row.id << " " << describe(p);
        EXPECT_EQ(score_lines_for(p) == ScoreLines::in, softcap || alibi);
      }
    }
  }
}

// A copy from before the lines there were, or without them, would leave softcap and ALiBi out.
TEST(ScoreLines, ThatAnEditedCopyLacksAreAskedForInWords) {
  const TempFolder folder;
  const auto plain = kernel_source("flash_wmma", {});
  ASSERT_TRUE(plain);
  ASSERT_TRUE(write_file_atomically(folder.path() / "flash_wmma.cu", std::as_bytes(std::span(plain->text))));
  EXPECT_TRUE(kernel_source("flash_wmma", folder.path()));
  const auto refused = kernel_source("flash_wmma", folder.path(), ScoreLines::in);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("does not support softcap or ALiBi"), std::string::npos)
      << refused.error().message;
  // Its hooks for them lie in headers alone: a copy of naive has them without a line of its own.
  const auto naive = kernel_source("naive", {});
  ASSERT_TRUE(write_file_atomically(folder.path() / "naive.cu", std::as_bytes(std::span(naive->text))));
  EXPECT_TRUE(kernel_source("naive", folder.path(), ScoreLines::in));
  // A copy with them keeps its lines' numbers where they do not count.
  const std::string own = "int a;\nint b;  // @score\nint c;\n";
  ASSERT_TRUE(write_file_atomically(folder.path() / "flash_wmma.cu", std::as_bytes(std::span(own))));
  EXPECT_EQ(kernel_source("flash_wmma", folder.path())->text, "int a;\n\nint c;\n");
  EXPECT_EQ(kernel_source("flash_wmma", folder.path(), ScoreLines::in)->text, own);
}

class ScoreCode : public testing::TestWithParam<std::string_view> {};

// Rungs in turn with the architectures, each with another of the three; the long list has every second pair.
TEST_P(ScoreCode, CompilesWithSoftcapAndAlibiWithoutSpills) {
  if (test::asked("ATTNSCOPE_SANITIZED") && GetParam() != kArchRunOn) GTEST_SKIP() << "one is enough here";
  const auto compiler = open_nvrtc();
  if (!compiler) GTEST_SKIP() << compiler.error().message;
  CompileService service(**compiler, {});
  const Device device = *device_for(GetParam());
  const auto turn = static_cast<std::size_t>(std::ranges::find(architectures(), GetParam()) - architectures().begin());
  std::size_t n = turn, compiled = 0;
  for (const KernelRow& row : gpu_kernel_table()) {
    if (std::ranges::find(row.architectures, GetParam()) == row.architectures.end()) continue;
    if (++n % (test::asked("ATTNSCOPE_LONG_TESTS") ? 2 : 5) != 0) continue;
    const Problem p = problem(row.dtypes.front(), n % 3 != 0, n % 3 != 1);
    const auto plan = row.plan(row, p, {}, device);
    if (!plan) {  // who takes none of this names the rung that does
      EXPECT_NE(plan.error().message.find("; flash_bwd supports"), std::string::npos) << plan.error().message;
      continue;
    }
    const auto source = source_of(row, p, {});
    ASSERT_TRUE(source);
    const auto out = service.compile({*source, device.arch, defines_of(*plan, true)});
    ASSERT_TRUE(out) << row.id << ": " << out.error().message;
    for (const EntryFigures& e : out->entries) {
      EXPECT_EQ(e.spill_store_bytes + e.spill_load_bytes, 0) << e.name << " on " << GetParam() << ", " << describe(p);
    }
    for (const Launch& launch : plan->launches)  // a rung may have more entries than this problem needs
      EXPECT_NE(std::ranges::find(out->entries, launch.name, &EntryFigures::name), out->entries.end()) << launch.name;
    ++compiled;
  }
  EXPECT_GE(compiled, 1U);
}

INSTANTIATE_TEST_SUITE_P(Architectures, ScoreCode, testing::ValuesIn(architectures().begin(), architectures().end()),
                         [](const auto& arch) { return std::string(arch.param); });

}  // namespace
}  // namespace attn::gpu
