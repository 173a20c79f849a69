// Is a recording that was read one that a kernel could have made? Whoever draws or replays it relies on this.
#include <algorithm>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "kernels/base/bytes.h"
#include "kernels/base/text.h"
#include "kernels/model/order_row.h"
#include "kernels/model/problem/tensors.h"
#include "kernels/model/problem/validate.h"
#include "kernels/recording/file/recording_file.h"
#include "kernels/recording/size.h"

namespace attn {
namespace {

// The extent of one axis and how it is cut.
struct Axis {
  std::int64_t length = 1;
  std::int64_t tile = 1;
  std::int64_t tiles() const { return (length - 1) / tile + 1; }
  // True for exactly one whole tile, the last being the shorter.
  bool is_tile(std::int64_t first, std::int64_t count) const {
    return first >= 0 && first < length && first % tile == 0 && count == std::min(tile, length - first);
  }
};

bool rows_are_keys(Slot s) {
  return slot_row(s).rows == SlotRows::keys;
}
bool columns_are_keys(Slot s) {
  return slot_row(s).columns == SlotColumns::keys;
}

// Files of every order may count three.
constexpr std::int32_t kPassesOfAll = 3;
constexpr const char* kNotLive = marked("reads a version that is not live");
class Checker {
 public:
  Checker(const Recording& rec, const std::string& where) : rec_(rec), order_(order_row(rec.order)), where_(where) {}

  Result<void> run() {
    if (auto r = check_frame(); !r) return r;
    for (std::size_t v = 0; v < rec_.versions.size(); ++v) {
      if (const char* why = version_fault(rec_.versions[v])) return refuse("version", v, why);
    }
    for (std::size_t e = 0; e < rec_.events.size(); ++e) {
      if (const char* why = event_fault(e)) return refuse("event", e, why);
    }
    return ok();
  }

 private:
  Result<void> refuse(const char* what, std::size_t index, const char* why) const {
    return bad_input(fmt::format("{}: {} {} {}.", where_, what, index, why));
  }

  Result<void> check_frame() {
    const Problem& p = rec_.problem;
    if (auto r = validate(p); !r) return r;
    if (auto r = validate(p, rec_.inputs); !r) return bad_input(where_ + ": " + r.error().message);
    if (auto r = check_outputs(); !r) return r;
    constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
    if (std::max({p.B, p.Hq, p.Lq, p.Lk}) > kMax || rec_.options.br < 1 || rec_.options.bc < 1) {
      return bad_input(phrase("{}: its problem or tile cannot be recorded.", where_));
    }
    if ((rec_.rules == Rules::none) != rec_.gpu.has_value()) {
      return bad_input(phrase("{}: its arithmetic rules do not match its device.", where_));
    }
    if (rec_.gpu && rec_.gpu->makers.size() != rec_.versions.size()) {
      return bad_input(
          phrase("{}: it has {} makers for {} versions.", where_, rec_.gpu->makers.size(), rec_.versions.size()));
    }
    if (rec_.own_after.size() != rec_.events.size() * order_.own_slots.size()) {
      return bad_input(phrase("{}: the number of its events does not match the slots of its order.", where_));
    }
    query_ = {p.Lq, rec_.options.br};
    key_ = {p.Lk, rec_.options.bc};
    // Each tile has an event at least, so a small file cannot ask for the look-up tables of a huge problem.
    const std::int64_t tiles[] = {p.B, p.Hq, query_.tiles(), key_.tiles()};
    const std::int64_t count = element_count(tiles);
    if (count < 0 || static_cast<std::uint64_t>(count) > rec_.events.size()) {
      return bad_input(phrase("{}: {} events are too few for the problem's tiles.", where_, rec_.events.size()));
    }
    const std::uint64_t bytes = recording_bytes(rec_.order, p, rec_.options);
    if (bytes > kRecordingLimit || rec_.bytes() > kRecordingLimit) {
      return bad_input(phrase("{}: the recording needs {}; the limit is {}.", where_,
                              format_bytes(std::max(bytes, rec_.bytes())), format_bytes(kRecordingLimit)));
    }
    return ok();
  }

  Result<void> check_outputs() const {
    const ByTensor<const Array*> outputs = arrays_of(rec_.outputs);
    for (const TensorSpec& spec : tensors_of(rec_.problem)) {
      // delta is a kernel's own, and a recording keeps it.
      if (spec.role == Role::in || !outputs[spec.tensor]) continue;
      const Array& a = *outputs[spec.tensor];
      if (a.shape() == spec.shape && element_type_of(a.dtype()) == spec.type) continue;
      if (rec_.problem.pass == Pass::forward)
        return bad_input(phrase("{}: O or LSE does not have the problem's shape and dtype.", where_));
      return bad_input(phrase("{}: {} does not have the problem's shape and dtype.", where_, words_of(spec.tensor)));
    }
    return ok();
  }

  std::int64_t columns_of(Slot s) const {
    const std::int64_t columns[] = {1, rec_.problem.D, rec_.problem.Dv};  // SlotColumns that are no keys
    return columns[static_cast<std::size_t>(slot_row(s).columns)];
  }

