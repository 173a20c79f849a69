// The words: every phase of every order has its own, and they name only numbers that the step holds.
#include "viz/step/facts/texts.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/recording/replay/exact.h"
#include "tests/environment/asked.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "kernels/museum/museum.h"
#include "tests/viz/step/fixture.h"
#include "viz/draw/number_text.h"
#include "viz/step/bars/strip.h"
#include "viz/step/facts/letters.h"
#include "viz/step/step_cache.h"

namespace attn {
namespace {

struct Said {
  StripScene scene;
  StepValues values;
};

Said said(const Recording& rec, EventIndex e, const Selection& selection, const StepTexts& texts,
          const ExactTile* exact) {
  const StepPlace at = place_of(rec, e, selection);
  Said out;
  out.values = step_values(rec, at, selection, exact);
  out.scene = strip_scene(rec, at, out.values, texts);
  return out;
}

TEST(StepTexts, EveryStepOfEveryPresetHasWordsForEveryNumberItNames) {
  const StepTexts texts = shipped_texts();
  std::size_t n = 0;
  for (const Preset& preset : presets()) {
    if (test::left_to_release(n++, 4)) continue;
    for (const char* kernel : kRecordingKernels) {
      if (!takes_preset(kernel, preset)) continue;
      SCOPED_TRACE(std::string(preset.id) + " " + kernel);
      const auto rec = record_preset(preset.id, kernel);
      for (EventIndex e = 0; e < rec->events.size(); ++e) {
        for (const std::int32_t row : {0, 3}) {
          const StripScene s = said(*rec, e, pinned_row(row), texts, nullptr).scene;
          SCOPED_TRACE(s.position);
          ASSERT_FALSE(s.headline.empty());
          ASSERT_FALSE(s.sentence.empty());
          ASSERT_EQ(plain_text(s.headline).find('?'), std::string::npos) << plain_text(s.headline);
          ASSERT_EQ(plain_text(s.sentence).find('?'), std::string::npos) << plain_text(s.sentence);
          ASSERT_EQ(plain_text(s.formula).find('?'), std::string::npos) << plain_text(s.formula);
        }
      }
    }
  }
}

// Before the first tile there is nothing that alpha could correct, and a learner has not met it.
TEST(StepTexts, TheFirstTilesSumAndOutputNeedNoFactor) {
  const StepTexts texts = shipped_texts();
  const auto rec = record_preset("blackboard", "cpu_flash");
  for (EventIndex e = 0; e < rec->events.size(); ++e) {
    const EventId& id = rec->events[e].id;
    if (id.phase != Phase::sum && id.phase != Phase::output) continue;
    const StripScene s = said(*rec, e, pinned_row(id.i * 2), texts, nullptr).scene;
    const std::string all = plain_text(s.headline) + plain_text(s.sentence) + plain_text(s.formula);
    EXPECT_EQ(all.find("α") != std::string::npos, id.j > 0) << all;
  }
}

// FlashAttention-1 writes the state after every key tile; after the last one nobody reads it again.
TEST(StepTexts, TheStateOfTheLastKeysIsNotReadAgain) {
  const StepTexts texts = shipped_texts();
  for (const char* preset : {"random", "causal"}) {
    const auto rec = record_preset(preset, "cpu_flash1");
    std::map<std::int32_t, EventIndex> last;
    for (EventIndex e = 0; e < rec->events.size(); ++e)
      if (rec->events[e].id.phase == Phase::store_state) last[rec->events[e].id.i] = e;
    ASSERT_FALSE(last.empty());
    for (EventIndex e = 0; e < rec->events.size(); ++e) {
      const EventId& id = rec->events[e].id;
      if (id.phase != Phase::store_state) continue;
      const std::string words = plain_text(said(*rec, e, {}, texts, nullptr).scene.sentence);
      EXPECT_EQ(words.find("read again") == std::string::npos, last[id.i] == e) << preset << ", step " << e + 1;
    }
  }
}

TEST(StepTexts, EveryPhaseOfAnOrderHasItsOwnHeadlineAndSentence) {
  const StepTexts texts = shipped_texts();
  for (const Order order : {Order::naive, Order::tiled, Order::flash, Order::flash1}) {
    std::map<std::string, Phase> headlines, sentences;
    for (std::size_t n = 0; n < kPhases; ++n) {
      const auto phase = static_cast<Phase>(n);
      const std::vector<StepText>* list = texts.find(order, phase);
      if (list == nullptr) continue;
      for (const StepText& text : *list) {
        const auto own = [&](std::map<std::string, Phase>& known, const std::string& words) {
          const auto [at, fresh] = known.emplace(words, phase);
          EXPECT_TRUE(fresh || at->second == phase) << words;
        };
        own(headlines, text.headline);
        own(sentences, text.sentence);
      }
    }
  }
}

TEST(StepTexts, TheStripOfTheBlackboardWorksOut) {
  const StepTexts texts = shipped_texts();
  const auto rec = record_preset("blackboard", "cpu_flash");
  const ExactTile exact(*rec, 0, 0, 0);
  const auto e = rec->find({0, 0, 0, 1, Phase::rescale});
  ASSERT_TRUE(e.has_value());
  const Said s = said(*rec, *e, {}, texts, &exact);
  EXPECT_EQ(s.scene.position, "Step 12 of 34, query tile 0, key tile 1: α");
  EXPECT_EQ(s.scene.narrow, "12/34 · q 0 k 1 · α");
  EXPECT_TRUE(s.values.agrees);
  const std::string formula = plain_text(s.scene.formula);
  EXPECT_NE(formula.find("2.06e−4"), std::string::npos) << formula;
  const double old = value_of(s.values.numbers.at("m_old").text), now = value_of(s.values.numbers.at("m_new").text);
  EXPECT_EQ(number_text(std::exp(old - now), {2, true}), "2.06e−4");
}

// The old maximum and the new one stand side by side, as in their cells.
TEST(StepTexts, BothMaximaHaveTheSameDecimals) {
  const StepTexts texts = shipped_texts();
  const auto rec = record_preset("late_outlier", "cpu_flash");
  for (const Phase phase : {Phase::max, Phase::rescale}) {
    const auto e = rec->find({0, 0, 0, 3, phase});
    ASSERT_TRUE(e.has_value());
    const auto numbers = said(*rec, *e, {}, texts, nullptr).values.numbers;
    EXPECT_EQ(numbers.at("m_old").text, "1.2374");
    EXPECT_EQ(numbers.at("m_new").text, "9.3338");
  }
}

// The numbers' face has a tiny infinity and no narrow space.
TEST(StepTexts, InfinityAndTheSpaceBetweenThousandsAreInTheWordsFace) {
  StepValues values;
  values.numbers["a"] = {"−∞", Token::text, true};
  values.numbers["b"] = {"16\u2009384", Token::text, true};
  values.numbers["c"] = {"2.5", Token::text, true};
  const TextRuns runs = runs_of("{a} and {b} and {c}", values, Face::bold, Token::dim);
  ASSERT_EQ(runs.size(), 7U);
  EXPECT_EQ(runs[0].face, Face::text);
  EXPECT_EQ(runs[2].text, "16");
  EXPECT_EQ(runs[2].face, Face::mono);
  EXPECT_EQ(runs[3].text, "\u2009");
  EXPECT_EQ(runs[3].face, Face::text);
  EXPECT_EQ(runs[4].text, "384");
  EXPECT_EQ(runs[6].face, Face::mono);
  EXPECT_EQ(number(-static_cast<double>(INFINITY), Token::text).face, Face::text);
}

TEST(StepTexts, PrintedInputsGiveThePrintedResultOnEveryRowOfEveryPreset) {
  for (const char* preset : {"blackboard", "random", "late_outlier", "causal", "ragged"}) {
    for (const char* kernel : kRecordingKernels) {
      const auto rec = record_preset(preset, kernel);
      for (EventIndex e = 0; e < rec->events.size(); ++e) {
        for (std::int32_t row = 0; row < 4; ++row) {
          const Selection selection = pinned_row(row);
          const StepPlace at = place_of(*rec, e, selection);
          const StepValues v = step_values(*rec, at, selection, nullptr);
          if (rec->events[e].id.phase == Phase::scores && !v.agrees) {
            // Only a score whose terms cancelled to rounding noise may miss.
            EXPECT_LT(std::abs(*live_value(*rec, e, Slot::s, at.row, v.key)), 1e-6) << preset << " " << kernel;
            EXPECT_TRUE(v.numbers.at("s").text.starts_with("≈")) << preset << " " << kernel;
            continue;
          }
          EXPECT_TRUE(v.agrees) << preset << " " << kernel << " event " << e << " row " << at.row << " "
                                << plain_text(strip_scene(*rec, at, v, shipped_texts()).formula);
        }
      }
    }
  }
}

// All that Step says of one phase of a museum piece, over every step and row.
std::vector<std::string> said_of_exhibit(std::string_view id, Phase phase) {
  const Piece& piece = **find_piece(id);
  InputSpec spec;
  spec.generator = piece.generator;
  spec.seed = 1;
  const auto rec = piece.row->record(*piece.row, piece.problem, piece.options, *make_inputs(piece.problem, spec), {});
  std::vector<std::string> words;
  if (!rec) return words;
  const StepTexts texts = shipped_texts();
  for (EventIndex e = 0; e < rec->events.size(); ++e) {
    if (rec->events[e].id.phase != phase) continue;
    for (std::int32_t row = 0; row < piece.problem.Lq; ++row) {
      const StripScene s = said(*rec, e, pinned_row(row), texts, nullptr).scene;
      words.push_back(plain_text(s.headline) + ": " + plain_text(s.sentence) + " " + plain_text(s.formula));
    }
  }
  return words;
}
bool any_has(const std::vector<std::string>& all, std::string_view part) {
  return std::any_of(all.begin(), all.end(), [&](const std::string& s) { return s.find(part) != std::string::npos; });
}

TEST(StepTexts, OfAWrongKernelStepSaysWhatItWroteAndNotWhatTheRuleAsks) {
  std::size_t fell = 0;
  for (const std::string& words : said_of_exhibit("max_not_carried", Phase::max)) {
    if (words.starts_with("The old maximum stays")) {
      // True where it says so: the new one is printed as the old one is.
      EXPECT_EQ(words.find("≠"), std::string::npos) << words;
    }
    fell += words.starts_with("The maximum is written") ? 1U : 0U;
  }
  EXPECT_GT(fell, 0U);
  const auto factors = said_of_exhibit("infinity_minus_infinity", Phase::rescale);
  EXPECT_TRUE(any_has(factors, "The factor is set"));
  for (const std::string& words : factors)
    EXPECT_FALSE(words.find("nan") != std::string::npos && words.find("by definition") != std::string::npos) << words;
}

TEST(StepTexts, AnEquationThatTheKernelDidNotKeepIsNoEquation) {
  EXPECT_TRUE(any_has(said_of_exhibit("forgotten_alpha", Phase::rescale), "≠"));
  EXPECT_TRUE(any_has(said_of_exhibit("alpha_on_l_only", Phase::output), "≠"));
  for (const std::string& words : said_of_exhibit("forgotten_alpha", Phase::scores))
    EXPECT_EQ(words.find("≠"), std::string::npos) << words;
}

TEST(StepTexts, TakeWholeSentencesFromThoseThatAreShared) {
  const auto texts =
      parse_step_texts(R"({"version": 1, "shared": {"keeps": "Row {row} keeps all.", "sum": "[O] = {o_new}"},
    "flash": {"max": [{"headline": "A", "sentence": "{@keeps} Then more. {@keeps}", "formula": "{@sum}"}]}})");
  ASSERT_TRUE(texts) << texts.error().message;
  const StepText& text = texts->texts.at("flash/max").front();
  EXPECT_EQ(text.sentence, "Row {row} keeps all. Then more. Row {row} keeps all.");
  EXPECT_EQ(text.formula, "[O] = {o_new}");
}

// Each headline, sentence and formula of the file, of reasons too, with how often it stands there; without what it asks
// of the shared ones.
std::map<std::string, int> written_texts() {
  std::map<std::string, int> count;
  const auto add = [&](std::string text, bool sentences) {
    for (std::size_t at = 0; (at = text.find("{@")) != text.npos;) {
      const std::size_t end = text.find('}', at) + 1;
      text.erase(at, end - at + (end < text.size() && text[end] == ' ' ? 1 : 0));
    }
    for (std::size_t end = 0; sentences && (end = text.find(". ")) != text.npos; text.erase(0, end + 2))
      ++count[text.substr(0, end + 1)];
    if (!text.empty()) ++count[text];
  };
  for (const std::string_view name : kStepTextFiles) {
    const auto file = nlohmann::json::parse(read_asset(std::string(name)));
    for (const auto& [order, phases] : file.items()) {
      if (order == "shared")
        for (const auto& [shared, text] : phases.items()) add(text, true);
      if (order == "version" || order == "shared") continue;
      for (const auto& texts : phases)
        for (const auto& text : texts)
          for (const auto& [member, words] : text.items())
            if (member != "when") add(words, member == "sentence" || member == "why");
    }
  }
  return count;
}

TEST(StepTexts, OfTheFileStandThereOnce) {
  const auto count = written_texts();
  EXPECT_GT(count.size(), 200U);
  for (const auto& [text, times] : count)
    EXPECT_EQ(times, 1) << "'" << text << "' belongs into \"shared\" of assets/step_texts.json";
}

TEST(StepTexts, OfTheFileShareWhatSeveralHave) {
  const std::string file = read_asset("step_texts.json");
  const auto shared = nlohmann::json::parse(file).at("shared");
  EXPECT_GT(shared.size(), 50U);
  for (const auto& [name, text] : shared.items()) {
    const std::string asked = "{@" + name + "}";
    const std::size_t first = file.find(asked);
    ASSERT_NE(first, file.npos) << name << " is shared and asked for nowhere";
    EXPECT_NE(file.find(asked, first + 1), file.npos) << name << " is asked for once: it need not be shared";
  }
}

TEST(StepTexts, RefusesWhatNoStepHolds) {
  const auto refused = [](const char* json, const char* why) {
    const auto texts = parse_step_texts(json);
    ASSERT_FALSE(texts.has_value()) << json;
    EXPECT_NE(texts.error().message.find(why), std::string::npos) << texts.error().message;
  };
  refused("[]", "not valid JSON");
  refused("{", "not valid JSON");
  refused(R"({"version": 2})", "version");
  refused(R"({"version": 1, "sideways": {}})", "order");
  refused(R"({"version": 1, "flash": {"dance": [{"headline": "a", "sentence": "b"}]}})", "phase");
  refused(R"({"version": 1, "flash": {"max": [{"headline": "a {nonsense}", "sentence": "b"}]}})", "nonsense");
  refused(R"({"version": 1, "flash": {"max": [{"headline": "a", "sentence": "b", "when": "raining"}]}})", "raining");
  refused(R"({"version": 1, "flash": {"max": [{"headline": "a", "sentence": "b", "when": "rose"}]}})", "no condition");
  refused(R"({"version": 1, "flash": {"max": [{"headline": "{@a}", "sentence": "b"}]}})", "the shared text 'a'");
  refused(R"({"version": 1, "shared": {"a": "{x}"}, "flash": {"max": [{"headline": "{@a}", "sentence": "b"}]}})",
          "{x}");
  refused(R"({"version": 1, "shared": {"a": 1}})", "'a' is not a string");
  refused(R"({"version": 1, "shared": []})", "not an object");
  refused(R"({"version": 1, "flash": {"max": [{"headline": "", "sentence": "b"}]}})", "headline");
}

}  // namespace
}  // namespace attn
