#include "viz/learn/lesson/references.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "kernels/model/order_row.h"
#include "kernels/model/traffic.h"

namespace attn {
namespace {

struct TensorName {
  std::string_view name;
  Slot slot;
};
constexpr TensorName kTensors[] = {
    {"Q", Slot::q},         {"K", Slot::k},         {"V", Slot::v},         {"S", Slot::s},
    {"P", Slot::p},         {"m", Slot::m_new},     {"l", Slot::l_new},     {"O", Slot::o_new},
    {"alpha", Slot::alpha}, {"m_old", Slot::m_old}, {"l_old", Slot::l_old}, {"O_old", Slot::o_old},
};

// An order's own slots have the names of their rows.
std::optional<Slot> tensor_named(std::string_view name) {
  for (const TensorName& t : kTensors)
    if (t.name == name) return t.slot;
  const auto own = slot_named(name);
  return own && static_cast<std::size_t>(*own) >= kSlots ? own : std::nullopt;
}

bool is_key_tensor(Slot s) {
  return slot_row(s).rows == SlotRows::keys;
}
bool is_old(Slot s) {
  return made_as(s) != s;
}
// One a row and key tile: with "*" as place each key tile is a number of its own.
bool changes_by_tile(Slot s) {
  return s == Slot::m_new || s == Slot::l_new || s == Slot::alpha || s == Slot::o_new || is_old(s);
}

// Whether what event `e` made may be meant by `place`. K and V are loaded with a key tile, Q with a query tile.
bool is_at(const Event& e, Slot slot, const LessonPlace& place) {
  if (e.id.b != place.b || e.id.h != place.h) return false;
  if (place.all) return true;
  if (!is_key_tensor(slot) && place.i >= 0 && e.id.i != place.i) return false;
  if (slot == Slot::q) return true;
  return place.j < 0 || e.id.j == place.j;
}

using Cells = std::map<std::tuple<std::int64_t, std::int64_t, std::int32_t>, double>;

struct CellReader {
  const Recording& rec;
  const TensorReference& reference;
  Cells cells;
  EventIndex latest = 0;

