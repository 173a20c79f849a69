// Is a recording that was read one that a kernel could have made? Whoever draws or replays it relies on this.
#include <algorithm>
#include <initializer_list>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/bytes.h"
#include "kernels/model/traffic.h"
#include "kernels/recording/file.h"
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

// m, l and O have one kind of version, whichever of their two slots shows it.
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

// What a phase reads and makes, so that it can be drawn and replayed: versions that must be live before its event and
// after it. Orders that store S read it back with the event itself, so there it stands under `after`.
struct Needs {
  std::uint32_t before = 0, after = 0;  // one bit a slot
};

bool contains(std::uint32_t slots, Slot s) {
  return (slots >> static_cast<std::size_t>(s) & 1) != 0;
}

constexpr Needs needs(std::initializer_list<Slot> before, std::initializer_list<Slot> after) {
  Needs n;
  for (Slot s : before) n.before |= 1U << static_cast<std::size_t>(s);
  for (Slot s : after) n.after |= 1U << static_cast<std::size_t>(s);
  return n;
}

Needs needs_on_chip(Phase p) {
  switch (p) {
    case Phase::rescale:
      return needs({Slot::m_old, Slot::m_new}, {Slot::m_old, Slot::m_new, Slot::alpha});
    case Phase::max:
      return needs({Slot::s}, {Slot::s, Slot::m_old, Slot::m_new});
    case Phase::weights:
      return needs({Slot::s, Slot::m_new}, {Slot::p, Slot::m_new});
    case Phase::sum:
      return needs({Slot::p, Slot::alpha}, {Slot::l_old, Slot::l_new});
    case Phase::output:
      return needs({Slot::p, Slot::v, Slot::alpha, Slot::o_old, Slot::l_old, Slot::l_new}, {Slot::o_new});
    default:
      return {};
  }
}

Needs needs_stored(Phase p) {
  switch (p) {
    case Phase::max:
      return needs({}, {Slot::s, Slot::m_old, Slot::m_new});
    case Phase::weights:
      return needs({Slot::m_new, Slot::l_new}, {Slot::s, Slot::p});
    case Phase::sum:
      return needs({Slot::m_new}, {Slot::s, Slot::l_old, Slot::l_new});
    case Phase::output:
      return needs({Slot::p, Slot::v, Slot::o_old}, {Slot::o_new});
    default:
      return {};
  }
}

Needs needs_of(Order o, Phase p) {
  switch (p) {
    case Phase::load_q:
      return needs({}, {Slot::q});
    case Phase::load_kv:
      return needs({}, {Slot::k, Slot::v});
    case Phase::load_k:
      return needs({}, {Slot::k});
    case Phase::load_v:
      return needs({}, {Slot::v});
    case Phase::load_state:
      return needs({}, {Slot::q, Slot::m_old, Slot::l_old, Slot::o_old});
    case Phase::scores:
      return needs({Slot::q, Slot::k}, {Slot::q, Slot::k, Slot::s});
    case Phase::mask:
    case Phase::store_s:
      return needs({Slot::s}, {Slot::s});
    case Phase::normalise:
      return needs({}, {Slot::o_new, Slot::lse});
    case Phase::store_o:
      return needs({}, {Slot::lse});
    default:
      return stores_scores(o) ? needs_stored(p) : needs_on_chip(p);
  }
}

// The phase tables of the orders, apart from the phases that all have.
bool has_phase(Order o, Phase p) {
  switch (p) {
    case Phase::load_k:
    case Phase::load_v:
    case Phase::store_s:
      return stores_scores(o);
    case Phase::rescale:
    case Phase::load_kv:
      return !stores_scores(o);
    case Phase::load_q:
      return o != Order::flash1;
    case Phase::load_state:
    case Phase::store_state:
      return o == Order::flash1;
    case Phase::normalise:
      return o == Order::flash;
    default:
      return true;
  }
}

bool needs_query_tile(Phase p) {
  return p != Phase::load_kv;
}
bool needs_key_tile(Phase p) {
  return p != Phase::load_q && p != Phase::normalise && p != Phase::store_o;
}

