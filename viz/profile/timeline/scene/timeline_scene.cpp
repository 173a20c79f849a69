#include "viz/profile/timeline/scene/timeline_scene.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/hash.h"
#include "kernels/base/text.h"
#include "profiling/timeline/timeline_text.h"

namespace attn {
namespace {

constexpr float kProducer = 16;
constexpr float kPathOfLane = 0.08F, kPathOfProducer = 0.06F;  // above their letters
constexpr double kSmallest = 0.005;                            // a share of a lane's time that has no name
constexpr std::int64_t kTogether = 3;  // key tiles: consumers lie no farther apart on one and the same

Ink ink_of(StateOf of) {
  constexpr std::array kInks{Ink(Token::dim),      Ink(TensorColour::q), Ink(TensorColour::k),
                             Ink(TensorColour::v), Ink(TensorColour::s), Ink(TensorColour::p),
                             Ink(TensorColour::o), Ink(Token::dim),      Ink(Token::dim)};
  return kInks.at(static_cast<std::size_t>(of));
}

std::string letter_of(StateOf of) {
  if (of == StateOf::turn) return tr("turn");
  constexpr std::array kLetters{"", "Q", "K", "V", "S", "P", "O", "", ""};
  return kLetters.at(static_cast<std::size_t>(of));
}

// What a lane computes on its own, as the key names it: one colour and letter each, as in Step.
struct OperationRow {
  const char* tag;
  Ink ink;
  const char* letter;
  const char* words;
  const char* brief = "";
};
constexpr std::array kOperations{
    OperationRow{"issue S", TensorColour::s, "S", marked("issues S")},
    OperationRow{"maximum", TensorColour::m, "m", marked("mask, row maxima"), marked("maxima")},
    OperationRow{"P", TensorColour::p, "P", marked("exp")},
    OperationRow{"issue O", TensorColour::o, "O", marked("issues O")},
    OperationRow{"store", TensorColour::o, "O", marked("stores O")},
    OperationRow{"S", TensorColour::s, "S", marked("S, requests copies")},
    OperationRow{"P V", TensorColour::o, "O", marked("exp and O")},
    OperationRow{"ask K", TensorColour::k, "K", marked("requests K"), marked("asks K")},
    OperationRow{"ask V", TensorColour::v, "V", marked("requests V"), marked("asks V")},
    OperationRow{"ask Q", TensorColour::q, "Q", marked("requests Q"), marked("asks Q")}};

class Scene {
 public:
  Scene(std::shared_ptr<const Timeline> timeline, const TimelinesView& timelines, const std::string& kernel,
        std::int64_t block)
      : t_(*timeline), timelines_(timelines), kernel_(kernel), wanted_(block) {
    s_.timeline = std::move(timeline);
  }

  PipelineScene make() {
    add_choices();
    add_strip();
    s_.empty = why_no_picture(t_);
    if (const auto why = timelines_.refused.find(&t_); why != timelines_.refused.end()) s_.empty = why->second;
    const std::vector<std::int32_t> detailed = detailed_blocks(t_);
    if (s_.empty.empty() && detailed.empty()) s_.empty = tr("No block of this recording was recorded state by state.");
    if (!s_.empty.empty()) return std::move(s_);
    auto p = pipeline_of(t_, choose_block(detailed));
    if (!p) {
      s_.empty = p.error().message;
      return std::move(s_);
    }
    p_ = *std::move(p);
    s_.there = true;
    add_heading();
    add_lanes();
    add_products();
    add_slots(s_, p_, places_);
    add_releases(s_, p_, places_);
    parts_ = add_path(s_, p_, places_);
    add_sums();
    add_issues();
    add_states();
    add_bands(s_, p_.block);
    add_words();
    s_.tail = tail_words(s_);
    return std::move(s_);
  }

