// Is a recording that was read one that a kernel could have made? Whoever draws or replays it relies on this.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "kernels/recording_file.h"

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

// Versions of m, l and O carry the *_new slot.
Slot made_as(Slot s) {
  switch (s) {
    case Slot::m_old:
      return Slot::m_new;
    case Slot::l_old:
      return Slot::l_new;
    case Slot::o_old:
      return Slot::o_new;
    default:
      return s;
  }
}

bool rows_are_keys(Slot s) {
  return s == Slot::k || s == Slot::v;
}
bool columns_are_keys(Slot s) {
  return s == Slot::s || s == Slot::p;
}

class Checker {
 public:
  Checker(const Recording& rec, const std::string& where) : rec_(rec), where_(where) {}

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
    const Outputs& o = rec_.outputs;
    if (o.out.shape() != std::vector{p.B, p.Hq, p.Lq, p.Dv} || o.out.dtype() != p.dtype ||
        o.lse.shape() != std::vector{p.B, p.Hq, p.Lq} || o.lse.dtype() != DType::f32) {
      return bad_input(fmt::format("{}: O or LSE does not have the problem's shape and dtype.", where_));
    }
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    if (std::max({p.B, p.Hq, p.Lq, p.Lk}) > kMost || rec_.options.br < 1 || rec_.options.bc < 1) {
      return bad_input(fmt::format("{}: its problem or tile is none that can be recorded.", where_));
    }
    query_ = {p.Lq, rec_.options.br};
    key_ = {p.Lk, rec_.options.bc};
    // Each tile has an event at least, so a small file cannot ask for the look-up tables of a huge problem.
    const std::int64_t tiles[] = {p.B, p.Hq, query_.tiles(), key_.tiles()};
    const std::int64_t count = element_count(tiles);
    if (count < 0 || static_cast<std::uint64_t>(count) > rec_.events.size()) {
      return bad_input(fmt::format("{}: {} events are too few for the problem's tiles.", where_, rec_.events.size()));
    }
    if (rec_.events.size() > kNoVersion || rec_.versions.size() >= kNoVersion) {
      return bad_input(fmt::format("{}: it has more events or versions than can be numbered.", where_));
    }
    return ok();
  }

  std::int64_t columns_of(Slot s) const {
    switch (s) {
      case Slot::q:
      case Slot::k:
        return rec_.problem.D;
      case Slot::v:
      case Slot::o_old:
      case Slot::o_new:
        return rec_.problem.Dv;
      default:
        return 1;
    }
  }

  // Null when the version is one tile of its tensor and lies within the arena.
  const char* version_fault(const Version& v) const {
    if (v.slot != made_as(v.slot)) return "has a slot that no version has";
    const Axis& rows = rows_are_keys(v.slot) ? key_ : query_;
    if (!rows.is_tile(v.first_row, v.rows)) return "does not cover the rows of one tile";
    const bool columns =
        columns_are_keys(v.slot) ? key_.is_tile(v.first_col, v.cols) : v.first_col == 0 && v.cols == columns_of(v.slot);
    if (!columns) return "does not cover the columns of one tile";
    const std::uint64_t count = static_cast<std::uint64_t>(v.rows) * static_cast<std::uint64_t>(v.cols);
    if (count > rec_.arena.size() || v.offset > rec_.arena.size() - count) return "lies outside the arena";
    if (v.made_by >= rec_.events.size()) return "was made by an event that is not there";
    return nullptr;
  }

  const char* event_fault(std::size_t e) const {
    const Event& event = rec_.events[e];
    const EventId& id = event.id;
    if (id.b < 0 || id.b >= rec_.problem.B || id.h < 0 || id.h >= rec_.problem.Hq) return "has no such batch or head";
    if (id.i < -1 || id.i >= query_.tiles() || id.j < -1 || id.j >= key_.tiles()) return "has no such tile";
    if (event.pass < 0 || event.pass > 2) return "has no such pass";
    for (std::size_t s = 0; s < kSlots; ++s) {
      if (const char* why = live_fault(e, static_cast<Slot>(s))) return why;
    }
    for (std::size_t part = 0; part < event.hbm_bytes.size(); ++part) {
      const std::uint64_t before = e == 0 ? 0 : rec_.events[e - 1].hbm_bytes[part];
      if (event.hbm_bytes[part] < before) return "has fewer bytes than the event before it";
    }
    return nullptr;
  }

  // The version that slot `s` shows after event `e`, if any, is of that tensor, of that tile, and made by then.
  const char* live_fault(std::size_t e, Slot s) const {
    const Event& event = rec_.events[e];
    const VersionId live = event.after[static_cast<std::size_t>(s)];
    if (live == kNoVersion) return nullptr;
    if (live >= rec_.versions.size()) return "shows a version that is not there";
    const Version& v = rec_.versions[live];
    if (v.slot != made_as(s)) return "shows a version of another tensor";
    if (v.made_by > e) return "shows a version that was made later";
    const std::int64_t row_tile = v.first_row / (rows_are_keys(s) ? key_.tile : query_.tile);
    const std::int64_t own_tile = rows_are_keys(s) ? event.id.j : event.id.i;
    if (own_tile >= 0 && row_tile != own_tile) return "shows a version of another tile";
    if (columns_are_keys(s) && event.id.j >= 0 && v.first_col / key_.tile != event.id.j) {
      return "shows a version of another key tile";
    }
    return nullptr;
  }

  const Recording& rec_;
  const std::string& where_;
  Axis query_, key_;
};

}  // namespace

Result<void> check_recording(const Recording& rec, const std::string& where) {
  return Checker(rec, where).run();
}

}  // namespace attn
