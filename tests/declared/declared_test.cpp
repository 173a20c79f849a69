// A rung with an unknown id, and what it declares, appear in all that reads a row or a declaration.
#include "tests/declared/rung.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "app/cli/arguments/problem_arguments.h"
#include "app/state/apply/apply.h"
#include "app/state/string/state_string.h"
#include "kernels/cpu/device.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/lab/experiments.h"
#include "kernels/ladder.h"
#include "kernels/model/problem_json.h"
#include "nlohmann/json.hpp"
#include "profiling/figures/samples.h"
#include "profiling/session/json/measurement_json.h"
#include "profiling/session/session.h"
#include "profiling/sweep/sweep.h"
#include "profiling/tune/candidates.h"
#include "profiling/tune/export.h"
#include "profiling/tune/store.h"
#include "tests/viz/profile/profile_rows.h"
#include "tests/viz/profile/toy_counts.h"
#include "viz/bench/ladder/ladder.h"
#include "viz/bench/scene/bench_scene.h"
#include "viz/bench/sweep/sweep_choices.h"
#include "viz/bench/sweep/sweep_fields.h"
#include "viz/bench/tiles/tile_map.h"
#include "viz/draw/kernel_looks.h"
#include "viz/profile/figures/findings.h"
#include "viz/profile/lab/lab.h"
#include "viz/step/charts/fragments.h"

namespace attn {
namespace {

using test::kDepth;
using test::kFlavour;
using test::kKeys;

constexpr const char* kRung = "unheard_of";

const KernelRow& rung() {
  return **find_kernel(kRung);
}

SweepSpec small_sweep(const char* axis, std::vector<std::int64_t> values) {
  SweepSpec s;
  s.kernels = {"cpu_sequential", kRung};
  s.axis = *axis_from_name(axis);
  s.values = std::move(values);
  s.base.Lq = s.base.Lk = 16;
  s.base.D = s.base.Dv = 8;
  s.seconds_per_point = 0.01;
  s.peak = {100, 10, 1};
  return s;
}

std::vector<Measurement> measured(const SweepSpec& s) {
  const auto rows = run_sweep(s, {}, {});
  EXPECT_TRUE(rows) << rows.error().message;
  return rows ? *rows : std::vector<Measurement>();
}

Session session_of_rows(std::vector<Measurement> rows) {
  Session session;
  session.runs.resize(1);
  session.runs.front().rows = std::move(rows);
  return session;
}

std::string last_field(const std::string& line) {
  return line.substr(line.rfind(',') + 1);
}

TEST(Declared, AnOptionIsResolvedAndRefusedLikeAnyOther) {
  Options o;
  auto resolved = resolve(rung(), o, cpu_device());
  ASSERT_TRUE(resolved);
  EXPECT_EQ(chosen(*resolved, kDepth), 2);
  EXPECT_EQ(chosen(*resolved, kFlavour), 0);
  choose(o, kDepth, 4);
  choose(o, kFlavour, 1);
  EXPECT_EQ(chosen(*resolve(rung(), o, cpu_device()), kDepth), 4);
  EXPECT_EQ(resolve(**find_kernel("cpu_flash"), o, cpu_device())->further, std::vector<Setting>())
      << "another kernel does not read it";
  choose(o, kDepth, 5);
  resolved = resolve(rung(), o, cpu_device());
  ASSERT_FALSE(resolved);
  EXPECT_NE(resolved.error().message.find("depth from 1 to 4, not 5"), std::string::npos) << resolved.error().message;
}

TEST(Declared, ASweepRunsAlongTheOptionAndAlongTheAxis) {
  std::set<std::int64_t> depths;
  for (const Measurement& m : measured(small_sweep("depth", {1, 2, 4}))) {
    EXPECT_EQ(m.state, RowState::done) << m.reason;
    if (m.key.kernel == kRung) depths.insert(axis_value(Axis("depth"), m));
  }
  EXPECT_EQ(depths, (std::set<std::int64_t>{1, 2, 4}));
  std::set<std::int64_t> keys;
  for (const Measurement& m : measured(small_sweep("keys", {4, 8}))) {
    EXPECT_EQ(m.key.problem.Lq, 16);
    keys.insert(m.key.problem.Lk);
  }
  EXPECT_EQ(keys, (std::set<std::int64_t>{4, 8}));
  EXPECT_FALSE(axis_from_name("flavour")) << "a choice is no axis";
  EXPECT_NE(axis_from_name("height").error().message.find("keys"), std::string::npos);
}

TEST(Declared, CsvHasAColumnOnlyWhereAMeasuredRowDeclaresIt) {
  SweepSpec s = small_sweep("L", {8});
  choose(s.options, kFlavour, 1);
  const std::string with = to_csv(session_of_rows(measured(s)));
  const std::string header = with.substr(0, with.find('\n'));
  EXPECT_TRUE(header.ends_with(",held_down_by,depth,flavour")) << header;
  EXPECT_NE(with.find(",2,sour\n"), std::string::npos) << with;
  EXPECT_NE(with.find(",,\n"), std::string::npos) << "cpu_sequential reads neither";
  s.kernels = {"cpu_sequential"};
  const std::string without = to_csv(session_of_rows(measured(s)));
  EXPECT_EQ(last_field(without.substr(0, without.find('\n'))), "held_down_by");
}

TEST(Declared, SessionsKeepWhatWasChosenAndRefuseWhatIsNoOption) {
  Options o;
  EXPECT_FALSE(options_to_json(o).contains("set")) << "files without further options are as they always were";
  choose(o, kDepth, 3);
  choose(o, kFlavour, 1);
  const auto back = options_from_json(options_to_json(o), "options");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, o);
  for (const char* bad : {R"({"set": {"br": 4}})", R"({"set": {"Depth": 4}})", R"({"set": {"depth": 1e99}})",
                          R"({"set": {"depth": "deep"}})", R"({"set": 4})"})
    EXPECT_FALSE(options_from_json(nlohmann::json::parse(bad), "options")) << bad;
}

TEST(Declared, FragmentsAreThoseOfTheRow) {
  const KernelRow* row = shown_fragments("unheard_of_gpu");
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->id, "unheard_of_gpu");
  const FragmentScene scene = fragment_scene(*row->fragments, FragmentTile::v, {});
  EXPECT_EQ(scene.title, "V, 8 × 1: operand Z of unheard.of");
  EXPECT_EQ(scene.words, "A test's. A cell's number is the lane that holds it.");
  EXPECT_EQ(scene.shared, "Nowhere else.");
  EXPECT_EQ(cell_words(scene, 5, 0), "V[5][0]: lane 5, register z0; not in shared memory.");
  State s = initial_state();
  const auto chosen = apply(s, ChooseFragment{"unheard_of_gpu", FragmentTile::v}, nullptr);
  ASSERT_TRUE(chosen) << chosen.error().message;
  const auto text = state_string(*chosen);
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_NE(text->find("fragment_rung=unheard_of_gpu"), std::string::npos) << *text;
  const auto back = parse_state_string(*text);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->state.view.step.fragment_kernel, "unheard_of_gpu");
  EXPECT_FALSE(apply(s, ChooseFragment{"unheard_of", FragmentTile::v}, nullptr)) << "the CPU has no tensor cores";
}

