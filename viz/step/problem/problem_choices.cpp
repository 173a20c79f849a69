// What the menus and switches of the Problem panel offer: pure, tested without a window.
#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/text.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/input_spec.h"
#include "kernels/model/options.h"
#include "kernels/model/order_row.h"
#include "kernels/model/problem/pages.h"
#include "kernels/model/ring.h"
#include "kernels/museum/museum.h"
#include "kernels/orders/backward/options.h"
#include "kernels/orders/hopper/derived.h"
#include "viz/draw/figure_text.h"
#include "viz/step/orders/looks.h"
#include "viz/step/problem/problem_fields.h"

namespace attn {
namespace {

std::string spaced(std::string_view name) {
  std::string words(name);
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

bool from_files(const InputSpec& inputs) {
  return !inputs.q_file.empty() || !inputs.k_file.empty() || !inputs.v_file.empty();
}

template <class Change>
ProblemChoice choice(const Document& d, std::string words, bool on, const Change& change) {
  ProblemChoice c{std::move(words), on, d, {}, {}, {}};
  change(c.changed);
  return c;
}

// A recording that was opened brings its bias with its numbers.
bool bias_from_file(const Document& d) {
  return !d.inputs.bias_file.empty() || (d.problem.has_bias() && d.inputs.q_file.ends_with(".attn"));
}

}  // namespace

std::vector<ProblemChoice> dtype_choices(const Document& d) {
  std::vector<ProblemChoice> out;
  for (const DType t : {DType::f32, DType::f16, DType::bf16})
    out.push_back(choice(d, std::string(name_of(t)), t == d.problem.dtype, [&](Document& c) { c.problem.dtype = t; }));
  return out;
}

std::vector<ProblemChoice> pass_choices(const Document& d) {
  std::vector<ProblemChoice> out;
  for (const auto& [pass, words, help] :
       {std::tuple(Pass::forward, tr("forward"), tr("O and LSE from Q, K and V")),
        std::tuple(Pass::backward, tr("backward"), tr("dQ, dK and dV from Q, K, V, O, LSE and dO"))}) {
    out.push_back(choice(d, words, pass == d.problem.pass, [&, p = pass](Document& c) {
      c.problem.pass = p;
      if (const KernelRow* other = recorded_instead(c)) c.kernel = other->id;
    }));
    out.back().help = help;
  }
  return out;
}

std::vector<ProblemChoice> mask_choices(const Document& d) {
  const Mask& now = d.problem.mask;
  const auto mask = [&](const char* words, bool on, const auto& change) {
    return choice(d, words, on, [&](Document& c) { change(c.problem.mask); });
  };
  return {mask(tr("none"), now == Mask{}, [](Mask& m) { m = Mask{}; }),
          mask(tr("causal"), now.causal, [](Mask& m) { m.causal = !m.causal; }),
          mask(tr("window"), has_window(now),
               [&](Mask& m) {
                 m.window_left = has_window(now) ? -1 : 2;
                 m.window_right = has_window(now) ? -1 : 1;
               }),
          mask(tr("key lengths"), !now.key_lengths.empty(), [&](Mask& m) {
            m.key_lengths.clear();
            if (now.key_lengths.empty())
              m.key_lengths.assign(static_cast<std::size_t>(d.problem.B),
                                   std::max<std::int64_t>(1, d.problem.Lk * 3 / 4));
          })};
}

std::vector<ProblemChoice> bias_choices(const Document& d) {
  const bool file = bias_from_file(d), any = d.problem.has_bias();
  const auto bias = [&](const char* words, bool on, std::vector<std::int64_t> shape) {
    return choice(d, words, on, [&](Document& c) {
      c.problem.bias_shape = std::move(shape);
      c.inputs.bias_file.clear();
      std::erase_if(c.inputs.edits, [](const CellEdit& e) { return e.tensor == InputTensor::bias; });
    });
  };
  std::vector<ProblemChoice> out{bias(tr("none"), !any, {}),
                                 bias(tr("by distance"), any && !file, {1, d.problem.Hq, d.problem.Lq, d.problem.Lk})};
  out.back().help = tr("A stored array: the farther away the key, the lower its score");
  constexpr double kShownCap = 2;  // low enough to bend the scores of a small problem
  const Problem& p = d.problem;
  out.push_back(choice(d, tr("ALiBi slopes"), p.alibi.has_value(), [&](Document& c) {
    c.problem.alibi = p.alibi ? std::nullopt : std::optional(std::vector<float>());
  }));
  out.back().help = tr("Subtracts slope × distance from the score, per head: no array is stored");
  out.push_back(choice(d, "softcap", p.softcap.has_value(),
                       [&](Document& c) { c.problem.softcap = p.softcap ? std::nullopt : std::optional(kShownCap); }));
  out.back().help = tr("c tanh(S / c): scores stay between −c and c");
  return out;
}

std::vector<ProblemChoice> generator_choices(const Document& d) {
  std::vector<ProblemChoice> out;
  for (const Generator g : all_generators()) {
    const bool on = !from_files(d.inputs) && g == d.inputs.generator;
    out.push_back(choice(d, spaced(name_of(g)), on, [&](Document& c) {
      c.inputs.generator = g;
      c.inputs.q_file.clear(), c.inputs.k_file.clear(), c.inputs.v_file.clear();
      c.inputs.edits.clear();
    }));
  }
  return out;
}

namespace {

bool reads(const Document& d, const Option& option) {
  const auto row = find_kernel_or_piece(d.kernel);
  return row && spec_of(**row, option) != nullptr;
}

// On and off again.
ProblemChoice switched(const Document& d, const char* id, std::string words, const Option& option, std::int64_t value) {
  const bool on = chosen(d.options, option) == value;
  ProblemChoice c = choice(d, std::move(words), on,
                           [&](Document& to) { choose(to.options, option, on ? std::nullopt : std::optional(value)); });
  c.id = id;
  return c;
}

// What became of the recorded block, or would have; off: as it was recorded.
ProblemChoice derived(const Document& d, const char* id, std::string words, orders::hopper::Followed what,
                      std::string help) {
  const auto value = [](orders::hopper::Followed f) { return static_cast<std::int64_t>(f); };
  const bool on = orders::hopper::followed_by(d.options) == what;
  ProblemChoice c = choice(d, std::move(words), on, [&](Document& to) {
    choose(to.options, kPipeline, value(on ? orders::hopper::Followed::recorded : what));
  });
  c.id = id;
  c.help = std::move(help);
  return c;
}

}  // namespace

namespace {

// Of keys in pages. They stand first: the panel of such a problem has no room for all.
std::vector<ProblemChoice> page_what_ifs(const Document& d) {
  if (d.problem.storage.kind() == Storage::dense) return {};
  std::vector<ProblemChoice> out;
  if (reads(d, kZeroTail)) {
    out.push_back(switched(d, "##whatif_tail", tr("tail not zeroed"), kZeroTail, 0));
    out.back().help = tr("The rows after a page's last key are not zeroed: they hold NaN where nothing was written");
  }
  const bool in_order = d.inputs.pages == PageOrder::in_order;
  out.push_back(choice(d, tr("pages in order"), in_order,
                       [&](Document& c) { c.inputs.pages = in_order ? PageOrder::shuffled : PageOrder::in_order; }));
  out.back().id = "##whatif_pages";
  out.back().help = tr("Reads different rows of the pool; every tile's numbers stay the same");
  return out;
}

}  // namespace

std::vector<ProblemChoice> what_if_choices(const Document& d) {
  using namespace orders::backward;
  if (d.problem.pass == Pass::backward) {
    std::vector<ProblemChoice> out;
    if (reads(d, kSubtractDelta)) out.push_back(switched(d, "##whatif_delta", tr("without δ"), kSubtractDelta, 0));
    if (reads(d, kLseType))
      out.push_back(switched(d, "##whatif_lse", tr("LSE in bf16"), kLseType, static_cast<int>(DType::bf16)));
    return out;
  }
  const Options& now = d.options;
  const auto sums_in = [&](DType t) {
    return choice(d, phrase("sums in {}", name_of(t)), now.accumulate == t,
                  [&](Document& c) { c.options.accumulate = now.accumulate == t ? DType::f32 : t; });
  };
  const bool reversed = now.key_order == KeyOrder::right_to_left;
  std::vector<ProblemChoice> out{
      choice(d, tr("without the maximum"), !now.subtract_max,
             [](Document& c) { c.options.subtract_max = !c.options.subtract_max; }),
      choice(d, tr("keys right to left"), reversed,
             [&](Document& c) { c.options.key_order = reversed ? KeyOrder::left_to_right : KeyOrder::right_to_left; }),
      sums_in(DType::f16), sums_in(DType::bf16)};
  static constexpr const char* kIds[] = {"##whatif_max", "##whatif_order", "##whatif_f16", "##whatif_bf16"};
  for (std::size_t n = 0; n < out.size(); ++n) out[n].id = kIds[n];
  out.back().brief = tr("in bf16");
  // Once they are split, a menu has the other numbers of parts.
  const std::vector<ProblemChoice> parts = split_choices(d);
  if (parts.size() > 1 && !follows_pipeline(now) && ranks_of(now) == 1) {
    const bool split = splits_of(now) > 1;
    const std::int64_t count = split ? splits_of(now) : splits_of(parts[1].changed.options);
    out.push_back(split ? parts[0] : parts[1]);
    out.back().words = phrase("keys in {} parts", count);
    out.back().on = split;
    out.back().id = "##whatif_parts";
    out.back().help = tr("Each part of the keys gets its own m, ℓ and O, which are then merged");
  }
  std::vector<ProblemChoice> of_pages = page_what_ifs(d);
  out.insert(out.begin(), std::make_move_iterator(of_pages.begin()), std::make_move_iterator(of_pages.end()));
  if (!follows_pipeline(now)) return out;
  using orders::hopper::Followed;
  std::vector<ProblemChoice> of_block{
      derived(d, "##whatif_slots", tr("one slot each"), Followed::one_slot,
              tr("Derived: the recorded block replayed with one slot for K and one for V")),
      derived(
          d, "##whatif_late", tr("a late load"), Followed::late_load,
          tr("Derived: the recorded block replayed, with K of the third key tile requested only when a consumer waits "
             "for it")),
      derived(d, "##whatif_turns", tr("no turns"), Followed::no_turns,
              tr("Recorded: the same block of a launch in which no consumer waits for its turn"))};
  of_block.insert(of_block.end(), out.begin(), out.end());
  return of_block;
}

std::vector<ProblemChoice> loop_choices(const Document& d) {
  using namespace orders::backward;
  if (!reads(d, kOutside)) return {};
  const bool by_queries = queries_outside(d.options);
  std::vector<ProblemChoice> out{
      choice(d, tr("key tile"), !by_queries, [](Document& c) { choose(c.options, kOutside, std::nullopt); }),
      choice(d, tr("query tile"), by_queries, [](Document& c) {
        choose(c.options, kOutside, kQueriesOutside);
        choose(c.options, kRanks, std::nullopt);  // a ring has the key tile outside
        choose(c.options, kDeal, std::nullopt);
      })};
  out[0].help = tr("dK and dV stay on chip; dQ is loaded and stored");
  out[1].help = tr("dQ stays on chip; dK and dV are loaded and stored");
  return out;
}

std::vector<ProblemChoice> split_choices(const Document& d) {
  if (!reads(d, kSplits)) return {};
  const std::int64_t bc = d.options.bc > 0 ? d.options.bc : d.problem.Lk;
  const std::int64_t tiles = (d.problem.Lk + bc - 1) / bc, now = splits_of(d.options);
  std::vector<ProblemChoice> out;
  constexpr std::int64_t kMost = 64;
  std::set<std::int64_t> counts{now};
  for (std::int64_t n = 1; n <= std::min(tiles, kMost); n *= 2) counts.insert(n);
  out.reserve(counts.size());
  for (const std::int64_t n : counts) {
    out.push_back(choice(d, n == 1 ? tr("not split") : phrase("{} parts", n), now == n, [n](Document& c) {
      choose(c.options, kSplits, n == 1 ? std::nullopt : std::optional(n));
      if (n == 1) return choose(c.options, kMerge, std::nullopt);
      choose(c.options, kRanks, std::nullopt);
      choose(c.options, kDeal, std::nullopt);
    }));
  }
  if (now == 1) return out;
  const bool tree = merges_as_tree(d.options);
  out.push_back(choice(d, tr("merged as a tree"), tree,
                       [tree](Document& c) { choose(c.options, kMerge, tree ? std::nullopt : std::optional(1)); }));
  return out;
}

namespace {

std::string page_cost_words(const Problem& p) {
  const PageBytes cost = page_bytes(p);
  const auto bytes = [](std::uint64_t n) { return bytes_text(static_cast<double>(n)); };
  return phrase("Whole pages (derived): {} read ({} unused), page table: {}", bytes(cost.fetched), bytes(cost.unused),
                bytes(cost.table));
}

}  // namespace

std::vector<ProblemChoice> page_choices(const Document& d) {
  const auto row = find_kernel_or_piece(d.kernel);
  if (!row || std::ranges::find((*row)->storages, Storage::paged) == (*row)->storages.end()) return {};
  constexpr std::int64_t kShown[] = {1, 2, 4, 8};  // of a problem that is small enough to read
  const std::int64_t now = d.problem.storage.page;
  std::set<std::int64_t> sizes{0, now};
  sizes.insert(std::begin(kShown), std::end(kShown));
  std::vector<ProblemChoice> out;
  out.reserve(sizes.size());
  for (const std::int64_t page : sizes) {
    out.push_back(choice(d, page == 0 ? tr("contiguous") : plural(page, "pages of {} key", "pages of {} keys"),
                         now == page, [page](Document& c) { c.problem = with_pages(std::move(c.problem), page); }));
    if (page > 0) out.back().help = page_cost_words(out.back().changed.problem);
  }
  return out;
}

namespace {

// A ring of its kernel can be recorded, with the ranks side by side.
bool walks_abreast(const Document& d) {
  const auto row = find_kernel_or_piece(d.kernel);
  if (!row) return false;
  Options two;
  choose(two, kRanks, 2);
  return order_row(order_of(**row, two)).abreast == Abreast::ranks;
}

}  // namespace

// What cannot be recorded as a ring can leave one that it has, from another pass or a state string.
std::vector<ProblemChoice> ring_choices(const Document& d) {
  const bool recorded = walks_abreast(d);
  if (!reads(d, kRanks) || (!recorded && ranks_of(d.options) == 1)) return {};
  const auto tiles = [](std::int32_t tile, std::int64_t length) {
    const std::int64_t side = tile > 0 ? std::min<std::int64_t>(tile, length) : length;
    return (length + side - 1) / side;
  };
  const std::int64_t now = ranks_of(d.options);
  const std::int64_t most =
      recorded ? std::min(tiles(d.options.br, d.problem.Lq), tiles(d.options.bc, d.problem.Lk)) : 1;
  std::vector<ProblemChoice> out;
  constexpr std::int64_t kMost = 8;
  std::set<std::int64_t> counts{now};
  for (std::int64_t n = 1; n <= std::min(most, kMost); ++n) counts.insert(n);
  out.reserve(counts.size());
  for (const std::int64_t n : counts) {
    out.push_back(choice(d, n == 1 ? tr("no ring") : phrase("ring of {} ranks", n), now == n, [n](Document& c) {
      choose(c.options, kRanks, n == 1 ? std::nullopt : std::optional(n));
      if (n == 1) return choose(c.options, kDeal, std::nullopt);
      choose(c.options, kSplits, std::nullopt);
      choose(c.options, kMerge, std::nullopt);
      choose(c.options, orders::backward::kOutside, std::nullopt);
    }));
  }
  return out;
}

std::vector<ProblemChoice> deal_choices(const Document& d) {
  if (!reads(d, kDeal) || !walks_abreast(d) || ranks_of(d.options) == 1) return {};
  const bool zigzag = deals_zigzag(d.options);
  std::vector<ProblemChoice> out{
      choice(d, tr("in order"), !zigzag, [](Document& c) { choose(c.options, kDeal, std::nullopt); }),
      choice(d, tr("zigzag"), zigzag, [](Document& c) { choose(c.options, kDeal, 1); })};
  out[0].help = tr("one chunk for each rank");
  out[1].help = tr("an early and a late chunk for each rank");
  return out;
}

std::vector<ProblemChoice> pipeline_choices(const Document& d) {
  if (!reads(d, kPipeline)) return {};
  const bool follows = follows_pipeline(d.options);
  std::vector<ProblemChoice> out{
      choice(d, tr("formula by formula"), !follows, [](Document& c) { choose(c.options, kPipeline, std::nullopt); }),
      choice(d, tr("GPU pipeline"), follows, [](Document& c) {
        constexpr std::int64_t kConsumers = 2, kKeyTiles = 8;  // of the recorded block
        const auto least = [](std::int64_t length, std::int64_t tiles) {
          return static_cast<std::int32_t>((length + tiles - 1) / tiles);
        };
        choose(c.options, kPipeline, 1);
        c.options.br = least(c.problem.Lq, kConsumers);
        c.options.bc = std::max(c.options.bc, least(c.problem.Lk, kKeyTiles));
      })};
  out[1].help = tr("Two consumers and a producer, in the order recorded for a block of flash_hopper");
  return out;
}

std::vector<LetterWords> letter_words(Order order) {
  const auto letters = order_look(order).letters;
  return {letters.begin(), letters.end()};
}

bool has_window(const Mask& m) {
  return m.window_left >= 0 || m.window_right >= 0;
}

std::vector<std::string> masks_of(const Problem& p) {
  std::vector<std::string> masks;
  if (p.mask.causal) masks.emplace_back(tr("causal"));
  if (has_window(p.mask)) masks.emplace_back(tr("window"));
  if (!p.mask.key_lengths.empty()) masks.emplace_back(tr("key lengths"));
  return masks;
}

std::string generator_words(const InputSpec& inputs) {
  return from_files(inputs) ? tr("your files") : spaced(name_of(inputs.generator));
}

std::vector<std::string> biases_of(const Document& d) {
  const Problem& p = d.problem;
  std::vector<std::string> biases;
  if (p.has_bias()) biases.emplace_back(bias_from_file(d) ? tr("your file") : tr("by distance"));
  if (p.alibi) biases.emplace_back("ALiBi");
  if (p.softcap) biases.emplace_back("softcap");
  return biases;
}

std::string_view preset_title(const Document& d) {
  // The preset's own numbers and tile: another pass over them, or parts of their keys, are about the same example.
  const auto own = [&](const Preset& p) {
    Problem forward = d.problem;
    forward.pass = p.problem.pass;
    return d.inputs.edits.empty() && !from_files(d.inputs) && d.inputs.generator == p.generator &&
           d.inputs.seed == p.seed && forward == p.problem && d.options.br == p.br && d.options.bc == p.bc;
  };
  // A sentence that was typed is still what its preset is about.
  const bool typed = d.preset.empty() && d.inputs.generator == Generator::words;
  for (const Preset& p : presets()) {
    const bool named = d.preset.empty() ? own(p) : p.id == d.preset;
    if (named || (typed && p.generator == Generator::words)) return tr_of(p.title);
  }
  return tr("your own");
}

std::string problem_words(const Document& d) {
  using orders::hopper::Followed, orders::hopper::followed_by;
  std::vector<std::string> masks = masks_of(d.problem);
  if (d.problem.has_bias()) masks.emplace_back(tr("bias"));
  if (d.problem.alibi) masks.emplace_back("ALiBi");
  if (d.problem.softcap) masks.emplace_back("softcap");
  std::string title(preset_title(d));
  // What if: before what may have no room.
  if (!d.options.subtract_max) title += tr(", no maximum");
  if (d.options.key_order == KeyOrder::right_to_left) title += tr(", keys right to left");
  if (ranks_of(d.options) > 1) title += phrase(", ring of {}", ranks_of(d.options));
  if (splits_of(d.options) > 1 && d.problem.pass == Pass::forward) title += phrase(", {} parts", splits_of(d.options));
  if (d.problem.storage.kind() == Storage::paged && !zeroes_tail(d.options)) title += tr(", tail not zeroed");
  if (d.problem.storage.kind() == Storage::paged && d.inputs.pages == PageOrder::in_order)
    title += tr(", pages in order");
  if (follows_pipeline(d.options)) title += tr(", as a pipeline");
  if (followed_by(d.options) == Followed::one_slot) title += tr(", one slot each");
  if (followed_by(d.options) == Followed::late_load) title += tr(", a late load");
  if (followed_by(d.options) == Followed::no_turns) title += tr(", no turns");
  if (d.options.accumulate != DType::f32) title += phrase(", sums in {}", name_of(d.options.accumulate));
  using namespace orders::backward;
  if (queries_outside(d.options)) title += tr(", query tile outside");
  if (!subtracts_delta(d.options)) title += tr(", δ forgotten");
  if (lse_type(d.options) != DType::f32) title += phrase(", LSE in {}", name_of(lse_type(d.options)));
  return phrase("{}: {}, dim {}, tile {}, {}", title, field_text(d, ProblemField::length),
                field_text(d, ProblemField::dim), field_text(d, ProblemField::tile),
                masks.empty() ? tr("no mask") : fmt::format("{}", fmt::join(masks, " + ")));
}

}  // namespace attn