 private:
  std::string_view tag_of(std::int32_t tag) const { return t_.tags[static_cast<std::size_t>(tag)]; }
  // A tag that no table knows speaks for itself.
  std::string words_of_state(std::int32_t tag) const {
    const LaneState& state = lane_state(tag_of(tag));
    return state.words[0] == '\0' ? std::string(tag_of(tag)) : tr_of(state.words);
  }
  std::int64_t rel(std::int64_t clock) const { return clock - p_.start; }
  bool consumes(std::size_t l) const { return t_.lanes[p_.lanes[l]].kind == LaneKind::consumer; }
  bool computes(std::size_t l) const { return consumes(l) || t_.lanes[p_.lanes[l]].kind == LaneKind::warp; }

  // The one that is wanted, else the first.
  std::int32_t choose_block(const std::vector<std::int32_t>& detailed) {
    const auto block_of = [&](std::int32_t row) { return t_.blocks[static_cast<std::size_t>(row)].block; };
    for (const std::int32_t row : detailed) s_.blocks.push_back(block_of(row));
    const auto wanted = std::ranges::find(detailed, wanted_, block_of);
    const std::int32_t row = wanted == detailed.end() ? most_usual_block(t_, detailed) : *wanted;
    s_.block = block_of(row);
    return row;
  }

  // Which others can be seen, or how they can be recorded.
  std::string words_of_blocks() const {
    if (s_.blocks.size() > 1)
      return phrase("{} of {} blocks were recorded state by state.", s_.blocks.size(), t_.grid_blocks);
    if (t_.grid_blocks < 2) return {};
    return phrase(
        "Only block {} was recorded state by state. To record M blocks from block N on, use attnscope timeline {} "
        "--block N --blocks M.",
        s_.block, t_.kernel);
  }

  void add_heading() {
    const TimedBlock& b = t_.blocks[static_cast<std::size_t>(p_.block)];
    s_.title = phrase("block {} on SM {}, one of {}", b.block, b.sm, t_.grid_blocks);
    s_.length = p_.length();
    s_.ns_a_clock = ns_a_unit(t_, p_.block);
    s_.tile_clocks = time_of_tile();
    std::string notes = price_words(t_) + " ";
    notes += phrase("Clocks within one SM are exact. Clocks of different SMs agree to within {}. ",
                    time_text(residual_ns(t_)));
    notes += t_.buffer == EventBuffer::shared ? tr("Events were kept in shared memory.")
                                              : tr("Events were written to global memory.");
    for (const std::string& more : {words_of_blocks(), median_words(t_, p_.block), order_words(t_, p_)})
      if (!more.empty()) notes += " " + more;
    s_.notes = std::move(notes);
  }

  // Clocks from a P to the next of the first consumer's, on the average.
  std::int64_t time_of_tile() const {
    std::int64_t products = 0;
    for (const Product& x : p_.products)
      if (!x.of_o && x.lane == p_.products.front().lane) ++products;
    std::map<std::int32_t, std::int64_t> states;  // of lanes without products: as often as its commonest state
    for (const LaneInterval& i : p_.intervals.back())
      if (p_.products.empty()) products = std::max(products, ++states[i.tag]);
    return std::max<std::int64_t>(1, p_.length() / std::max<std::int64_t>(1, products));
  }

  // Told apart by what differs: length, D, mask, tile, and options that a kernel declares.
  void add_choices() {
    const std::string shown = id_of(t_);
    std::set<std::string> known;  // an opened file may hold what came with the program: the first is shown
    const bool of_several = std::ranges::any_of(timelines_.all, [&](const auto& t) { return t->kernel != t_.kernel; });
    for (const auto& t : timelines_.all) {
      PipelineScene::Choice c;
      c.id = id_of(*t);
      if (!known.insert(c.id).second) continue;
      c.on = c.id == shown;
      c.words = recording_words(*t, of_several);
      const auto takes = std::ranges::count(s_.choices, without_take(c.id),
                                            [](const PipelineScene::Choice& x) { return without_take(x.id); });
      if (takes > 0) c.words += phrase(", take {}", takes + 1);
      c.may_be_beside = !c.on && t->problem == t_.problem && t->device == t_.device && t->kernel == t_.kernel &&
                        !timelines_.refused.contains(t.get());
      c.tip = phrase("{} on {}, {}", t->kernel, describe(t->problem), t->device);
      s_.choices.push_back(std::move(c));
    }
  }

