// Arcs over a sentence against the softmax computed here in fp64 from the inputs, and against the order of the run.
#include "viz/step/timeline/sentence.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/viz/step/fixture.h"
#include "viz/step/tiles/tiles_scene.h"
#include "viz/step/timeline/heads.h"

namespace attn {
namespace {

struct Sung {
  std::shared_ptr<const Recording> rec;
  std::vector<std::string> words;
};

Sung run_of(const std::string& sentence, std::string_view kernel) {
  Preset preset = **find_preset("words");
  const auto words = sentence_words(sentence);
  EXPECT_TRUE(words);
  const auto row = find_kernel(kernel);
  InputSpec spec;
  spec.generator = Generator::words;
  spec.sentence = sentence;
  const Problem p = problem_of_words(sentence);
  Options options;
  options.br = preset.br, options.bc = preset.bc;
  auto rec = (*row)->record(**row, p, *resolve(**row, options, cpu_device()),
                            *make_all_inputs(p, spec, in_turn, 0, Stream{}), {});
  EXPECT_TRUE(rec);
  rec->labels = {*words, *words};
  return {std::make_shared<const Recording>(*std::move(rec)), *words};
}

// Of the keys whose P has been made in this head by event e: softmax in fp64.
std::vector<double> shares_so_far(const Recording& rec, EventIndex e, std::int32_t h, std::int32_t row) {
  const Problem& p = rec.problem;
  std::vector<double> w(static_cast<std::size_t>(p.Lk), std::numeric_limits<double>::quiet_NaN());
  double sum = 0, most = -std::numeric_limits<double>::infinity();
  for (const bool second : {false, true}) {
    for (std::int64_t k = 0; k < p.Lk; ++k) {
      const auto j = static_cast<std::int32_t>(k / rec.options.bc);
      const VersionId made = rec.tile_version(Slot::p, 0, h, row / rec.options.br, j, e);
      if (made == kNoVersion || !p.visible(0, row, k)) continue;
      double s = 0;
      for (std::int64_t d = 0; d < p.D; ++d)
        s += static_cast<double>(rec.inputs.q.get((h * p.Lq + row) * p.D + d)) *
             rec.inputs.k.get((h * p.Lk + k) * p.D + d);
      s *= p.effective_scale();
      if (!second) most = std::max(most, s);
      if (second) sum += w[static_cast<std::size_t>(k)] = std::exp(s - most);
    }
  }
  for (double& x : w) x /= sum;
  return w;
}

TEST(Sentence, ArcsAreTheSoftmaxOfTheWordsSoFarInBothHeads) {
  for (const char* sentence : {"", "we can can a can", "a b c d e f g h i j k l m n o p q r s t u v w x"}) {
    for (const char* kernel : {"cpu_flash", "cpu_flash1"}) {
      const Sung run = run_of(sentence, kernel);
      int arcs = 0;
      for (EventIndex e = 0; e < run.rec->events.size(); e += 3) {
        const StepPlace at = place_of(*run.rec, e, Selection{});
        const SentenceScene scene = sentence_scene(*run.rec, at, true);
        ASSERT_EQ(scene.too_many, "");
        ASSERT_EQ(scene.heads.size(), 2U);
        EXPECT_EQ(scene.query, run.words[static_cast<std::size_t>(at.row)]);
        EXPECT_EQ(scene.query_place, at.row);
        for (const SentenceHead& head : scene.heads) {
          const EventIndex own = head.h == at.h ? e : event_of_head(*run.rec, at, 0, head.h);
          const std::vector<double> exact = shares_so_far(*run.rec, own, head.h, at.row);
          double sum = 0;
          std::size_t n = 0;
          for (std::int64_t k = 0; k < run.rec->problem.Lk; ++k) {
            const double want = exact[static_cast<std::size_t>(k)];
            if (std::isnan(want)) continue;
            ASSERT_LT(n, head.arcs.size()) << "step " << e << ", key " << k << " has a weight and no arc";
            const SentenceArc& arc = head.arcs[n++];
            EXPECT_EQ(arc.key, k);
            EXPECT_NEAR(arc.share, want, 2e-6 * want + 1e-30) << sentence << " step " << e << " head " << head.h;
            sum += arc.share;
          }
          EXPECT_EQ(n, head.arcs.size()) << "an arc to a key that is not weighed yet";
          if (n > 0) {
            EXPECT_NEAR(sum, 1, 1e-6) << "shares sum to 100 % at every step";
          }
          arcs += static_cast<int>(n);
        }
      }
      EXPECT_GT(arcs, 50);
    }
  }
}

TEST(Sentence, WordsOfTilesToComeAreDashedAndThoseBehindTheMaskHatched) {
  const Sung run = run_of("", "cpu_flash");
  const auto e = run.rec->find({0, 1, 2, 1, Phase::weights});
  ASSERT_TRUE(e);
  Selection last;
  last.row = 9;
  const SentenceScene scene = sentence_scene(*run.rec, place_of(*run.rec, *e, last), true);
  for (std::int32_t k = 0; k < 12; ++k) {
    const WordLook want = k < 4    ? WordLook::weighed
                          : k < 8  ? WordLook::live
                          : k < 10 ? WordLook::to_come
                                   : WordLook::hidden;
    EXPECT_EQ(scene.words[static_cast<std::size_t>(k)].look, want) << k;
  }
  EXPECT_EQ(arc_words(scene, scene.heads[1], 1), "head 1: “cat” gets 74.2 % of the attention of “cat” so far");
  EXPECT_EQ(arc_words(scene, scene.heads[1], 9), "head 1: “cat” gets no attention from “cat” yet");
}

TEST(Sentence, WordsStandAtTheRowsAndKeysOfTheTiles) {
  const Sung run = run_of("", "cpu_flash");
  const auto e = run.rec->find({0, 1, 2, 1, Phase::weights});
  ASSERT_TRUE(e);
  const TilesScene tiles = tiles_scene(*run.rec, *e, Selection{}, OutputReading::as_summed, scales_of(*run.rec));
  EXPECT_EQ(tiles.row_words, (std::vector<std::string>{"small", "cat", "sang", "too"}));
  EXPECT_EQ(tiles.key_words, (std::vector<std::string>{"the", "mat", "and", "the"}));
  EXPECT_EQ(row_name(*run.rec, 0, 11), "row 11 “too”");
  EXPECT_EQ(row_name(*record_preset("blackboard", "cpu_flash"), 0, 1), "row 1") << "no words, no quotes";
}

TEST(Sentence, ClaimsTheToyOnlyWhereItIsOne) {
  const Sung run = run_of("", "cpu_flash");
  const StepPlace at = place_of(*run.rec, 5, Selection{});
  EXPECT_NE(plain_text(sentence_scene(*run.rec, at, true).note).find("nothing was trained"), std::string::npos);
  const SentenceScene plain = sentence_scene(*run.rec, at, false);
  EXPECT_EQ(plain_text(plain.note).find("trained"), std::string::npos);
  EXPECT_EQ(plain_text(plain.heads[0].title), "head 0");
}

TEST(Sentence, SaysWhyThereAreNoArcs) {
  Recording rec = *run_of("", "cpu_flash").rec;
  rec.labels.columns.clear();
  EXPECT_NE(sentence_scene(rec, place_of(rec, 5, Selection{}), false).too_many.find("Only one side"),
            std::string::npos);
  const auto large = record_preset("large", "cpu_flash");
  Recording labelled = *large;
  labelled.labels.rows = labelled.labels.columns = std::vector<std::string>(64, "w");
  EXPECT_NE(sentence_scene(labelled, place_of(labelled, 5, Selection{}), false).too_many.find("64 words are too many"),
            std::string::npos);
}

TEST(Sentence, PercentsNeverReadAsNothingOrAll) {
  EXPECT_EQ(arc_share_text(0.311), "31.1 %");
  EXPECT_EQ(arc_share_text(1), "100 %");
  EXPECT_EQ(arc_share_text(0), "0 %");
  EXPECT_EQ(arc_share_text(0.99987), "> 99.9 %");
  EXPECT_NE(arc_share_text(1e-9), "0 %");
}

// Six pixels a letter: "17.1 %" takes 36.
TEST(Sentence, PercentsOfNarrowWordsGoWithoutTheirSign) {
  const auto width = [](const std::string& text) { return 6 * static_cast<float>(text.size()); };
  const auto text = [&](double share, float room) { return arc_share_text(share, room, width); };
  EXPECT_EQ(text(0.171, 36), "17.1 %");
  EXPECT_EQ(text(0.99987, 36), "100 %");
  for (const float room : {35.0F, 24.0F}) {
    EXPECT_EQ(text(0.171, room), "17.1");
    EXPECT_EQ(text(0.0085, room), "0.85");  // alike beside it, though its sign would fit
  }
  EXPECT_EQ(text(0.171, 20), "17");
  EXPECT_EQ(text(0.171, 10), "");
  EXPECT_EQ(text(0.0001234, 20), "") << "rounded it would read as nothing";
}

}  // namespace
}  // namespace attn
