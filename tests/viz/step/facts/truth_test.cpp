// The strip tells the truth: whatever the inputs and the what-if, the printed formula gives the printed result, and the
// sentence claims nothing that the recorded numbers deny. Every preset x what-if x phase x row.
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/model/inputs/inputs.h"
#include "kernels/orders/backward/options.h"
#include "tests/environment/asked.h"
#include "tests/viz/step/calculator.h"
#include "tests/viz/step/fixture.h"
#include "viz/draw/number_text.h"
#include "viz/step/bars/strip.h"

namespace attn {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(StepTruth, TheCalculatorOfThisTestCalculates) {
  EXPECT_EQ(calculated("max(−∞, 2.5)"), 2.5);
  EXPECT_EQ(calculated("0.5 × 3 + 2"), 3.5);
  EXPECT_EQ(calculated("(0.5 × 2 × 3 + −1) / 4"), 0.5);
  EXPECT_EQ(calculated("exp(−∞ − 3)"), 0.0);
  EXPECT_TRUE(std::isnan(*calculated("exp(−∞ − −∞)")));
  EXPECT_EQ(calculated("2.5e−4"), 2.5e-4);
  EXPECT_FALSE(calculated("[S] + bias").has_value());
  EXPECT_FALSE(calculated("3 rows").has_value());
}

// At least 1.
double largest_number(std::string_view terms) {
  double largest = 1;
  for (std::size_t at = 0; at < terms.size();) {
    const std::size_t end = std::min(terms.find(' ', at), terms.size());
    if (const auto x = calculated(terms.substr(at, end - at)); x && std::isfinite(*x))
      largest = std::max(largest, std::abs(*x));
    at = end + 1;
  }
  return largest;
}

struct Strip {
  std::string headline, sentence, formula;
  std::set<std::string, std::less<>> conditions;
  StepValues values;
};

// The last two parts of "a = b = c" where both are numbers.
void check_formula(const Strip& s, int& checked) {
  const auto equation = equation_of(s.formula);
  if (!equation) return;
  const auto& [terms, result, about] = *equation;
  const auto left = calculated(terms), right = calculated(result);
  if (!left || !right) return;
  ++checked;
  if (std::isnan(*right)) {
    EXPECT_TRUE(std::isnan(*left)) << s.formula;
  } else if (std::isinf(*right)) {
    // fp32 ends at 3.4e38.
    EXPECT_TRUE(*left == *right || (std::abs(*left) > 3.4e38 && (*left > 0) == (*right > 0))) << s.formula;
  } else if (about) {
    // Rounding noise of terms that cancelled, or more digits than fp32 has.
    EXPECT_NEAR(*left, *right, 1e-5 * largest_number(terms)) << s.formula;
  } else {
    EXPECT_NEAR(*left, *right, resolution(result) * 1.01 + 1e-37) << s.formula;
  }
}

// What a phrase of the sentences claims, of the row that is followed.
struct Row {
  const Recording& rec;
  StepPlace at;
  double m_old, m_new, alpha, l, p, s, rowmax;
  bool any_nan_score = false;
  std::int64_t visible_here = 0, visible_ever = 0, visible_before = 0;
};

Row row_of_step(const Recording& rec, const StepPlace& at, const StepValues& v) {
  const auto live = [&](Slot slot, std::int32_t col, double otherwise) {
    const auto x = live_value(rec, at.event, slot, at.row, col);
    return x ? static_cast<double>(*x) : otherwise;
  };
  Row r{rec,
        at,
        live(Slot::m_old, 0, -kInfinity),
        0,
        live(Slot::alpha, 0, 1),
        live(Slot::l_new, 0, live(Slot::l_old, 0, 0)),
        live(Slot::p, v.key, 0),
        live(Slot::s, v.key, 0),
        -kInfinity};
  r.m_new = live(Slot::m_new, 0, r.m_old);
  for (std::int32_t k = 0; k < rec.problem.Lk; ++k) {
    const bool sees = rec.problem.visible(at.b, at.row, k);
    const bool here = k >= at.first_key && k < at.first_key + at.keys;
    const bool before =
        rec.options.key_order == KeyOrder::right_to_left ? k >= at.first_key + at.keys : k < at.first_key;
    r.visible_ever += sees ? 1 : 0;
    r.visible_here += sees && here ? 1 : 0;
    r.visible_before += sees && before ? 1 : 0;
    if (!here) continue;
    const double score = live(Slot::s, k, -kInfinity);
    if (std::isnan(score)) r.any_nan_score = true;
    if (score > r.rowmax) r.rowmax = score;
  }
  return r;
}

struct Claim {
  const char* words;
  std::function<bool(const Row&)> holds;
};
const Claim kClaims[] = {
    {"changes nothing", [](const Row& r) { return r.alpha == 1 || r.l == 0; }},
    {"almost to nothing", [](const Row& r) { return r.alpha > 0 && r.alpha < 0.01; }},
    {"exp of so low a number is 0", [](const Row& r) { return r.alpha == 0; }},
    {"its maximum rose", [](const Row& r) { return r.m_new > r.m_old; }},
    {"its maximum is still", [](const Row& r) { return r.m_new == r.m_old && std::isfinite(r.m_new); }},
    {"the maximum was −∞, so", [](const Row& r) { return r.m_old == -kInfinity && r.m_new > r.m_old; }},
    {"beats the old maximum", [](const Row& r) { return r.rowmax > r.m_old; }},
    {"no score in this tile beats", [](const Row& r) { return r.rowmax <= r.m_old && !r.any_nan_score; }},
    {"has not seen a key", [](const Row& r) { return r.visible_before + r.visible_here == 0; }},
    {"saw no key at all", [](const Row& r) { return r.visible_ever == 0; }},
    {"has seen no key so far", [](const Row& r) { return r.visible_before + r.visible_here == 0; }},
    {"of the first tile that it sees", [](const Row& r) { return r.visible_before == 0 && r.visible_here > 0; }},
    {"the first tile that it sees, the maximum", [](const Row& r) { return r.visible_before == 0; }},
    {"nothing was summed before", [](const Row& r) { return r.visible_before == 0; }},
    {"sees no key of this tile", [](const Row& r) { return r.visible_here == 0; }},
    {"sees no key:", [](const Row& r) { return r.visible_ever == 0; }},
    {"weights is exactly 0", [](const Row& r) { return r.p == 0; }},
    {"equal score has weight 1", [](const Row& r) { return std::isfinite(r.m_new) && std::isfinite(r.p); }},
    {"equal to the maximum", [](const Row& r) { return std::isfinite(r.m_new) && std::isfinite(r.p); }},
    {"for exp in fp32, whose limit is", [](const Row& r) { return r.s > 88.7 && std::isinf(r.p); }},
    {"saw keys, but", [](const Row& r) { return r.visible_ever > 0 && r.l == 0; }},
    {"every score that it has seen is −∞",
     [](const Row& r) { return r.m_new == -kInfinity && r.visible_before + r.visible_here > 0; }},
    {"is NaN and", [](const Row& r) { return r.any_nan_score; }},
    {"by definition", [](const Row& r) { return r.alpha == 1; }},
    {"no maximum to subtract", [](const Row& r) { return r.m_new == -kInfinity; }},
    {"has no score above −∞", [](const Row& r) { return r.m_new == -kInfinity; }},
};

// Sentences that say of a number that it is not finite.
bool speaks_of_it(const Strip& s) {
  const std::string words = s.headline + s.sentence;
  for (const char* one : {"NaN", "∞", "not finite", "overflow", "lost"}) {
    if (words.find(one) != std::string::npos) return true;
  }
  return false;
}

void check_step(const Recording& rec, EventIndex e, std::int32_t row, const StepTexts& texts, int& checked,
                std::map<std::string, int>& claimed) {
  const StepPlace at = place_of(rec, e, pinned_row(row));
  if (at.row != row) return;
  Strip s;
  s.values = step_values(rec, at, pinned_row(row), nullptr);
  const StripScene scene = strip_scene(rec, at, s.values, texts);
  s.headline = plain_text(scene.headline), s.sentence = plain_text(scene.sentence),
  s.formula = plain_text(scene.formula);
  SCOPED_TRACE(scene.position + " row " + std::to_string(row) + ": " + s.headline + " | " + s.sentence + " | " +
               s.formula);
  check_formula(s, checked);
  const Row r = row_of_step(rec, at, s.values);
  for (const Claim& claim : kClaims) {
    if (s.sentence.find(claim.words) == std::string::npos) continue;
    ++claimed[claim.words];
    EXPECT_TRUE(claim.holds(r)) << claim.words;
  }
  // FlashAttention-2's texts do not leave a NaN without a word; LSE is what it is.
  const bool nan = s.sentence.find("nan") != std::string::npos || s.formula.find("nan") != std::string::npos;
  if (nan && rec.order == Order::flash && rec.events[e].id.phase != Phase::store_o) {
    EXPECT_TRUE(speaks_of_it(s));
  }
}

std::vector<std::pair<std::string, Options>> what_ifs(std::string_view kernel) {
  std::vector<std::pair<std::string, Options>> out{{"as it is", {}}};
  if (kernel != "cpu_flash") return out;
  Options o;
  o.subtract_max = false;
  out.emplace_back("no maximum", o);
  o.key_order = KeyOrder::right_to_left;
  out.emplace_back("no maximum, right to left", o);
  o.subtract_max = true;
  out.emplace_back("right to left", o);
  Options tail;
  choose(tail, kZeroTail, 0);
  out.emplace_back("tail not zeroed", tail);
  for (const DType t : {DType::f16, DType::bf16}) {
    Options narrow;
    narrow.accumulate = t;
    out.emplace_back("sums in " + std::string(name_of(t)), narrow);
    narrow.subtract_max = false;
    out.emplace_back("no maximum, sums in " + std::string(name_of(t)), narrow);
  }
  return out;
}

TEST(StepTruth, FormulaAndSentenceAgreeWithTheNumbersInEveryPresetWhatIfAndPhase) {
  const StepTexts texts = shipped_texts();
  int checked = 0;
  std::map<std::string, int> claimed;
  std::size_t n = 0;
  for (const Preset& preset : presets()) {
    if (preset.problem.Lk >= 64) continue;  // the same numbers as random and late_outlier, forty times as many
    if (test::left_to_release(n++, 4)) continue;
    for (const char* kernel : kRecordingKernels) {
      if (!takes_preset(kernel, preset)) continue;
      for (const auto& [name, options] : what_ifs(kernel)) {
        SCOPED_TRACE(std::string(preset.id) + " " + kernel + ", " + name);
        const auto rec = record_preset(preset.id, kernel, options);
        const auto rows = static_cast<std::int32_t>(std::min<std::int64_t>(rec->problem.Lq, 9));
        for (EventIndex e = 0; e < rec->events.size(); ++e) {
          for (std::int32_t row = 0; row < rows; ++row) check_step(*rec, e, row, texts, checked, claimed);
          if (testing::Test::HasFailure()) return;
        }
      }
    }
  }
  EXPECT_GT(checked, 1000);
  if (test::left_to_release(1, 2)) return;
  EXPECT_GT(checked, 10000);
  // Some are for what no preset holds; the next test plants it.
  std::size_t met = 0;
  for (const Claim& claim : kClaims) met += claimed[claim.words] > 0 ? 1 : 0;
  EXPECT_GE(met, 22U);
}

std::vector<std::pair<std::string, Options>> backward_walks() {
  using namespace orders::backward;
  std::vector<std::pair<std::string, Options>> all{{"key tile outside", {}}};
  for (const auto& [name, option, value] :
       {std::tuple("query tile outside", &kOutside, kQueriesOutside), std::tuple("without δ", &kSubtractDelta, 0L),
        std::tuple("LSE in bf16", &kLseType, static_cast<std::int64_t>(DType::bf16))}) {
    all.emplace_back(name, Options{});
    choose(all.back().second, *option, value);
  }
  return all;
}

// The backward of each preset, shaped or not: what a step adds up is what stands there.
TEST(StepTruth, HoldsInTheBackwardOfEveryPreset) {
  const StepTexts texts = shipped_texts();
  int checked = 0;
  std::map<std::string, int> claimed;
  std::size_t n = 0;
  for (const Preset& preset : presets()) {
    if (preset.problem.Lk >= 64 || preset.problem.storage.kind() == Storage::paged) continue;
    if (test::left_to_release(n++, 5)) continue;
    for (const bool shaped : {false, true}) {
      for (const auto& [name, options] : backward_walks()) {
        SCOPED_TRACE(std::string(preset.id) + (shaped ? ", softcap and ALiBi, " : ", ") + name);
        Problem p = preset.problem;
        p.pass = Pass::backward;
        if (shaped) p.softcap = 2.5, p.alibi.emplace();
        const auto rec = record_problem(preset, p, "cpu_flash_bwd", options);
        const auto rows = static_cast<std::int32_t>(std::min<std::int64_t>(p.Lq, 9));
        for (EventIndex e = 0; e < rec->events.size(); ++e) {
          for (std::int32_t row = 0; row < rows; ++row) check_step(*rec, e, row, texts, checked, claimed);
          if (testing::Test::HasFailure()) return;
        }
      }
    }
  }
  EXPECT_GT(checked, test::left_to_release(1, 2) ? 300 : 3000);
}

// Softcap and ALiBi over what each preset has: their step says how the score that is followed came to be.
TEST(StepTruth, HoldsWithSoftcapAndAlibiInEveryPresetWhatIfAndPhase) {
  const StepTexts texts = shipped_texts();
  int checked = 0, shaped = 0;
  std::map<std::string, int> claimed;
  std::size_t n = 0;
  for (const Preset& preset : presets()) {
    if (preset.problem.Lk >= 64 || test::left_to_release(n++, 5)) continue;
    for (const char* kernel : kRecordingKernels) {
      if (!takes_preset(kernel, preset)) continue;
      for (const auto& [name, options] : what_ifs(kernel)) {
        for (int with = 1; with < 4; ++with) {
          SCOPED_TRACE(std::string(preset.id) + " " + kernel + ", " + name + ", " + std::to_string(with));
          Problem p = preset.problem;
          if (with != 2) p.softcap = 2.5;
          if (with != 1) p.alibi.emplace();
          const auto rec = record_problem(preset, p, kernel, options);
          for (EventIndex e = 0; e < rec->events.size(); ++e) {
            for (const std::int32_t row : {0, 3}) {
              if (row >= p.Lq) continue;
              const int before = checked;
              check_step(*rec, e, row, texts, checked, claimed);
              if (rec->events[e].id.phase == Phase::mask) shaped += checked - before;
            }
            if (testing::Test::HasFailure()) return;
          }
        }
      }
    }
  }
  EXPECT_GT(shaped, test::left_to_release(1, 2) ? 50 : 500);
}

// Typed infinities in every place: the presets plant few.
TEST(StepTruth, HoldsForPlantedInfinitiesAndNaN) {
  const StepTexts texts = shipped_texts();
  int checked = 0;
  std::map<std::string, int> claimed;
  const auto preset = find_preset("masked_row");
  ASSERT_TRUE(preset.has_value());
  for (const char* kernel : kRecordingKernels) {
    for (const float x : {HUGE_VALF, -HUGE_VALF, NAN}) {
      for (const InputTensor tensor : {InputTensor::q, InputTensor::k, InputTensor::v}) {
        for (const std::int64_t index : {0, 5, 18}) {
          if (test::left_to_release(static_cast<std::size_t>(index), 5)) continue;
          InputSpec spec;
          spec.generator = Generator::normal;
          spec.edits = {{tensor, index, x}};
          const auto inputs = make_inputs((*preset)->problem, spec);
          ASSERT_TRUE(inputs.has_value());
          const auto row = find_kernel(kernel);
          Options options;
          options.br = options.bc = 4;
          const auto resolved = resolve(**row, options, cpu_device());
          const auto rec = (*row)->record(**row, (*preset)->problem, *resolved, *inputs, {});
          ASSERT_TRUE(rec.has_value());
          SCOPED_TRACE(std::string(kernel) + " " + std::to_string(static_cast<int>(tensor)) + " " +
                       std::to_string(index) + " " + std::to_string(x));
          for (EventIndex e = 0; e < rec->events.size(); ++e) {
            for (std::int32_t r = 0; r < 9; ++r) check_step(*rec, e, r, texts, checked, claimed);
            if (testing::Test::HasFailure()) return;
          }
        }
      }
    }
  }
  EXPECT_GT(checked, test::left_to_release(1, 2) ? 600 : 2000);
}

// A what-if of its own: l = 0 though the row saw keys.
TEST(StepTruth, ARowThatUnderflowedIsNotCalledOneWithoutKeys) {
  const auto preset = find_preset("blackboard");
  Problem p = (*preset)->problem;
  p.scale = -40;
  InputSpec spec;
  const auto inputs = make_inputs(p, spec);
  ASSERT_TRUE(inputs.has_value());
  const auto row = find_kernel("cpu_flash");
  Options options;
  options.br = options.bc = 2;
  options.subtract_max = false;
  const auto rec = (*row)->record(**row, p, *resolve(**row, options, cpu_device()), *inputs, {});
  ASSERT_TRUE(rec.has_value());
  const auto e = rec->find({0, 0, 1, -1, Phase::normalise});
  ASSERT_TRUE(e.has_value());
  const StepPlace at = place_of(*rec, *e, pinned_row(3));
  ASSERT_EQ(*live_value(*rec, *e, Slot::l_old, 3, 0), 0.0F);
  const StripScene s = strip_scene(*rec, at, step_values(*rec, at, pinned_row(3), nullptr), shipped_texts());
  EXPECT_NE(plain_text(s.sentence).find("saw keys, but"), std::string::npos) << plain_text(s.sentence);
}

TEST(StepTruth, WhoAsksWhyIsTold) {
  const StepTexts texts = shipped_texts();
  const auto why = [&](const Recording& rec, const EventId& id, std::int32_t row) {
    const auto e = rec.find(id);
    EXPECT_TRUE(e.has_value());
    const StepPlace at = place_of(rec, e.value_or(0), pinned_row(row));
    return plain_text(strip_scene(rec, at, step_values(rec, at, pinned_row(row), nullptr), texts).why);
  };
  const auto says = [](const std::string& words, const char* what) {
    EXPECT_NE(words.find(what), std::string::npos) << words;
  };
  const auto board = record_preset("blackboard", "cpu_flash");
  says(why(*board, {0, 0, 0, 1, Phase::weights}, 0), "cancels");
  says(why(*board, {0, 0, 0, 1, Phase::rescale}, 0), "exact");
  says(why(*board, {0, 0, 0, -1, Phase::store_o}, 0), "4 numbers per head replace 4 × 4 weights");
  says(why(*board, {0, 0, 0, 1, Phase::scores}, 0), "a score is a sum of 2 products");
  EXPECT_TRUE(why(*board, {0, 0, 0, 0, Phase::load_kv}, 0).empty());
  const auto masked = record_preset("masked_row", "cpu_flash");
  says(why(*masked, {0, 0, 0, 0, Phase::rescale}, 0), "−∞ − (−∞)");
}

}  // namespace
}  // namespace attn