  void add_lanes() {
    const auto consumers =
        std::ranges::count_if(p_.lanes, [&](std::size_t n) { return t_.lanes[n].kind == LaneKind::consumer; });
    for (std::size_t l = 0; l < p_.lanes.size(); ++l) {
      TimelineRow row, small;
      row.label = lane_words(t_, p_.lanes[l]);
      row.kind = computes(l) ? RowKind::computes : RowKind::copies;
      row.height = kProducer;
      row.of_q = row.kind == RowKind::copies && t_.lanes[p_.lanes[l]].index > 0;
      row.gap = l == 0 ? 0 : 6;
      row.path_at = computes(l) ? kPathOfLane : kPathOfProducer;
      small.height = consumers > 3 ? 5 : 7;
      small.gap = 2;
      for (const LaneInterval& i : p_.intervals[l]) {
        if (i.length() <= 0) continue;
        const LaneState& state = lane_state(tag_of(i.tag));
        if (state.kind == StateKind::nothing) continue;
        TimelineStretch x;
        x.from = rel(i.from);
        x.to = rel(i.to);
        x.look = state.kind == StateKind::wait ? StretchLook::wait : StretchLook::work;
        x.ink = ink_of(state.of);
        x.letter = letter_of(state.of);
        if (x.look == StretchLook::work) name_operation(x, tag_of(i.tag));
        const bool of_keys = state.of != StateOf::q && state.of != StateOf::tile && tag_of(i.tag) != "store";
        x.tile = of_keys ? i.tile : -1;
        if (state.kind == StateKind::wait && computes(l)) x.top = kWaitTop;
        x.what = fmt::format("{}: {}", row.label, words_of_state(i.tag));
        if (x.tile >= 0) x.what += phrase(", key tile {}", x.tile);
        const bool seen = consumes(l) ? state.of == StateOf::p : state.kind == StateKind::work;
        if (seen && computes(l)) small.stretches.push_back(x);
        row.stretches.push_back(std::move(x));
      }
      places_.lanes[p_.lanes[l]] = s_.rows.size();
      s_.rows.push_back(std::move(row));
      if (computes(l)) s_.overview.push_back(std::move(small));
    }
  }

  void name_operation(TimelineStretch& x, std::string_view tag) {
    const auto row = std::ranges::find(kOperations, tag, &OperationRow::tag);
    if (row == kOperations.end()) return;
    x.ink = row->ink;
    x.letter = row->letter;
    const std::string words = tr_of(row->words);
    const auto known = std::ranges::find(s_.operations, x.ink, &PipelineScene::Operation::ink);
    if (known == s_.operations.end())
      s_.operations.push_back(
          {x.ink, x.letter, words, *row->brief == '\0' ? std::string() : std::string(tr_of(row->brief))});
    else if (known->words.find(words) == std::string::npos)
      known->words += ", " + words;
  }

  void add_products() {
    for (const bool of_o : {false, true}) {
      for (std::size_t l = 0; l < p_.lanes.size(); ++l) {
        if (!consumes(l)) continue;
        TimelineRow row;
        const bool first = !of_o && std::none_of(p_.lanes.begin(), p_.lanes.begin() + static_cast<std::ptrdiff_t>(l),
                                                 [&](std::size_t n) { return t_.lanes[n].kind == LaneKind::consumer; });
        row.label = first ? tr("tensor cores, at most") : "";
        row.kind = RowKind::products;
        row.gap = first ? 10 : 1;
        for (const Product& x : p_.products) {
          if (x.lane != p_.lanes[l] || x.of_o != of_o) continue;
          TimelineStretch stretch;
          stretch.from = rel(x.issued);
          stretch.to = rel(x.returned);
          stretch.look = StretchLook::flight;
          stretch.ink = of_o ? Ink(TensorColour::o) : Ink(TensorColour::s);
          stretch.tile = x.tile;
          stretch.what = phrase("{} of {}, key tile {}: in flight for at most this long, from issue to return",
                                of_o ? "O" : "S", lane_words(t_, x.lane), x.tile);
          if (stretch.to > stretch.from) row.stretches.push_back(std::move(stretch));
        }
        s_.rows.push_back(std::move(row));
        places_.products[{p_.lanes[l], of_o}] = s_.rows.size() - 1;
      }
    }
    add_idle();
  }