  void take(VersionId id, std::int32_t tile) {
    if (id == kNoVersion) return;
    const Version& version = rec.version(id);
    const std::span<const float> values = rec.values(id);
    for (std::int32_t r = 0; r < version.rows; ++r) {
      if (!reference.rows.contains(version.first_row + r)) continue;
      for (std::int32_t c = 0; c < version.cols; ++c) {
        if (!reference.cols.contains(version.first_col + c)) continue;
        cells[{version.first_row + r, version.first_col + c, tile}] =
            values[static_cast<std::size_t>(r) * static_cast<std::size_t>(version.cols) + static_cast<std::size_t>(c)];
        latest = std::max(latest, version.made_by);
      }
    }
  }
};

// The last event that a place reaches; without a phase the run's last.
Result<EventIndex> end_of(const Recording& rec, const LessonPlace& place) {
  if (place.all || !place.phase) return static_cast<EventIndex>(rec.events.size() - 1);
  return event_at(rec, place);
}

Result<ReadValues> read_output(const Recording& rec, const TensorReference& ref, const Array& a, std::int64_t width) {
  ReadValues read;
  const std::int64_t rows = rec.problem.Lq;
  // O of a row is written with its LSE.
  for (const Version& v : rec.versions) {
    const EventId& id = rec.events[v.made_by].id;
    const bool wanted = ref.rows.first < v.first_row + v.rows && ref.rows.last >= v.first_row;
    if (v.slot == Slot::lse && id.b == ref.place.b && id.h == ref.place.h && wanted)
      read.latest = std::max(read.latest, v.made_by);
  }
  const std::int64_t head = (ref.place.b * rec.problem.Hq + ref.place.h) * rows;
  for (std::int64_t r = std::max<std::int64_t>(0, ref.rows.first); r <= std::min(rows - 1, ref.rows.last); ++r) {
    for (std::int64_t c = std::max<std::int64_t>(0, ref.cols.first); c <= std::min(width - 1, ref.cols.last); ++c) {
      read.values.push_back(a.get((head + r) * width + c));
    }
  }
  if (read.values.empty()) return bad_input(phrase("{} lacks the requested row or column", ref.name));
  return read;
}

Result<ReadValues> read_slot(const Recording& rec, const TensorReference& ref, Slot slot) {
  const auto end = end_of(rec, ref.place);
  if (!end) return tl::unexpected(end.error());
  CellReader reader{rec, ref, {}, 0};
  for (EventIndex e = 0; e <= *end; ++e) {
    const Event& event = rec.events[e];
    if (!is_at(event, slot, ref.place)) continue;
    const VersionId id = rec.after(e, slot);
    if (id == kNoVersion) continue;
    const std::int32_t tile = ref.place.all && changes_by_tile(slot) ? event.id.j : 0;
    // What stood before the tile was made in another one; all else where it was made. A list over the tiles ends with
    // the last of them: what normalise divides is no sum of a tile.
    const bool of_step = is_old(slot) || rec.version(id).made_by == e;
    if (of_step && !(ref.place.all && event.id.phase == Phase::normalise)) reader.take(id, tile);
  }
  if (reader.cells.empty()) {
    return bad_input(
        phrase("{} is not computed {}, or lacks the requested row or column", ref.name, place_words(ref.place)));
  }
  ReadValues read{{}, is_input(slot) ? 0 : reader.latest, slot};
  for (const auto& [place, value] : reader.cells) read.values.push_back(value);
  return read;
}

// P / l, whether or not the order holds P divided.
Result<ReadValues> read_weight(const Recording& rec, const TensorReference& ref) {
  TensorReference of = ref;
  of.name = "P";
  auto p = read_slot(rec, of, Slot::p);
  if (!p) return p;
  if (stores_scores(rec.order)) return p;
  if (ref.rows.first != ref.rows.last) return bad_input(tr("weight can be read only one row at a time"));
  of.name = "l";
  of.cols = {0, 0};
  auto sum = read_slot(rec, of, Slot::l_new);
  if (!sum) return sum;
  for (double& x : p->values) x /= sum->values.back();
  p->latest = std::max(p->latest, sum->latest);
  return p;
}

double total(const std::array<std::uint64_t, kTrafficParts>& parts) {
  return static_cast<double>(std::accumulate(parts.begin(), parts.end(), std::uint64_t{0}));
}

}  // namespace

bool is_tensor_name(std::string_view name) {
  return tensor_named(name) || name == "out" || name == "lse" || name == "weight";
}

Result<ReadValues> read_tensor(const Recording& rec, const TensorReference& ref) {
  if (rec.events.empty()) return bad_input(tr("the run has no steps"));
  // A backward was given both.
  if (ref.name == "out") return read_output(rec, ref, rec.inputs.o ? *rec.inputs.o : rec.outputs.out, rec.problem.Dv);
  if (ref.name == "lse") return read_output(rec, ref, rec.inputs.lse ? *rec.inputs.lse : rec.outputs.lse, 1);
  if (ref.name == "weight") return read_weight(rec, ref);
  const auto slot = tensor_named(ref.name);
  if (!slot) return bad_input(phrase("unknown tensor {}", ref.name));
  return read_slot(rec, ref, *slot);
}

std::optional<double> extent_named(const Recording& rec, std::string_view name) {
  const Problem& p = rec.problem;
  const std::pair<std::string_view, std::int64_t> extents[] = {
      {"B", p.B}, {"Hq", p.Hq}, {"Lq", p.Lq},           {"Lk", p.Lk},
      {"D", p.D}, {"Dv", p.Dv}, {"Br", rec.options.br}, {"Bc", rec.options.bc},
  };
  for (const auto& [known, value] : extents)
    if (known == name) return static_cast<double>(value);
  return std::nullopt;
}

std::optional<double> count_named(const Recording& rec, std::string_view name) {
  if (name == "bytes") return total(rec.events.back().hbm_bytes);
  constexpr std::string_view kParts[] = {"q", "k", "v", "bias", "s", "p", "o", "stats"};
  static_assert(std::size(kParts) == kTrafficParts);
  for (std::size_t part = 0; part < kTrafficParts; ++part)
    if (name.starts_with("bytes_") && name.substr(6) == kParts[part])
      return static_cast<double>(rec.events.back().hbm_bytes[part]);
  if (name == "once") return static_cast<double>(compulsory(rec.order, rec.problem).total());
  if (name == "chip") return total(on_chip_bytes(rec.order, rec.problem, rec.options));
  const auto steps = [&](Phase phase) {
    return static_cast<double>(
        std::count_if(rec.events.begin(), rec.events.end(), [&](const Event& e) { return e.id.phase == phase; }));
  };
  if (name == "skipped") return steps(Phase::skipped);
  if (name == "masked") return steps(Phase::mask);
  if (name == "tiles") return steps(Phase::scores);
  return std::nullopt;
}

}  // namespace attn