TEST(Declared, ARowWithAnOptionOfItsOwnNeedsVersionThree) {
  SweepSpec s = small_sweep("L", {8});
  s.kernels = {"cpu_sequential"};
  for (const Measurement& m : measured(s)) EXPECT_EQ(attn_version_of(m), 1);
  s = small_sweep("L", {8});
  choose(s.options, kFlavour, 1);
  int rows = 0;
  for (const Measurement& m : measured(s)) {
    if (m.key.kernel != kRung) continue;
    EXPECT_EQ(attn_version_of(m), 3);
    ++rows;
  }
  EXPECT_EQ(rows, 1);
}

TEST(Declared, AStateStringNamesThem) {
  State s = initial_state();
  s.document.sweep = small_sweep("depth", {1, 4});
  choose(s.document.sweep.options, kDepth, 3);
  choose(s.document.sweep.options, kFlavour, 1);
  const auto text = state_string(s);
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_NE(text->find(",sweep_axis=depth,"), std::string::npos) << *text;
  EXPECT_NE(text->find(",sweep_set=depth:3/flavour:sour"), std::string::npos) << *text;
  const auto back = parse_state_string(*text);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->state.document.sweep.axis, s.document.sweep.axis);
  EXPECT_EQ(back->state.document.sweep.options, s.document.sweep.options);
  for (const char* bad : {"set=depth", "set=height:3", "set=depth:deep", "set=depth:1/depth:2", "set=br:4"})
    EXPECT_FALSE(parse_state_string(std::string("attn1,") + bad)) << bad;
}

