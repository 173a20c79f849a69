// The menus and switches of the Problem panel.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/model/inputs/inputs.h"
#include "kernels/model/problem/pages.h"
#include "kernels/model/ring.h"
#include "kernels/orders/backward/options.h"
#include "viz/step/problem/problem_fields.h"

namespace attn {
namespace {

using Words = std::vector<std::string>;

const ProblemChoice& named(const std::vector<ProblemChoice>& choices, const std::string& words) {
  const auto at = std::find_if(choices.begin(), choices.end(), [&](const auto& c) { return c.words == words; });
  if (at == choices.end()) throw std::runtime_error("no entry " + words);
  return *at;
}

TEST(ProblemChoices, KindsOfMaskHoldTogetherAndAreTakenAwayOneByOne) {
  Document d = named(mask_choices(Document{}), "causal").changed;
  d = named(mask_choices(d), "window").changed;
  d = named(mask_choices(d), "key lengths").changed;
  EXPECT_EQ(masks_of(d.problem), Words({"causal", "window", "key lengths"}));
  EXPECT_EQ(d.problem.mask.key_lengths.size(), static_cast<std::size_t>(d.problem.B));
  d = named(mask_choices(d), "window").changed;
  EXPECT_EQ(masks_of(d.problem), Words({"causal", "key lengths"}));
  d = named(mask_choices(d), "none").changed;
  EXPECT_TRUE(d.problem.mask == Mask{});
  EXPECT_TRUE(masks_of(d.problem).empty());
}

TEST(ProblemChoices, ABiasByDistanceForgetsTheFileAndItsTypedCells) {
  Document d;
  d.inputs.bias_file = "bias.npy";
  d.inputs.edits = {{InputTensor::q, 0, 1.0F}, {InputTensor::bias, 0, 2.0F}};
  const Document changed = named(bias_choices(d), "by distance").changed;
  EXPECT_EQ(biases_of(changed), Words({"by distance"}));
  ASSERT_EQ(changed.inputs.edits.size(), 1U);
  EXPECT_EQ(changed.inputs.edits[0].tensor, InputTensor::q);
}

TEST(ProblemChoices, TheBiasOfAnOpenedRecordingIsTheFiles) {
  Document d;
  d.inputs.q_file = "notebook.attn";
  EXPECT_TRUE(biases_of(d).empty());
  d.problem.bias_shape = {1, 1, d.problem.Lq, d.problem.Lk};
  EXPECT_EQ(biases_of(d), Words({"your file"}));
  EXPECT_FALSE(named(bias_choices(d), "by distance").on);
}

TEST(ProblemChoices, AlibiAndSoftcapAreSwitchedByThemselvesBesideABias) {
  Document d;
  d.problem.Hq = d.problem.Hkv = 2;
  d = named(bias_choices(d), "by distance").changed;
  d = named(bias_choices(d), "ALiBi slopes").changed;
  d = named(bias_choices(d), "softcap").changed;
  EXPECT_EQ(biases_of(d), Words({"by distance", "ALiBi", "softcap"}));
  EXPECT_TRUE(masks_of(d.problem).empty());
  EXPECT_TRUE(problem_words(d).ends_with(", bias + ALiBi + softcap")) << problem_words(d);
  EXPECT_TRUE(d.problem.alibi && d.problem.alibi->empty()) << "the usual slopes";
  EXPECT_TRUE(named(bias_choices(d), "softcap").on);
  d = with_field(d, ProblemField::softcap, "1.25").value_or(d);
  EXPECT_EQ(d.problem.softcap, 1.25);
  EXPECT_EQ(field_text(d, ProblemField::softcap), "1.25");
  for (const char* bad : {"0", "-3", "nan", "inf", "", "x", "3 4"}) {
    EXPECT_FALSE(with_field(d, ProblemField::softcap, bad)) << bad;
  }
  d = named(bias_choices(d), "softcap").changed;
  EXPECT_FALSE(d.problem.softcap);
  d = named(bias_choices(d), "none").changed;
  EXPECT_EQ(biases_of(d), Words({"ALiBi"})) << "\"none\" is of the bias alone";
}

TEST(ProblemChoices, AGeneratorReplacesTheUsersFiles) {
  Document d;
  d.inputs.q_file = "q.npy";
  EXPECT_EQ(generator_words(d.inputs), "your files");
  for (const ProblemChoice& choice : generator_choices(d)) {
    EXPECT_FALSE(choice.on) << choice.words;
    EXPECT_EQ(generator_words(choice.changed.inputs), choice.words);
  }
}

TEST(ProblemChoices, EachWhatIfSwitchesOneThingAndBack) {
  Document d, paged;
  paged.problem = with_pages(paged.problem, 4);
  EXPECT_EQ(what_if_choices(paged).size(), what_if_choices(d).size() + 2);
  d = paged;
  for (std::size_t n = 0; n < what_if_choices(d).size(); ++n) {
    const ProblemChoice on = what_if_choices(d)[n];
    EXPECT_FALSE(on.on);
    const ProblemChoice off = what_if_choices(on.changed)[n];
    EXPECT_TRUE(off.on) << off.words;
    EXPECT_TRUE(off.changed.options == d.options) << off.words;
    EXPECT_TRUE(off.changed.inputs == d.inputs) << off.words;
    EXPECT_TRUE(on.changed.options != d.options || on.changed.inputs != d.inputs) << on.words;
  }
  const Document tail = named(what_if_choices(d), "tail not zeroed").changed;
  EXPECT_FALSE(zeroes_tail(tail.options));
  const Document both = named(what_if_choices(tail), "pages in order").changed;
  EXPECT_EQ(both.inputs.pages, PageOrder::in_order);
  EXPECT_NE(problem_words(both).find(", tail not zeroed, pages in order: "), std::string::npos) << problem_words(both);
}

TEST(ProblemChoices, ASizeOfPagesSaysWhatItsBytesAre) {
  Document d;
  d.problem.Lk = 21;
  d.problem.D = d.problem.Dv = 4;
  d.problem = with_pages(d.problem, 4);
  EXPECT_EQ(named(page_choices(d), "pages of 8 keys").help,
            "Whole pages (derived): 768 B read (96 B unused), page table: 12 B");
}

TEST(ProblemChoices, ARingIsOfferedToBothPassesAndCanBeLeft) {
  Document d;
  d.kernel = "cpu_flash";
  d.problem.Lq = d.problem.Lk = 8;
  d.options.br = d.options.bc = 2;
  EXPECT_EQ(deal_choices(named(ring_choices(d), "ring of 2 ranks").changed).size(), 2U);
  d.kernel = "cpu_flash_bwd";
  d.problem.pass = Pass::backward;
  const Document ring = named(ring_choices(d), "ring of 4 ranks").changed;
  EXPECT_EQ(ranks_of(ring.options), 4);
  EXPECT_EQ(deal_choices(ring).size(), 2U);
  const Document left = named(ring_choices(named(deal_choices(ring), "zigzag").changed), "no ring").changed;
  EXPECT_EQ(ranks_of(left.options), 1);
  EXPECT_FALSE(chosen(left.options, kDeal));
}

// No ring has the query tile outside: whichever is chosen last stands.
TEST(ProblemChoices, ARingAndTheQueryTileOutsideTakeEachOthersPlace) {
  Document d;
  d.kernel = "cpu_flash_bwd";
  d.problem.pass = Pass::backward;
  d.problem.Lq = d.problem.Lk = 8;
  d.options.br = d.options.bc = 2;
  const Document queries = named(loop_choices(d), "query tile").changed;
  EXPECT_TRUE(orders::backward::queries_outside(queries.options));
  const Document ring = named(ring_choices(queries), "ring of 2 ranks").changed;
  EXPECT_FALSE(orders::backward::queries_outside(ring.options));
  const Document again = named(loop_choices(ring), "query tile").changed;
  EXPECT_EQ(ranks_of(again.options), 1);
  EXPECT_TRUE(orders::backward::queries_outside(again.options));
}

// Of the recorded block; each takes the other's place, and off leads back to it.
TEST(ProblemChoices, APipelineIsRunAgainWithOneSlotOrALateLoad) {
  Document d;
  EXPECT_EQ(std::ranges::count(what_if_choices(d), "one slot each", &ProblemChoice::words), 0);
  choose(d.options, kPipeline, 1);
  const Document slots = named(what_if_choices(d), "one slot each").changed;
  EXPECT_EQ(chosen(slots.options, kPipeline), 2);
  EXPECT_TRUE(named(what_if_choices(slots), "one slot each").on);
  const Document late = named(what_if_choices(slots), "a late load").changed;
  EXPECT_EQ(chosen(late.options, kPipeline), 3);
  EXPECT_FALSE(named(what_if_choices(late), "one slot each").on);
  EXPECT_TRUE(named(what_if_choices(late), "a late load").changed.options == d.options);
  EXPECT_NE(problem_words(slots).find("as a pipeline, one slot each"), std::string::npos);
  const Document free = named(what_if_choices(late), "no turns").changed;
  EXPECT_EQ(chosen(free.options, kPipeline), 4);
  EXPECT_NE(problem_words(free).find("as a pipeline, no turns"), std::string::npos);
}

// The letters of one order are false in another: naive rescales nothing, and its weights are divided.
TEST(Letters, AreThoseOfTheOrder) {
  const auto words = [](Order order) {
    std::string all;
    for (const LetterWords& l : letter_words(order)) all += std::string(l.letter) + " " + std::string(l.words) + "; ";
    return all;
  };
  EXPECT_NE(words(Order::flash).find("α rescales"), std::string::npos);
  EXPECT_NE(words(Order::flash).find("before ÷ ℓ"), std::string::npos);
  for (const Order order : {Order::naive, Order::tiled}) {
    EXPECT_EQ(words(order).find("α"), std::string::npos) << words(order);
    EXPECT_NE(words(order).find("divided by ℓ"), std::string::npos) << words(order);
    EXPECT_EQ(words(order).find("so far"), std::string::npos) << words(order);
  }
}

TEST(ProblemChoices, ATypedSentenceKeepsThePresetsName) {
  Document d;
  d.preset.clear();
  d.inputs.generator = Generator::normal;
  EXPECT_EQ(preset_title(d), "your own");
  d.inputs.generator = Generator::words;
  d.inputs.sentence = "my dog dug";
  EXPECT_EQ(preset_title(d), "Words of a sentence");
  EXPECT_EQ(problem_words(d).find("Words of a sentence"), 0U) << problem_words(d);
}

// A preset's numbers are still its own in another pass, or with their keys in parts; any other number is not.
TEST(ProblemChoices, APresetKeepsItsNameInAnotherPassAndInParts) {
  for (const Preset& p : presets()) {
    Document d;
    d.preset.clear();
    d.problem = p.problem;
    d.inputs.generator = p.generator;
    d.inputs.seed = p.seed;
    d.options.br = p.br;
    d.options.bc = p.bc;
    d.problem.pass = Pass::backward;
    EXPECT_EQ(preset_title(d), tr_of(p.title));
    d.problem.pass = Pass::forward;
    choose(d.options, kSplits, 2);
    EXPECT_EQ(preset_title(d), tr_of(p.title));
    if (p.generator == Generator::words) continue;  // whatever sentence it is
    Document other = d;
    ++other.inputs.seed;
    EXPECT_NE(preset_title(other), tr_of(p.title));
    other = d;
    ++other.problem.Lq;
    EXPECT_NE(preset_title(other), tr_of(p.title));
    other = d;
    other.inputs.edits.push_back({InputTensor::q, 0, 1.5F});
    EXPECT_NE(preset_title(other), tr_of(p.title));
  }
}

TEST(ProblemChoices, TheFoldedPanelNamesWhatIfBeforeWhatMayBeCutOff) {
  Document d;
  EXPECT_EQ(problem_words(d).find("maximum"), std::string::npos);
  d.options.subtract_max = false;
  d.options.key_order = KeyOrder::right_to_left;
  d.options.accumulate = DType::f16;
  const std::string words = problem_words(d);
  EXPECT_NE(words.find(", no maximum, keys right to left, sums in f16: "), std::string::npos) << words;
}

TEST(ProblemChoices, ABackwardPassHasNoPartsToName) {
  Document d;
  choose(d.options, kSplits, 2);
  EXPECT_NE(problem_words(d).find("2 parts"), std::string::npos);
  d.problem.pass = Pass::backward;
  EXPECT_EQ(problem_words(d).find("2 parts"), std::string::npos);
}

TEST(ProblemChoices, KeysCanBeSplitWhereThereAreTilesToSplit) {
  Document d;
  d.problem.Lq = d.problem.Lk = 4;
  d.options.br = d.options.bc = 2;
  const ProblemChoice parts = named(what_if_choices(d), "keys in 2 parts");
  EXPECT_FALSE(parts.on);
  EXPECT_EQ(splits_of(parts.changed.options), 2);
  EXPECT_EQ(why_not_recordable(parts.changed), std::nullopt);
  d.options.bc = 4;  // one key tile
  EXPECT_EQ(std::ranges::count(what_if_choices(d), "##whatif_parts", [](const auto& c) { return std::string(c.id); }),
            0);
}

}  // namespace
}  // namespace attn
