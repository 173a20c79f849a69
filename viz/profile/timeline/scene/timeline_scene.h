// The timeline of a recorded launch: the lanes of one block, the slots of its ring below, the critical path; and
// all blocks as bands, one an SM. Plain values; timeline_draw.cpp draws them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/recording/timeline.h"
#include "profiling/timeline/pipeline.h"
#include "viz/draw/inks.h"
#include "viz/draw/text_runs.h"
#include "viz/state/model.h"
#include "viz/state/state.h"

namespace attn {

// How a stretch is drawn: its own instructions filled; a wait as a low outline; in flight hatched with a border; landed
// pale; nothing dashed.
enum class StretchLook : std::uint8_t { work, wait, flight, landed, read, nothing };

constexpr float kWaitTop = 0.58F;  // of a consumer's row: a wait is low

struct TimelineStretch {
  std::int64_t from = 0, to = 0;  // clocks of the SM from the block's start
  StretchLook look = StretchLook::work;
  Ink ink;
  std::string letter;         // "K"; empty: none
  std::int32_t tile = -1;     // key tile; -1: of none
  float top = 0, bottom = 1;  // of its row
  std::string what;           // "consumer 1 waits for K"
};

// A lane that copies or computes, what a lane has in flight in the tensor cores, a slot of the ring.
enum class RowKind : std::uint8_t { copies, computes, products, slot };

struct TimelineRow {
  std::string label, below;        // "consumer 0", "rows 0-63"
  RowKind kind = RowKind::copies;  // where it computes a wait takes its lower part
  float height = 20;               // logical pixels, of one that copies; of others row_heights() (row_heights.h)
  float gap = 6;                   // above it
  bool of_q = false;               // it copies Q and nothing else
  bool on_path = false;            // the critical path runs through it
  float path_at = 0.5F;            // of its height: where the path runs, clear of its letters
  std::vector<TimelineStretch> stretches;  // by their beginning
};

struct TimelineTick {
  std::int64_t at = 0;
  std::string text;  // µs, at any zoom
};

// A share of the path, or of a lane.
struct PathShare {
  Ink ink;
  bool hatched = false;
  std::string words;  // "tensor cores"
  std::string value;  // "82 %"
  double share = 0;
  std::string brief = {};  // of a lane: the state's tag, "wait K"; of a copy its letter
  bool hollow = false;     // nobody's work: a frame without fill
};

// Who ended a wait: from the row of a lane that let it go, or of a slot whose copy landed, to the row of the lane.
struct ReleaseArrow {
  std::int64_t from = 0, to = 0, at = 0;  // clocks from the block's start: the wait, and when it was let go
  std::size_t by_row = 0, row = 0;
  std::int32_t tile = -1;
  std::string words;  // "Released by consumer 1, 120 clocks before it continued"
};

// A block on its SM, ns from the launch's start.
struct BlockBand {
  std::int32_t row = 0;  // of the SMs, by their end
  std::int32_t sm = 0;
  std::int32_t place = 0;  // within the row, where an SM runs several blocks at once
  double from_ns = 0, to_ns = 0;
  std::vector<double> tiles_ns;  // when it took its query tiles
  struct Part {
    double from_ns = 0, to_ns = 0;
    float length = 1;  // of the longest part of the launch
  };
  std::vector<Part> parts;  // its query tiles from end to end; where they are not known the block
  std::string tip;
  std::int64_t block = -1;  // of the grid
  bool shown = false;       // its lanes are those above
  bool detailed = false;    // they may be
};

struct PipelineScene {
  bool there = false;
  std::string empty;  // why nothing is drawn
  // What a reader asks first, answered by numbers; none where the lanes do not say who waits for whom.
  struct Answer {
    std::string question, answer, why;
    bool with_bands = false;  // of all SMs, small, below the words
  };
  std::vector<Answer> answers;
  // To a recording whose lanes say who waits for whom, where this one's do not.
  struct Door {
    std::string id, words, tip;
  };
  std::optional<Door> door;
  std::string title;  // "block 37 on SM 37, one of 132"
  std::string headline, words;
  bool typical = true;             // the block: else its verdict is of this one alone
  std::string strip, strip_words;  // of the page: "flash_hopper, L = 1024, D = 128: 235.1 µs without the recorder."
  bool of_other_kernel = false;    // than the other pages speak of
  std::string notes;               // price, clocks, buffer
  std::shared_ptr<const Timeline> timeline;
  struct Choice {
    std::string id, words, tip;  // "L 1024 causal, step 3, take 2"
    bool on = false;
    bool beside = false, may_be_beside = false;  // drawn below; and it may be: the same problem, another recording
  };
  std::vector<Choice> choices;
  std::vector<std::int64_t> blocks;           // of the grid, those that it holds in detail
  std::int64_t block = -1;                    // of them, the one that is shown
  std::int64_t length = 0, from = 0, to = 0;  // clocks: of the block, and the window
  bool whole = true, sms_shown = false;       // all SMs in place of the lanes
  double ns_a_clock = 1;
  std::int64_t tile_clocks = 1;               // of a key tile, on the average
  std::int32_t follow = -1;                   // key tile that is lit; -1: all are
  bool path_wanted = true, with_path = true;  // asked for; and few enough stretches of it are in sight
  std::vector<TimelineTick> ticks;
  std::vector<TimelineRow> overview, rows;
  // What its lanes do, for the key: of one colour and one letter each.
  struct Operation {
    Ink ink;
    std::string letter, words, brief = {};  // brief: as of KeyEntry
  };
  std::vector<Operation> operations;
  std::vector<PathStretch> path;       // clocks from the block's start
  std::vector<std::size_t> path_rows;  // parallel: the row that a stretch lies in
  std::vector<ReleaseArrow> releases;
  std::vector<std::pair<std::int64_t, std::int64_t>> idle;  // no product is in flight: the tensor cores surely idle
  double idle_share = 0;                                    // of the block's time
  std::vector<PathShare> shares;
  struct LaneShares {
    std::string lane;
    std::vector<PathShare> parts;
  };
  std::vector<LaneShares> lanes;  // where each lane's time goes
  std::vector<BlockBand> bands;
  std::string tail;  // which SMs end when
  std::int32_t band_rows = 0, band_places = 1;
  double launch_ns = 0;
  // Nanoseconds a key tile that a consumer is in a state, the mean of those that compute, the longest first; the
  // second's and this one's by the same words. Together they are the time from one key tile to the next.
  struct StateTime {
    std::string words;
    double ns = 0;
    std::string tag;
  };
  std::vector<StateTime> states;
  std::vector<std::int32_t> states_of;    // numbers of those consumers
  std::int64_t key_tiles = 0;             // of the one that computes most in the block
  std::vector<std::int64_t> issues;       // when the first consumer hands over its products S: what two are aligned at
  std::vector<std::int32_t> issue_tiles;  // parallel: of which key tile
  std::vector<std::int32_t> issue_rows;   // parallel: rows of all consumers that take that key tile
  std::string issues_by;                  // "consumer 0"
  double work = 0;                        // rows that take a key tile, of all key tiles of the block
  // The one that is drawn below, on the same axis from the same product on; null: none is.
  std::shared_ptr<PipelineScene> beside;
  std::string beside_words;               // of both, all of it; of this window, by show_part()
  std::vector<std::string> beside_forms;  // of one line, the longest first: what is general goes first, causes stay
  std::string above_label, beside_label;  // by what differs: "no turns", "turns"
};

// The name of a timeline in a state string: eight letters that its kernel, problem and options decide, and four of the
// launch itself. Links of old have the eight alone: they name the first of several takes.
std::string id_of(const Timeline& t);
std::string without_take(const std::string& id);
bool is_named(const std::string& id, const std::string& name);
// "L 1024 D 128 causal, step 3, 4 slots", behind its kernel where those of several are in one list.
std::string recording_words(const Timeline& t, bool with_kernel);
// The one that the view names; else of the same kernel on the same problem, else of the kernel, else the first.
// Null: there is none.
std::shared_ptr<const Timeline> timeline_shown(const ProfileView& view, const TimelinesView& timelines,
                                               const std::string& kernel, const Problem& problem);
// Of one name, and as far as is known one and the same: only such times make a gain.
bool on_same_card(const Timeline& a, const Timeline& b);
// The page's headline: who sets the pace; over all SMs where the tail is; of two who ends sooner, or that nothing
// differs.
std::string verdict_of(const PipelineScene& scene);
// The product at which two recordings are aligned, the same one of both counted from their first; none: one of them has
// no product, and both stand as they lie in their blocks.
std::optional<std::size_t> aligned_product(const PipelineScene& above, const PipelineScene& below);
struct Alignment {
  std::int64_t above = 0, below = 0;              // clocks of each block
  std::int32_t tile_above = -1, tile_below = -1;  // of keys
  bool in_sight = false;
};
std::optional<Alignment> alignment_of(const PipelineScene& scene);
// What it is, and where it is if it is out of sight.
TextRuns alignment_words(const PipelineScene& scene);
// From the product at which two recordings are aligned to the last one in sight of both, of the first consumer.
struct Ahead {
  std::int64_t from_above = 0, above = 0, from_below = 0, below = 0;  // clocks of each block
  std::size_t tiles = 0;
  double above_ns = 0, below_ns = 0;      // what they take
  double above_work = 0, below_work = 0;  // rows that take a key tile, of all of them
};
// None: there is no product in sight of both but the one at which they are aligned.
std::optional<Ahead> ahead_of(const PipelineScene& scene);
// Of two launches as recorded: which ends sooner, by how much.
std::string ends_words(const PipelineScene& above, const PipelineScene& below);
// The same, with what the launches do without the recorder where that is another answer (`agrees` is false then).
struct EndsTold {
  std::string words;
  bool agrees = true;
};
EndsTold ends_told(const PipelineScene& above, const PipelineScene& below);
// Less than twice what the quartiles of both leave open.
bool is_no_gain(const Timeline& above, const Timeline& below, double gain);
// What sets each of two recordings of one problem apart: "2 slots", "3 slots"; the same of both where nothing does.
std::pair<std::string, std::string> what_differs(const Timeline& above, const Timeline& below);
// What a change brought, as a share of the time without the recorder. `spread`: between its quartiles, by those of both
// medians; empty where a file has none.
struct MeasuredGain {
  double gain = 0;
  std::optional<double> spread;
};
// Whether a derived gain may be told beside the measured one: within 2 points or 30 %, and of the same sign where the
// measured one is more than twice its spread (where that is unknown: where neither is nothing).
bool agree(double derived, const MeasuredGain& measured);
// What one slot more would bring; measured by a recording with it among `all`. Nothing is derived where nothing was
// measured, where no rules explain the recording, or where the two do not agree: `disagree`.
struct SlotGain {
  std::optional<double> derived;
  std::optional<MeasuredGain> measured;
  bool disagree = false;
};
SlotGain slot_gain(const Timeline& t, const Pipeline& p, const TimelinesView& all);
std::string gain_words(double gain);                   // "8.9 %", "2.0 % lost", "nothing"
std::string measured_words(const MeasuredGain& gain);  // "8.9 % (quartile spread 0.4 points)"
std::string gain_sentence(const std::string& change, double derived, const MeasuredGain& measured);
std::string slot_words(const Timeline& t, const Pipeline& p, const TimelinesView& all);
// The same of blocks that stay, as a sentence; empty: nothing is told.
std::string stay_words(const Timeline& t, const Pipeline& p, const TimelinesView& all);
// What was measured with other numbers of slots, and nothing else that differs; empty: nothing was.
std::string slots_words(const Timeline& t, const TimelinesView& all);
// A part of the critical path, and its share of the block's time.
struct PathPart {
  PathOf of = PathOf::work;
  double share = 0;
  std::int32_t tenths = 0;  // of a percent, as it is told
};
// Where the tail is: also of a launch whose lanes answer nothing.
PipelineScene::Answer tail_answer(const PipelineScene& scene);
// Who sets the pace, what one more slot brings, where the tail is. `parts` is not empty.
std::vector<PipelineScene::Answer> answers_of(const PipelineScene& scene, const std::vector<PathPart>& parts,
                                              const Pipeline& p, const TimelinesView& all);
// What is said besides: how typical the block is, blocks that stay, turns, what was measured with other numbers of
// slots.
std::string words_besides(const Timeline& t, const Pipeline& p, const TimelinesView& all);
std::string time_share_text(double share);  // "7.1 %", "37 %"
// Shares of what they are all of, in tenths of a percent: they add up to 1000.
std::vector<std::int32_t> tenths_of(std::span<const std::int64_t> parts);
std::string tenths_text(std::int32_t tenths);  // "37.4 %"
std::string time_text(double ns);              // "940 ns", "9.40 µs", "228.7 µs"
// What recording cost, by medians of several launches and in the launch that is drawn.
std::string price_words(const Timeline& t);
// How key tiles are numbered where they are visited from the last one on, what shares the ring's slots, and which
// consumers have no rows in some query tiles.
std::string order_words(const Timeline& t, const Pipeline& p);
bool is_typical(const Timeline& t, std::int32_t block);
// How long the block takes beside the others: which is the median one. Empty: there is no other.
std::string block_words(const Timeline& t, std::int32_t block);
// How the median block is recorded, where this one is not typical; else empty.
std::string median_words(const Timeline& t, std::int32_t block);
// Of these rows of its blocks that whose time is nearest to the median of all.
std::int32_t most_usual_block(const Timeline& t, std::span<const std::int32_t> rows);
// What turns cost, and why nobody can tell from here what they bring; of a recording without them, what they would
// bring. Empty: neither is told.
std::string turn_words(const Timeline& t, const Pipeline& p, const TimelinesView& all);
// The largest part sets the pace, with all that are about as large; copies are one part. `parts` is not empty.
std::string pace_headline(const std::vector<PathPart>& parts);
// What was launched, its time without the recorder, and that of the very launch that is drawn.
std::string launch_words(const Timeline& t);
// Of a recording without a critical path: how much its lanes work and wait, what is missing, and which recordings of
// other kernels have one: the scene's door leads to the first.
void tell_of_no_path(PipelineScene& scene, const Pipeline& p, const TimelinesView& all);
// "flash_hopper and flash_mma"; empty: there are none.
std::string recorded_kernels(const TimelinesView& all);
// Which SM ends first, which last, how long the tail between them is.
std::string tail_words(const PipelineScene& scene);
// From the first SM's end to the last one's.
double tail_ns(const PipelineScene& scene);
// Of the launch's SM time what lies behind each SM's last block.
double idle_at_end(const PipelineScene& scene);
// When the last block of each row ends, ns: behind that the row is hatched.
std::vector<double> row_ends(const PipelineScene& scene);
// Of the launch's SM time what lies before an SM's first block and between its blocks.
double idle_before_end(const PipelineScene& scene);
// All of a recording, walked through once; show_part() (shown_part.h) then chooses what is in sight. `timelines`:
// those that can be chosen; `kernel`: that Profile speaks of; `block`: as in ProfileView, none: the most usual of those
// that were recorded state by state.
PipelineScene timeline_scene(std::shared_ptr<const Timeline> timeline, const TimelinesView& timelines,
                             const std::string& kernel, std::int64_t block = -1);

// Which row of a scene holds a lane of the timeline, the products of a lane, a slot.
struct RowPlaces {
  std::map<std::size_t, std::size_t> lanes;
  std::map<std::pair<std::size_t, bool>, std::size_t> products;  // true: of O
  std::map<std::int32_t, std::size_t> slots;
};
// The slots of its ring; who released whom; the critical path with its rows and shares, whose parts it returns,
// parallel to the shares.
void add_slots(PipelineScene& s, const Pipeline& p, RowPlaces& places);
void add_releases(PipelineScene& s, const Pipeline& p, const RowPlaces& places);
std::vector<PathPart> add_path(PipelineScene& s, const Pipeline& p, const RowPlaces& places);
// All blocks of the launch; `shown`: the row of the one whose lanes are drawn.
void add_bands(PipelineScene& scene, std::int32_t shown);
// The recording of that name, below the one that is shown; "" or one that may not be: none.
void put_beside(PipelineScene& scene, const std::string& id, const TimelinesView& timelines);

// What lies at a moment of a row; null: nothing does.
const TimelineStretch* stretch_at(const TimelineRow& row, std::int64_t at, float height);
// time_text() of clocks.
std::string duration_text(const PipelineScene& scene, std::int64_t clocks);

}  // namespace attn