constexpr const char* kNotLive = "reads a version that is not live";
constexpr std::pair<Slot, Slot> kNewestAndOld[] = {
    {Slot::o_new, Slot::o_old}, {Slot::l_new, Slot::l_old}, {Slot::m_new, Slot::m_old}};

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
    constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
    if (std::max({p.B, p.Hq, p.Lq, p.Lk}) > kMax || rec_.options.br < 1 || rec_.options.bc < 1) {
      return bad_input(fmt::format("{}: its problem or tile is none that can be recorded.", where_));
    }
    if ((rec_.rules == Rules::none) != rec_.gpu.has_value()) {
      return bad_input(fmt::format("{}: the rules of its arithmetic are not those of its place.", where_));
    }
    if (rec_.gpu && rec_.gpu->makers.size() != rec_.versions.size()) {
      return bad_input(
          fmt::format("{}: it has {} makers for {} versions.", where_, rec_.gpu->makers.size(), rec_.versions.size()));
    }
    query_ = {p.Lq, rec_.options.br};
    key_ = {p.Lk, rec_.options.bc};
    // Each tile has an event at least, so a small file cannot ask for the look-up tables of a huge problem.
    const std::int64_t tiles[] = {p.B, p.Hq, query_.tiles(), key_.tiles()};
    const std::int64_t count = element_count(tiles);
    if (count < 0 || static_cast<std::uint64_t>(count) > rec_.events.size()) {
      return bad_input(fmt::format("{}: {} events are too few for the problem's tiles.", where_, rec_.events.size()));
    }
    const std::uint64_t bytes = recording_bytes(rec_.order, p, rec_.options);
    if (bytes > kRecordingLimit || rec_.bytes() > kRecordingLimit) {
      return bad_input(fmt::format("{}: it takes {}, more than the {} that a recording may.", where_,
                                   format_bytes(std::max(bytes, rec_.bytes())), format_bytes(kRecordingLimit)));
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
    const Axis& rows = rows_are_keys(v.slot) ? key_ : query_;
    if (!rows.is_tile(v.first_row, v.rows)) return "does not cover the rows of one tile";
    constexpr std::int32_t kLanesOfWarp = 32;
    const bool spread = v.holds.partial && rec_.gpu && made_as(v.slot) == Slot::l_new;
    if (v.holds.partial && !spread) return "is spread over lanes, and not l of a GPU's run";
    const bool columns = columns_are_keys(v.slot) ? key_.is_tile(v.first_col, v.cols)
                         : spread                 ? v.first_col == 0 && v.cols >= 1 && v.cols <= kLanesOfWarp
                                                  : v.first_col == 0 && v.cols == columns_of(v.slot);
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
    if (!has_phase(rec_.order, id.phase)) return "has a phase that its order has not";
    if ((id.i < 0 && needs_query_tile(id.phase)) || (id.j < 0 && needs_key_tile(id.phase))) return "has no tile";
    for (std::size_t s = 0; s < kSlots; ++s) {
      if (const char* why = live_fault(event.after[s], static_cast<Slot>(s), e)) return why;
    }
    if (const char* why = operand_fault(e)) return why;
    for (std::size_t part = 0; part < event.hbm_bytes.size(); ++part) {
      const std::uint64_t before = e == 0 ? 0 : rec_.events[e - 1].hbm_bytes[part];
      if (event.hbm_bytes[part] < before) return "has fewer bytes than the event before it";
    }
    return nullptr;
  }

  // `live`, which slot `s` shows at event `e`, is of that tensor and made by then. It may be left from another tile.
  const char* live_fault(VersionId live, Slot s, std::size_t e) const {
    if (live == kNoVersion) return nullptr;
    if (live >= rec_.versions.size()) return "shows a version that is not there";
    if (made_as(rec_.versions[live].slot) != made_as(s)) return "shows a version of another tensor";
    return rec_.versions[live].made_by > e ? "shows a version that was made later" : nullptr;
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

  VersionId before(std::size_t e, Slot s) const {
    return e == 0 ? kNoVersion : rec_.events[e - 1].after[static_cast<std::size_t>(s)];
  }
  VersionId after(std::size_t e, Slot s) const { return rec_.events[e].after[static_cast<std::size_t>(s)]; }

  // What the phase reads was live before, of this very tile; what it makes is live after.
  const char* operand_fault(std::size_t e) const {
    const Phase phase = rec_.events[e].id.phase;
    const Needs needed = needs_of(rec_.order, phase);
    for (std::size_t i = 0; i < kSlots; ++i) {
      const auto s = static_cast<Slot>(i);
      if (contains(needed.before, s) && !readable(before(e, s), s, e)) return kNotLive;
      // What was read stays, gives way to nothing, or to another of the same tile.
      if (contains(needed.before, s) && after(e, s) != kNoVersion && !readable(after(e, s), s, e)) {
        return "shows a version of another tile";
      }
      if (contains(needed.after, s) && !readable(after(e, s), s, e)) return "lacks a version that its phase makes";
    }
    // At the end of a query tile the newest of O, l and m is what there is: `old` where every key tile was skipped.
    if (phase == Phase::normalise) {
      for (auto [newest, old] : kNewestAndOld) {
        if (!readable_either(before(e, newest), newest, before(e, old), old, e)) return kNotLive;
      }
    }
    if (phase == Phase::store_o) {
      const bool earlier = readable_either(before(e, Slot::o_new), Slot::o_new, before(e, Slot::o_old), Slot::o_old, e);
      // flash-1 brings O back from memory with this event; only flash has its LSE made already.
      if (rec_.order == Order::flash1 ? !readable(after(e, Slot::o_old), Slot::o_old, e) : !earlier) return kNotLive;
      for (auto [newest, old] : kNewestAndOld) {
        const bool wanted = newest == Slot::o_new || rec_.order != Order::flash;
        if (wanted && !readable_either(after(e, newest), newest, after(e, old), old, e)) return kNotLive;
      }
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