TEST(Declared, TheCommandLineSetsThemByName) {
  const KernelRow* const rows[] = {&rung()};
  cli::OptionArguments a;
  a.set = {"depth=3", "flavour=sour", "br=4"};
  Options o;
  ASSERT_TRUE(a.apply_to(o));
  ASSERT_TRUE(a.check_read_by(rows));
  EXPECT_EQ(chosen(o, kDepth), 3);
  EXPECT_EQ(chosen(o, kFlavour), 1);
  EXPECT_EQ(o.br, 4);
  const auto refusal = [&](const char* set) {
    a.set = {set};
    const auto checked = a.check_read_by(rows);
    return checked ? std::string() : checked.error().message;
  };
  for (const char* bad : {"height=3", "depth=5", "depth=deep", "depth", "flavour=bitter", "stages=2"})
    EXPECT_NE(refusal(bad), "") << bad;
  EXPECT_NE(refusal("height=3").find("depth (1 to 4), flavour (sweet or sour)"), std::string::npos)
      << refusal("height=3");
  EXPECT_NE(refusal("depth=5").find("unheard_of takes 1 to 4"), std::string::npos) << refusal("depth=5");
}

TEST(Declared, TuningTriesAndKeepsItsValues) {
  Problem p;
  p.Lq = p.Lk = 32;
  p.D = p.Dv = 8;
  const auto all = tile_candidates(rung(), p, {}, cpu_device());
  ASSERT_TRUE(all) << all.error().message;
  std::set<std::int64_t> depths, bytes;
  for (const TileCandidate& c : *all) {
    depths.insert(chosen(c.options, kDepth).value_or(0));
    bytes.insert(c.shared_bytes);
  }
  EXPECT_EQ(depths, (std::set<std::int64_t>{1, 2, 3, 4}));
  EXPECT_EQ(bytes, (std::set<std::int64_t>{1024, 2048, 3072, 4096})) << "the plan reads it";
  EXPECT_NE(tile_words(rung(), all->front().options).find("depth 1"), std::string::npos);
  Options asked;
  EXPECT_EQ(tile_from(rung(), asked, false), "default");
  choose(asked, kDepth, 1);
  EXPECT_EQ(tile_from(rung(), asked, false), "asked");
  Options fixed;
  choose(fixed, kDepth, 3);
  const auto few = tile_candidates(rung(), p, fixed, cpu_device());
  ASSERT_TRUE(few);
  for (const TileCandidate& c : *few) EXPECT_EQ(chosen(c.options, kDepth), 3) << "what is asked for is not varied";
  SweepSpec s = sweep_with_tile(small_sweep("L", {8}), all->front().options, false);
  EXPECT_EQ(chosen(s.options, kDepth), chosen(all->front().options, kDepth));
}

TEST(Declared, TheTunersCsvHasAColumnOfEachOptionThatTheRungDeclares) {
  Problem p;
  p.Lq = p.Lk = 32;
  p.D = p.Dv = 8;
  Options sour;
  choose(sour, kFlavour, 1);
  const auto csv_of = [&](const KernelRow& row) {
    TuneResult r;
    r.kernel = row.id;
    r.problem = p;
    const auto all = tile_candidates(row, p, &row == &rung() ? sour : Options(), cpu_device());
    EXPECT_TRUE(all) << all.error().message;
    for (const TileCandidate& c : *all) r.tiles.push_back({c, TileFate::not_tried, "", {}, {}, ""});
    return tiles_to_csv(r);
  };
  const std::string with = csv_of(rung());
  EXPECT_TRUE(with.substr(0, with.find('\n')).ends_with(",turns_count,depth,flavour")) << with;
  for (const char* end : {",1,sour\n", ",2,sour\n", ",3,sour\n", ",4,sour\n"})
    EXPECT_NE(with.find(end), std::string::npos) << end;
  const std::string without = csv_of(**find_kernel("cpu_flash"));
  EXPECT_TRUE(
      without.substr(0, without.find('\n')).ends_with(",turns_count,splits,merge,ranks,deal,pipeline,zero_tail"))
      << without;
}

// The row says what would better it and which experiment is prepared; no rule knows its id.
TEST(Declared, FindingsProposeWhatTheRungDeclares) {
  Measurement m = profile_test::h100_row("unheard_of_gpu", 20000);
  profile_test::put(m, "peak_share_pct", 40);
  profile_test::put(m, "dram_peak_share_pct", 20);
  profile_test::put(m, "tensor_pipe_pct", 0.5);
  const auto found = [&](std::string_view rule) {
    for (const Finding& f : findings_of(m, {"sm_90a", 132, {}}, finding_rules().size()))
      if (f.rule == rule) return f;
    ADD_FAILURE() << rule << " finds nothing";
    return Finding();
  };
  EXPECT_EQ(found("few_warps").prepared, "fewer_registers");
  KernelSamples samples;
  samples.reasons = {"selected", "lg_throttle"};
  samples.files = {"kernels/gpu/toy.cu"};
  samples.functions = {
      {"toy", {{0x10, gpu::CodePhase::s, {{0, 5}}, {{0, 40, 0}}}, {0x20, gpu::CodePhase::s, {{0, 7}}, {{1, 60, 50}}}}}};
  m.samples = std::make_shared<const KernelSamples>(samples);
  m.counts = std::make_shared<const KernelCounts>(profile_test::toy_counts());
  EXPECT_EQ(found("uncoalesced").other_kernel, "tiled");
}