  void add_idle() {
    if (p_.products.empty()) return;
    std::vector<std::pair<std::int64_t, std::int64_t>> busy;
    busy.reserve(p_.products.size() + 1);
    for (const Product& x : p_.products) busy.emplace_back(rel(x.issued), rel(x.returned));
    std::ranges::sort(busy);
    busy.emplace_back(p_.length(), p_.length());
    std::int64_t until = 0, idle = 0;
    for (const auto& [from, to] : busy) {
      if (from > until) s_.idle.emplace_back(until, from), idle += from - until;
      until = std::max(until, to);
    }
    s_.idle_share = share_of(idle);
  }

  double share_of(std::int64_t time) const { return static_cast<double>(time) / static_cast<double>(p_.length()); }

  void add_sums() {
    for (std::size_t l = 0; l < p_.lanes.size(); ++l) {
      PipelineScene::LaneShares lane{lane_words(t_, p_.lanes[l]), {}};
      std::vector<StateSum> sums = sums_of(p_.intervals[l]);
      std::vector<std::int64_t> times;
      std::int64_t others = p_.length();
      std::erase_if(sums, [&](const StateSum& sum) { return share_of(sum.time) < kSmallest; });
      for (const StateSum& sum : sums) times.push_back(sum.time), others -= sum.time;
      times.push_back(others);
      const std::vector<std::int32_t> tenths = tenths_of(times);
      for (std::size_t n = 0; n < sums.size(); ++n) {
        const LaneState& state = lane_state(tag_of(sums[n].tag));
        const auto operation = std::ranges::find(kOperations, tag_of(sums[n].tag), &OperationRow::tag);
        const Ink ink = operation == kOperations.end() ? ink_of(state.of) : operation->ink;
        lane.parts.push_back({ink, state.kind != StateKind::work, words_of_state(sums[n].tag), tenths_text(tenths[n]),
                              share_of(times[n]), std::string(tag_of(sums[n].tag))});
      }
      if (others > 0)
        lane.parts.push_back({Token::faint, true, tr("other states"), tenths_text(tenths.back()), share_of(others)});
      s_.lanes.push_back(std::move(lane));
    }
  }

  // Of the first consumer its products S, and how many rows of all consumers take the same key tile with it.
  void add_issues() {
    if (p_.products.empty()) return;
    const std::size_t by = p_.products.front().lane;
    s_.issues_by = lane_words(t_, by);
    std::map<std::int32_t, std::vector<std::size_t>> of_tile;
    for (const Product& x : p_.products) {
      if (x.of_o || x.lane != by) continue;
      of_tile[x.tile].push_back(s_.issues.size());
      s_.issues.push_back(rel(x.issued));
      s_.issue_tiles.push_back(x.tile);
    }
    const auto consumers =
        std::ranges::count_if(p_.lanes, [&](std::size_t n) { return t_.lanes[n].kind == LaneKind::consumer; });
    const std::int32_t rows = t_.options.br / static_cast<std::int32_t>(std::max<std::ptrdiff_t>(1, consumers));
    std::set<std::pair<std::size_t, std::size_t>> takers;  // product of the first consumer, lane
    for (const Product& x : p_.products) {
      if (x.of_o) continue;
      s_.work += rows;
      // A key tile comes again with the next query tile.
      const auto away = [&](std::size_t n) { return std::abs(s_.issues[n] - rel(x.issued)); };
      const std::vector<std::size_t>& same = of_tile[x.tile];
      const auto nearest = std::ranges::min_element(same, {}, away);
      if (nearest != same.end() && away(*nearest) <= kTogether * s_.tile_clocks) takers.emplace(*nearest, x.lane);
    }
    s_.issue_rows.assign(s_.issues.size(), 0);
    for (const auto& [product, lane] : takers) s_.issue_rows[product] += rows;
  }