  // Null when the version is one tile of its tensor and lies within the arena.
  const char* version_fault(const Version& v) const {
    const Axis& rows = rows_are_keys(v.slot) ? key_ : query_;
    if (!rows.is_tile(v.first_row, v.rows)) return tr("does not cover the rows of one tile");
    constexpr std::int32_t kLanesOfWarp = 32;
    const bool spread = v.holds.partial && rec_.gpu && slot_row(v.slot).lanes;
    if (v.holds.partial && !spread) return tr("is spread over lanes but is not l of a GPU run");
    const bool columns = columns_are_keys(v.slot) ? key_.is_tile(v.first_col, v.cols)
                         : spread                 ? v.first_col == 0 && v.cols >= 1 && v.cols <= kLanesOfWarp
                                                  : v.first_col == 0 && v.cols == columns_of(v.slot);
    if (!columns) return tr("does not cover the columns of one tile");
    const std::uint64_t count = static_cast<std::uint64_t>(v.rows) * static_cast<std::uint64_t>(v.cols);
    if (count > rec_.arena.size() || v.offset > rec_.arena.size() - count) return tr("lies outside the arena");
    if (v.made_by >= rec_.events.size()) return tr("was made by an event that does not exist");
    return nullptr;
  }

  const char* event_fault(std::size_t e) const {
    const Event& event = rec_.events[e];
    const EventId& id = event.id;
    if (id.b < 0 || id.b >= rec_.problem.B || id.h < 0 || id.h >= rec_.problem.Hq)
      return tr("refers to a batch or head that does not exist");
    if (id.i < -1 || id.i >= query_.tiles() || id.j < -1 || id.j >= key_.tiles())
      return tr("refers to a tile that does not exist");
    if (event.pass < 0 || event.pass >= std::max(order_.passes, kPassesOfAll))
      return tr("refers to a pass that does not exist");
    const OrderPhase* phase = order_.phase(id.phase);
    if (phase == nullptr) return tr("has a phase that its order lacks");
    if ((id.i < 0 && phase->query_tile) || (id.j < 0 && phase->key_tile)) return tr("has no tile");
    for (std::size_t s = 0; s < kSlots; ++s) {
      if (const char* why = live_fault(event.after[s], static_cast<Slot>(s), e)) return why;
    }
    for (const Slot s : order_.own_slots) {
      if (const char* why = live_fault(after(e, s), s, e)) return why;
    }
    if (const char* why = operand_fault(e, *phase)) return why;
    for (std::size_t part = 0; part < event.hbm_bytes.size(); ++part) {
      const std::uint64_t before = e == 0 ? 0 : rec_.events[e - 1].hbm_bytes[part];
      if (event.hbm_bytes[part] < before) return tr("has fewer bytes than the event before it");
    }
    return nullptr;
  }

  // `live`, which slot `s` shows at event `e`, is of that tensor and made by then. It may be left from another tile.
  const char* live_fault(VersionId live, Slot s, std::size_t e) const {
    if (live == kNoVersion) return nullptr;
    if (live >= rec_.versions.size()) return tr("shows a version that does not exist");
    if (made_as(rec_.versions[live].slot) != made_as(s)) return tr("shows a version of another tensor");
    return rec_.versions[live].made_by > e ? tr("shows a version that was made later") : nullptr;
  }

  // `live` can be an operand or result of event `e`: it is there, and of the event's own tile.
  bool readable(VersionId live, Slot s, std::size_t e) const {
    if (live == kNoVersion || live_fault(live, s, e) != nullptr) return false;
    const Version& v = rec_.versions[live];
    const EventId& id = rec_.events[e].id;
    if (columns_are_keys(s) && v.first_col / key_.tile != id.j) return false;
    return rows_are_keys(s) ? v.first_row / key_.tile == id.j : v.first_row / query_.tile == id.i;
  }
  bool readable_either(VersionId live, Slot s, VersionId otherwise, Slot old, std::size_t e) const {
    return live != kNoVersion ? readable(live, s, e) : readable(otherwise, old, e);
  }

  VersionId before(std::size_t e, Slot s) const { return rec_.before(static_cast<EventIndex>(e), s); }
  VersionId after(std::size_t e, Slot s) const { return rec_.after(static_cast<EventIndex>(e), s); }

  // What the phase reads was live before, of this very tile; what it makes is live after.
  const char* operand_fault(std::size_t e, const OrderPhase& phase) const {
    for (const Slot s : phase.before) {
      if (!readable(before(e, s), s, e)) return tr_of(kNotLive);
      // What was read stays, gives way to nothing, or to another of the same tile.
      if (after(e, s) != kNoVersion && !readable(after(e, s), s, e)) return tr("shows a version of another tile");
    }
    for (const Slot s : phase.after) {
      if (!readable(after(e, s), s, e)) return tr("lacks a version that its phase makes");
    }
    // At the end of a query tile the newest of O, l and m is what there is: `old` where every key tile was skipped.
    for (const auto& [newest, old] : phase.newest_before) {
      if (!readable_either(before(e, newest), newest, before(e, old), old, e)) return tr_of(kNotLive);
    }
    for (const auto& [newest, old] : phase.newest_after) {
      if (!readable_either(after(e, newest), newest, after(e, old), old, e)) return tr_of(kNotLive);
    }
    return nullptr;
  }

  const Recording& rec_;
  const OrderRow& order_;
  const std::string& where_;
  Axis query_, key_;
};

}  // namespace

Result<void> check_recording(const Recording& rec, const std::string& where) {
  return Checker(rec, where).run();
}

}  // namespace attn