TEST(Declared, BenchHasAFieldAnAxisAndValuesThatSuitIt) {
  SweepSpec s = small_sweep("L", {8});
  const auto field_of = [](const SweepSpec& sweep, std::string_view option) {
    for (const SweepFieldText& field : sweep_fields(sweep))
      if (field.field == SweepField::further && field.option == option) return field.text;
    return std::string("none");
  };
  EXPECT_EQ(field_of(s, "depth"), "usual");
  const auto with = with_field(s, SweepField::further, "3", "depth");
  ASSERT_TRUE(with) << with.error().message;
  EXPECT_EQ(field_of(*with, "depth"), "3");
  EXPECT_NE(sweep_key(*with), sweep_key(s));
  EXPECT_EQ(field_of(*with_field(s, SweepField::further, "sour", "flavour"), "flavour"), "sour");
  EXPECT_FALSE(with_field(s, SweepField::further, "bitter", "flavour"));
  const SweepMenu menu = axis_menu(s);
  for (const char* title : {"depth", "keys alone"})
    EXPECT_TRUE(std::ranges::any_of(menu.choices, [&](const SweepChoice& c) { return c.words == title; })) << title;
  const SweepSpec along = with_axis(s, Axis("depth"));
  EXPECT_EQ(along.values, (std::vector<std::int64_t>{1, 2, 4}));
  EXPECT_EQ(field_of(along, "depth"), "none") << "the axis overrides it";
  EXPECT_EQ(with_axis(s, Axis("keys")).values, (std::vector<std::int64_t>{8, 16, 32}));
  s.kernels = {"cpu_sequential"};
  EXPECT_EQ(field_of(s, "depth"), "none") << "no kernel of the sweep reads it";
}

TEST(Declared, RowsAlongTheOptionStandOnOneLine) {
  const SweepSpec s = small_sweep("depth", {1, 2, 4});
  const auto rows = measured(s);
  const BenchSlice slice = slice_rows(s, rows, false, nullptr, {});
  EXPECT_EQ(name_of(slice.axis), "depth");
  EXPECT_EQ(slice.values, (std::vector<std::int64_t>{1, 2, 4}));
  EXPECT_EQ(axis_letter(slice.axis), "depth");
  ASSERT_NE(row_at(slice, kRung, 4), nullptr);
}

TEST(Declared, TheLadderHasTheRung) {
  State state = initial_state();
  state.document.sweep = small_sweep("L", {16});
  state.document.runs.shown = {"00000000000000aa"};
  Model model;
  ListedRun run;
  run.run.id = "00000000000000aa";
  run.run.rows = measured(state.document.sweep);
  model.runs.push_back(std::move(run));
  const LadderScene scene = ladder_scene(state, model);
  const auto at = std::ranges::find(scene.rungs, kRung, &LadderRung::kernel);
  ASSERT_NE(at, scene.rungs.end()) << scene.empty;
  EXPECT_EQ(at->rung, "T");
  EXPECT_EQ(at->before, "cpu_sequential");
  EXPECT_FALSE(at->time.empty());
}

TEST(Declared, TheRungHasALookOfItsOwnKindAndItsExperiments) {
  EXPECT_EQ(look_of(kRung).mark, kUnknownLook.mark) << "until a look is chosen";
  EXPECT_NE(look_of("unheard_of_gpu").mark, kUnknownLook.mark) << "a GPU rung takes the next free look";
  EXPECT_EQ(look_of("unheard_of_gpu").kernel, "unheard_of_gpu");
  const auto experiment = find_experiment("fewer_registers");
  ASSERT_TRUE(experiment) << experiment.error().message;
  EXPECT_EQ((*experiment)->rung, "unheard_of_gpu");
  LabView lab;
  lab.kernel = "unheard_of_gpu";
  const LabScene scene = lab_scene(lab, {}, nullptr);
  ASSERT_FALSE(scene.experiments.empty());
  EXPECT_EQ(scene.experiments.front().title, "Fewer registers") << "its own come first";
}

}  // namespace
}  // namespace attn