  // For each key tile of a consumer: the mean of those that compute. They get their Q one after another, so what one of
  // them waits for is partly where it stands.
  void add_states() {
    std::map<std::int32_t, std::int64_t> clocks;
    std::int64_t tiles = 0;
    for (std::size_t l = 0; l < p_.lanes.size(); ++l) {
      const auto own =
          std::ranges::count_if(p_.products, [&](const Product& x) { return !x.of_o && x.lane == p_.lanes[l]; });
      if (own == 0) continue;
      for (const LaneInterval& i : p_.intervals[l]) clocks[i.tag] += i.length();
      s_.states_of.push_back(t_.lanes[p_.lanes[l]].index);
      s_.key_tiles = std::max<std::int64_t>(s_.key_tiles, own);
      tiles += own;
    }
    if (tiles == 0) return;
    for (const auto& [tag, sum] : clocks)
      s_.states.push_back({words_of_state(tag), static_cast<double>(sum) / static_cast<double>(tiles) * s_.ns_a_clock,
                           std::string(tag_of(tag))});
    std::ranges::sort(s_.states, std::ranges::greater(), &PipelineScene::StateTime::ns);
  }

  void add_words() {
    if (s_.shares.empty()) {
      return tell_of_no_path(s_, p_, timelines_);
    }
    s_.headline = pace_headline(parts_);
    s_.typical = t_.blocks.size() < 2 || is_typical(t_, p_.block);
    s_.answers = answers_of(s_, parts_, p_, timelines_);
    s_.words = words_besides(t_, p_, timelines_);
  }

  // Of the page: of what is shown, whatever kernel the other pages speak of.
  void add_strip() {
    s_.strip = launch_words(t_);
    if (kernel_.empty() || kernel_ == t_.kernel) return;
    const bool others = std::ranges::any_of(timelines_.all, [&](const auto& t) { return t->kernel == kernel_; });
    s_.of_other_kernel = true;
    if (others) return;
    s_.strip_words = phrase("No launch of {} was recorded. This recording is of {}; there are recordings of {}.",
                            kernel_, t_.kernel, recorded_kernels(timelines_));
  }

  const Timeline& t_;
  const TimelinesView& timelines_;
  const std::string& kernel_;
  std::int64_t wanted_ = -1;  // block of the grid
  Pipeline p_;
  PipelineScene s_;
  std::vector<PathPart> parts_;  // of the path, parallel to the shares
  RowPlaces places_;
};

}  // namespace

PipelineScene timeline_scene(std::shared_ptr<const Timeline> timeline, const TimelinesView& timelines,
                             const std::string& kernel, std::int64_t block) {
  if (timeline == nullptr) {
    PipelineScene none;
    none.empty = !timelines.looked ? tr("Looking for recorded timelines.")
                 : !timelines.error.empty()
                     ? timelines.error
                     : tr("There is no recorded timeline; use attnscope timeline to record one on a GPU.");
    return none;
  }
  return Scene(std::move(timeline), timelines, kernel, block).make();
}

const TimelineStretch* stretch_at(const TimelineRow& row, std::int64_t at, float height) {
  const TimelineStretch* best = nullptr;
  for (const TimelineStretch& x : row.stretches) {
    if (x.from > at) break;
    if (at < x.to && height >= x.top && height < x.bottom) best = &x;
  }
  return best;
}

std::string duration_text(const PipelineScene& scene, std::int64_t clocks) {
  return time_text(static_cast<double>(clocks) * scene.ns_a_clock);
}

}  // namespace attn
