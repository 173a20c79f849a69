// Who let a waiting lane of a block go: all by the clock of one SM, so the order is exact.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "profiling/timeline/pipeline_parts.h"

namespace attn {

// What a wait was for, and what ended it: at that moment the lane `by` let a slot go, passed on its turn, a query tile
// or a request of Q, or the copy that it had requested was found.
struct Release {
  std::size_t lane = 0, by = 0;           // of the timeline
  std::int64_t from = 0, to = 0;          // the wait
  std::int64_t at = 0;                    // when it was let go, at the latest
  std::int64_t earliest = 0;              // and at the earliest: the stamp before
  std::int32_t slot = -1;                 // of the copy; -1: no copy was waited for
  std::int32_t tile = -1;                 // key tile
  std::optional<std::size_t> or_by = {};  // this lane may have been the last instead: the stamps do not tell
};

// Asking a barrier that is open takes its time too, among other warps' instructions: a wait of up to twice what the
// quickest tenth of its kind takes in its lane is none, if that is no long time.
class OpenTimes {
 public:
  explicit OpenTimes(const Pipeline& p) : p_(p) {}
  std::int64_t of(std::size_t lane, std::int32_t tag);  // clocks

 private:
  const Pipeline& p_;
  std::map<std::pair<std::size_t, std::int32_t>, std::int64_t> known_;
};

const std::vector<LaneInterval>& intervals_of_lane(const Pipeline& p, std::size_t lane);
// The use of a slot that ended this wait for K or V; null: none did.
const SlotUse* use_waited_for(const Pipeline& p, std::size_t lane, const LaneInterval& wait, bool of_v);
// Who let the slot go last, until `at`; null: nobody yet.
const SlotReader* last_reader(const Pipeline& p, std::int32_t slot, std::int64_t at);
// Another that may have been later than that one: between its own two stamps the last one is not known to be. Null:
// there is none.
const SlotReader* as_late_a_reader(const Pipeline& p, std::int32_t slot, const SlotReader& last, std::int64_t at);
// Of a wait for a turn, a query tile or Q: which lane ended a state that lets it go last, in (wait.from, at].
std::optional<std::pair<std::size_t, std::int64_t>> giver_of(const Timeline& t, const Pipeline& p, std::size_t lane,
                                                             const LaneInterval& wait, std::int64_t at);

// Of every wait that somebody ended, by lane and time. A product is the waiting lane's own: it has no releaser.
std::vector<Release> releases_of(const Timeline& t, const Pipeline& p);

}  // namespace attn
