// The timeline: one track with the phases of the live outer tile, and one thin scrubber for the whole run. Its buttons
// are in viz/step/timeline/transport_draw.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "viz/draw/text_runs.h"
#include "viz/state/state.h"
#include "viz/step/place/place.h"

namespace attn {

struct TrackChip {
  EventIndex event = 0;
  Ink ink, ink2;  // two for a load of K and V
  std::string letter;
  bool two = false, maths = false, past = false, live = false, skipped = false;
  bool raises_m = false;  // m of the followed row changes in this step
};
struct TrackGroup {
  std::string title;                 // "key tile 1"
  std::size_t first = 0, count = 0;  // chips
  bool live = false;
  std::string tile;  // "1": what it is called where it is folded; empty: never folded
};
struct ScrubberMark {
  EventIndex event = 0;
  std::string title;  // "query tile 1"
  bool live = false;
};
struct TimelineScene {
  EventIndex event = 0, events = 0;
  std::string outer;  // "query tile 1": what the track shows
  std::vector<TrackChip> chips;
  std::vector<TrackGroup> groups;
  std::vector<ScrubberMark> marks;
  std::vector<EventIndex> m_changes;  // steps of the run in which m of the followed row changes
  std::vector<EventIndex> bookmarks;  // steps that the user marked, ascending
  std::string by_shift, by_ctrl;      // what an arrow key goes on by with Shift and with Ctrl: "key tile", "query tile"
};
// Where each outer tile of the run begins: once a recording.
std::vector<ScrubberMark> scrubber_marks(const Recording& rec);
TimelineScene timeline_scene(const Recording& rec, const StepPlace& at, std::vector<ScrubberMark> marks,
                             const std::vector<Bookmark>& bookmarks);
// A title with less of it: "query tile 0" as "q 0", "pass 1, key tile 2" as "pass 1, k 2".
std::string brief_title(std::string title);
// Takes out what is known only after step `horizon`: where m will change; with `tiles` what stands behind the cursor.
void hide_after(TimelineScene& scene, EventIndex horizon, bool tiles);

// Where the track's chips stand: pixels from its left end.
struct TrackRoom {
  float width = 0, gap = 0, fold = 0;  // between groups; of a fold at the least
  std::vector<float> least;            // by chip: what its letter needs
};
struct TrackSpan {
  float from = 0, to = 0;
};
struct TrackFold {
  std::size_t first = 0, count = 0;  // groups
  std::string tiles;                 // "1–7"
  TrackSpan at;
  bool past = false;
};
struct Track {
  std::vector<TrackSpan> chips;  // those of a fold share its span
  std::vector<TrackFold> folds;
  bool tight = false;  // some chips have less than they need: not even the live tile fits
};
// Every chip has room for its letter. Where not all have, tiles are folded: those farthest from the live one first.
Track lay_out_track(const TimelineScene& scene, const TrackRoom& room);

}  // namespace attn
