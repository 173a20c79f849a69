#include "kernels/recording/file/recording_file.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/base/text.h"
#include "kernels/formats/json_fields.h"
#include "kernels/formats/npy.h"
#include "kernels/formats/npy_table.h"
#include "kernels/model/order_row.h"
#include "kernels/model/problem/pages.h"
#include "kernels/model/problem_json.h"
#include "kernels/model/traffic.h"
#include "kernels/recording/file/entries.h"
#include "kernels/recording/file/recording_file_names.h"
#include "kernels/recording/file/tensor_set_json.h"
#include "kernels/recording/file/timeline_json.h"
#include "kernels/recording/size.h"

namespace attn {
namespace {

using nlohmann::json;
using namespace recording_file;

constexpr std::size_t kEventColumns = 6;
constexpr std::size_t kVersionColumns = 8;
constexpr std::size_t kMakerColumns = 2;
constexpr std::int64_t kMaxHolds = 31;  // of version 1: 15
constexpr std::int64_t kMostPageEntries = 1 << 20;
constexpr const char* kThreeOfTf32 = "tf32x3";

std::vector<std::byte> events_table(const Recording& rec) {
  std::vector<std::int32_t> values;
  values.reserve(rec.events.size() * kEventColumns);
  const OrderRow& order = order_row(rec.order);
  for (const Event& e : rec.events) {
    const std::int32_t phase = number_in_file(order, kPhases, e.id.phase);
    values.insert(values.end(), {e.id.b, e.id.h, e.id.i, e.id.j, phase, e.pass});
  }
  return npy_table_bytes<std::int32_t>(values, kEventColumns);
}

std::vector<std::byte> live_table(const Recording& rec) {
  std::vector<std::uint32_t> values;
  const std::size_t own = order_row(rec.order).own_slots.size();
  values.reserve(rec.events.size() * (kSlots + own));
  for (std::size_t e = 0; e < rec.events.size(); ++e) {
    values.insert(values.end(), rec.events[e].after.begin(), rec.events[e].after.end());
    const auto more = std::span(rec.own_after).subspan(e * own, own);
    values.insert(values.end(), more.begin(), more.end());
  }
  return npy_table_bytes<std::uint32_t>(values, kSlots + own);
}

std::vector<std::byte> traffic_table(const Recording& rec) {
  std::vector<std::uint64_t> values;
  values.reserve(rec.events.size() * kTrafficParts);
  for (const Event& e : rec.events) values.insert(values.end(), e.hbm_bytes.begin(), e.hbm_bytes.end());
  return npy_table_bytes<std::uint64_t>(values, kTrafficParts);
}

std::vector<std::byte> versions_table(const Recording& rec) {
  std::vector<std::int64_t> values;
  values.reserve(rec.versions.size() * kVersionColumns);
  const OrderRow& order = order_row(rec.order);
  for (const Version& v : rec.versions) {
    values.insert(values.end(), {static_cast<std::int64_t>(v.offset), v.rows, v.cols, v.first_row, v.first_col,
                                 v.made_by, number_in_file(order, kSlots, v.slot), bits_of(v.holds)});
  }
  return npy_table_bytes<std::int64_t>(values, kVersionColumns);
}

std::vector<std::byte> makers_table(const OnGpu& gpu) {
  std::vector<std::int32_t> values;
  values.reserve(gpu.makers.size() * kMakerColumns);
  for (const Maker& m : gpu.makers) values.insert(values.end(), {m.block, m.warp});
  return npy_table_bytes<std::int32_t>(values, kMakerColumns);
}

// What a GPU's recording states on top.
json gpu_to_json(const OnGpu& gpu) {
  json j{{"place", "gpu"},
         {"arithmetic",
          {{"exp", gpu.exp2 ? "exp2" : "exp"}, {"p", name_of(gpu.p)}, {"accumulator", name_of(gpu.accumulator)}}}};
  json& arithmetic = j["arithmetic"];
  if (gpu.tf32x3) arithmetic["products"] = kThreeOfTf32;
  if (gpu.slack != 0) arithmetic["slack"] = gpu.slack;
  if (std::isfinite(gpu.first_m)) arithmetic["first_m"] = gpu.first_m;
  if (gpu.sign_in_q) arithmetic["sign_in_q"] = true;
  if (!gpu.uuid.empty()) j["device_uuid"] = gpu.uuid;
  return j;
}

// The walk, and the tensors that stand in members of their own, are those of one pass.
Result<void> check_walk(const Recording& rec, const std::string& where) {
  const Problem& p = rec.problem;
  const Pass pass = order_row(rec.order).pass;
  if (p.pass != pass || p.layout != AxisOrder::bhld || p.output != OutputType::as_inputs) {
    return bad_input(phrase("{}: order {} supports only a {} pass in layout bhld, not {}.", where, name_of(rec.order),
                            name_of(pass), describe(p)));
  }
  const std::vector<TensorSpec> specs = tensors_of(p);
  for (const NamedTensor& t : rec.tensors) {
    const TensorSpec* spec = find(specs, t.tensor);
    if (spec == nullptr || (spec->role == Role::scratch && t.tensor != Tensor::delta)) continue;
    return bad_input(phrase("{}: {} must be a separate member, not one of the tensors.", where, words_of(t.tensor)));
  }
  return ok();
}

// Reads one recording; every step leaves a Result, and nothing is kept of one that fails.
class Reader {
 public:
  // `entries` are those of the whole file. `version` is the file's.
  Reader(const json& object, std::string where, Entries& entries, int version)
      : object_(object), entries_(entries), version_(version), where_(std::move(where)), fields_(object, where_) {}

  Result<Recording> read() {
    if (auto r = read_head(); !r) return tl::unexpected(r.error());
    if (auto r = read_names(); !r) return tl::unexpected(r.error());
    if (auto r = read_versions(); !r) return tl::unexpected(r.error());
    if (auto r = read_makers(); !r) return tl::unexpected(r.error());
    if (auto r = read_events(); !r) return tl::unexpected(r.error());
    if (auto r = read_arrays(); !r) return tl::unexpected(r.error());
    if (auto r = read_version_3(); !r) return tl::unexpected(r.error());
    if (auto r = check_walk(rec_, where_); !r) return tl::unexpected(r.error());
    rec_.build_lanes();
    if (auto r = check_recording(rec_, where_); !r) return tl::unexpected(r.error());
    rec_.build_index();
    return std::move(rec_);
  }

 private:
  Result<void> read_head() {
    rec_.kernel = fields_.text("kernel");
    rec_.device = fields_.text("device");
    rec_.order = static_cast<Order>(fields_.choice("order", names_of_orders()));
    rec_.rules = static_cast<Rules>(fields_.choice("rules", names_of_rules()));
    constexpr std::int64_t kMaxReads = 16;
    rec_.score_reads = static_cast<std::int32_t>(fields_.integer("score_reads", 0, kMaxReads));
    Result<Problem> problem = problem_from_json(fields_.object("problem"), where_ + ".problem");
    Result<Options> options = options_from_json(fields_.object("options"), where_ + ".options");
    if (auto r = fields_.result(); !r) return r;
    if (!problem) return tl::unexpected(problem.error());
    if (!options) return tl::unexpected(options.error());
    rec_.problem = std::move(*problem);
    rec_.options = *options;
    return fields_.has("place") && fields_.choice("place", {"cpu", "gpu"}) == 1 ? read_gpu() : fields_.result();
  }

  Result<void> read_gpu() {
    OnGpu& gpu = rec_.gpu.emplace();
    if (fields_.has("device_uuid")) gpu.uuid = fields_.text("device_uuid");
    gpu.launched = rec_.options;
    JsonFields arithmetic(fields_.object("arithmetic"), where_ + ".arithmetic");
    gpu.exp2 = arithmetic.choice("exp", {"exp", "exp2"}) == 1;
    gpu.p = static_cast<DType>(arithmetic.choice("p", names_of_dtypes()));
    gpu.accumulator = static_cast<DType>(arithmetic.choice("accumulator", names_of_dtypes()));
    read_tensor_cores(arithmetic, gpu);
    if (auto r = arithmetic.result(); !r) return r;
    if (fields_.has("cut")) {
      const std::vector<std::int64_t> cut = fields_.integers("cut", 2);
      constexpr std::int64_t kMaxCut = 4096;
      const auto good = [](std::int64_t n) { return n >= 1 && n <= kMaxCut; };
      if (cut.size() != 2 || !std::ranges::all_of(cut, good)) {
        fields_.refuse("cut", phrase("must be two integers from 1 to {}", kMaxCut));
        return fields_.result();
      }
      gpu.cut = true;
      rec_.options.br = static_cast<std::int32_t>(cut[0]);
      rec_.options.bc = static_cast<std::int32_t>(cut[1]);
    }
    return fields_.result();
  }

  // What kernels that keep S in fragments state besides.
  static void read_tensor_cores(JsonFields& arithmetic, OnGpu& gpu) {
    gpu.tf32x3 = arithmetic.has("products") && arithmetic.choice("products", {"plain", kThreeOfTf32}) == 1;
    const auto number = [&](const char* key, double min, double max, float missing) {
      if (!arithmetic.has(key)) return missing;
      const double x = arithmetic.number(key);
      if (!(x >= min && x <= max)) arithmetic.refuse(key, phrase("must be from {} to {}", min, max));
      return static_cast<float>(x);
    };
    constexpr double kMaxSlack = 1024, kMaxFloat = std::numeric_limits<float>::max();
    gpu.slack = number("slack", 0, kMaxSlack, gpu.slack);
    gpu.first_m = number("first_m", -kMaxFloat, 0, gpu.first_m);
    gpu.sign_in_q = arithmetic.has("sign_in_q") && arithmetic.boolean("sign_in_q");
  }

  Result<void> read_makers() {
    if (!rec_.gpu) return ok();
    rec_.gpu->makers.resize(rec_.versions.size());
    if (!fields_.has("makers")) return ok();
    const auto values = table<std::int32_t>("makers", kMakerColumns, sizeof(Version));
    if (!values) return tl::unexpected(values.error());
    if (values->size() != rec_.versions.size() * kMakerColumns) {
      return bad_input(phrase("{}: makers and versions have different numbers of rows.", where_));
    }
    for (std::size_t v = 0; v < rec_.versions.size(); ++v) {
      const Maker m{(*values)[v * kMakerColumns], (*values)[v * kMakerColumns + 1]};
      if (m.block < -1 || m.warp < -1)
        return bad_input(phrase("{}: version {} has an invalid block or warp number.", where_, v));
      rec_.gpu->makers[v] = m;
    }
    return ok();
  }

  // Numbers in the file -> ours, by name, so that lists may grow and be sorted anew.
  Result<void> read_numbering(const char* key, const Names& known, std::vector<std::size_t>& out) {
    for (const std::string& name : fields_.texts(key, 64)) {
      const auto found = std::ranges::find(known, name);
      if (found == known.end()) fields_.refuse(key, phrase("has an unknown name: '{}'", name));
      out.push_back(static_cast<std::size_t>(found - known.begin()));
    }
    return fields_.result();
  }

  Result<void> read_names() {
    const OrderRow& order = order_row(rec_.order);
    if (auto r = read_numbering("phases", names_of_phases(order), phases_); !r) return r;
    if (auto r = read_numbering("slots", names_of_slots(order), slots_); !r) return r;
    return read_numbering("traffic", names_of_traffic(), traffic_);
  }

  template <class T>
  Result<std::vector<T>> table(const char* key, std::size_t columns, std::size_t row_bytes) {
    return entries_.table<T>(fields_, key, columns, kRecordingLimit / row_bytes);
  }

  Result<void> read_versions() {
    const auto values = table<std::int64_t>("versions", kVersionColumns, sizeof(Version));
    if (!values) return tl::unexpected(values.error());
    constexpr std::int64_t kMax32 = std::numeric_limits<std::int32_t>::max();
    rec_.versions.resize(values->size() / kVersionColumns);
    const std::vector<Slot>& own = order_row(rec_.order).own_slots;
    for (std::size_t i = 0; i < rec_.versions.size(); ++i) {
      const std::span<const std::int64_t> row = std::span(*values).subspan(i * kVersionColumns, kVersionColumns);
      const bool in_range = std::ranges::all_of(row, [](std::int64_t x) { return x >= 0; }) &&
                            std::ranges::all_of(row.subspan(1), [](std::int64_t x) { return x <= kMax32; });
      if (!in_range || static_cast<std::size_t>(row[6]) >= slots_.size() || row[7] > kMaxHolds) {
        return bad_input(phrase("{}: version {} contains a number that is out of range.", where_, i));
      }
      Version& v = rec_.versions[i];
      v.offset = static_cast<std::uint64_t>(row[0]);
      v.rows = static_cast<std::int32_t>(row[1]);
      v.cols = static_cast<std::int32_t>(row[2]);
      v.first_row = static_cast<std::int32_t>(row[3]);
      v.first_col = static_cast<std::int32_t>(row[4]);
      v.made_by = static_cast<EventIndex>(row[5]);
      v.slot = id_of_number(kSlots, own, slots_[static_cast<std::size_t>(row[6])]);
      v.holds = holds_of(row[7]);
    }
    return ok();
  }

  Result<void> read_events() {
    const auto ids = table<std::int32_t>("events", kEventColumns, sizeof(Event));
    if (!ids) return tl::unexpected(ids.error());
    const auto live = table<std::uint32_t>("live", slots_.size(), sizeof(Event));
    if (!live) return tl::unexpected(live.error());
    const auto bytes = table<std::uint64_t>("hbm_bytes", traffic_.size(), sizeof(Event));
    if (!bytes) return tl::unexpected(bytes.error());
    const std::size_t count = ids->size() / kEventColumns;
    if (live->size() != count * slots_.size() || bytes->size() != count * traffic_.size()) {
      return bad_input(phrase("{}: events, live and hbm_bytes have different numbers of rows.", where_));
    }
    const OrderRow& order = order_row(rec_.order);
    rec_.events.resize(count);
    rec_.own_after.assign(count * order.own_slots.size(), kNoVersion);
    for (std::size_t e = 0; e < count; ++e) {
      const std::int32_t* const row = ids->data() + e * kEventColumns;
      if (row[4] < 0 || static_cast<std::size_t>(row[4]) >= phases_.size()) {
        return bad_input(phrase("{}: event {} has phase {}, which is not in its list.", where_, e, row[4]));
      }
      Event& event = rec_.events[e];
      event.id = {row[0], row[1], row[2], row[3],
                  id_of_number(kPhases, order.own_phases, phases_[static_cast<std::size_t>(row[4])])};
      event.pass = row[5];
      event.after.fill(kNoVersion);
      for (std::size_t s = 0; s < slots_.size(); ++s) {
        const std::size_t slot = slots_[s];
        VersionId& after =
            slot < kSlots ? event.after[slot] : rec_.own_after[e * order.own_slots.size() + slot - kSlots];
        after = (*live)[e * slots_.size() + s];
      }
      for (std::size_t t = 0; t < traffic_.size(); ++t) {
        event.hbm_bytes[traffic_[t]] = (*bytes)[e * traffic_.size() + t];
      }
    }
    return ok();
  }

  Result<void> read_arrays() {
    const std::uint64_t headers = rec_.events.size() * sizeof(Event) + rec_.versions.size() * sizeof(Version);
    if (headers > kRecordingLimit) {
      return bad_input(phrase("{}: it is larger than the limit for a recording ({} bytes).", where_, kRecordingLimit));
    }
    Result<Array> arena = entries_.tensor(fields_, "arena", DType::f32, kRecordingLimit - headers);
    if (!arena) return tl::unexpected(arena.error());
    rec_.arena.resize(static_cast<std::size_t>(arena->size()));
    arena->read(0, arena->size(), rec_.arena.data());
    const DType dtype = rec_.problem.dtype;
    if (auto r = read_tensor("q", dtype, rec_.inputs.q); !r) return r;
    if (auto r = read_tensor("k", dtype, rec_.inputs.k); !r) return r;
    if (auto r = read_tensor("v", dtype, rec_.inputs.v); !r) return r;
    if (auto r = read_page_table(); !r) return r;
    if (rec_.problem.has_bias()) {
      if (auto r = read_tensor("bias", DType::f32, rec_.inputs.bias.emplace()); !r) return r;
    }
    if (rec_.problem.pass == Pass::backward) return read_gradients(dtype);
    if (auto r = read_tensor("out", dtype, rec_.outputs.out); !r) return r;
    return read_tensor("lse", DType::f32, rec_.outputs.lse);
  }

  Result<void> read_page_table() {
    const Problem& p = rec_.problem;
    if (p.storage.kind() == Storage::dense) return ok();
    const std::int64_t shape[] = {p.B, pages_of_batch(p)};
    if (const std::int64_t count = element_count(shape); count < 0 || count > kMostPageEntries)
      return bad_input(phrase("{}: its page table has more than {} entries.", where_, kMostPageEntries));
    auto table = entries_.table<std::int32_t>(fields_, "page_table", static_cast<std::size_t>(shape[1]),
                                              static_cast<std::uint64_t>(shape[0]));
    if (!table) return tl::unexpected(table.error());
    rec_.inputs.page_table = *std::move(table);
    return ok();
  }

  // What a backward reads of its forward, and what it makes.
  Result<void> read_gradients(DType dtype) {
    if (auto r = read_tensor("o", dtype, rec_.inputs.o.emplace()); !r) return r;
    if (auto r = read_tensor("lse", DType::f32, rec_.inputs.lse.emplace()); !r) return r;
    if (auto r = read_tensor("do", dtype, rec_.inputs.d_o.emplace()); !r) return r;
    if (auto r = read_tensor("dq", dtype, rec_.outputs.d_q); !r) return r;
    if (auto r = read_tensor("dk", dtype, rec_.outputs.d_k); !r) return r;
    if (auto r = read_tensor("dv", dtype, rec_.outputs.d_v); !r) return r;
    return read_tensor("delta", DType::f32, rec_.outputs.delta);
  }

  // Members that readers of versions before pass over.
  Result<void> read_version_3() {
    if (version_ < 3) return ok();
    auto read = read_tensors(fields_, rec_.problem, entries_, kRecordingLimit);
    if (!read) return tl::unexpected(read.error());
    rec_.splits = read->splits;
    rec_.tensors = std::move(read->tensors);
    auto labels = read_labels(fields_, rec_.problem);
    if (!labels) return tl::unexpected(labels.error());
    rec_.labels = *std::move(labels);
    if (!fields_.has("timeline")) return ok();
    auto timeline = timeline_from_json(object_.at("timeline"), where_ + ".timeline", entries_);
    if (!timeline) return tl::unexpected(timeline.error());
    rec_.timeline = std::make_shared<const Timeline>(*std::move(timeline));
    return ok();
  }

  Result<void> read_tensor(const char* key, DType dtype, Array& out) {
    Result<Array> array = entries_.tensor(fields_, key, dtype, kRecordingLimit);
    if (!array) return tl::unexpected(array.error());
    out = std::move(*array);
    return ok();
  }

  const json& object_;
  Entries& entries_;
  const int version_;
  const std::string where_;
  JsonFields fields_;
  Recording rec_;
  std::vector<std::size_t> phases_, slots_, traffic_;
};

}  // namespace

Result<void> add_recording(const Recording& rec, std::size_t index, json& session, Container& c) {
  const std::string where = fmt::format("recording {}", index);
  if (auto r = check_walk(rec, where); !r) return r;
  if (auto r = check_recording(rec, where); !r) return r;
  if (auto r = check_named_tensors(rec.problem, rec.splits, rec.tensors, where); !r) return r;
  if (auto r = check_labels(rec.problem, rec.labels, where); !r) return r;
  json j{{"kernel", rec.kernel},
         {"device", rec.device},
         {"order", std::string(name_of(rec.order))},
         {"rules", names_of_rules()[static_cast<std::size_t>(rec.rules)]},
         {"score_reads", rec.score_reads},
         {"problem", problem_to_json(rec.problem)},
         {"options", options_to_json(rec.gpu ? rec.gpu->launched : rec.options)},
         {"phases", names_of_phases(order_row(rec.order))},
         {"slots", names_of_slots(order_row(rec.order))},
         {"traffic", names_of_traffic()}};
  if (rec.gpu) {
    j.update(gpu_to_json(*rec.gpu));
    if (rec.gpu->cut) j["cut"] = {rec.options.br, rec.options.bc};
  }
  const std::string prefix = fmt::format("r{}/", index);
  add_tensors(rec.problem, rec.splits, rec.tensors, prefix, j, c);
  add_labels(rec.labels, j);
  if (rec.timeline != nullptr) {
    auto timeline = timeline_to_json(*rec.timeline, prefix + "timeline/", c);
    if (!timeline) return tl::unexpected(timeline.error());
    j["timeline"] = *std::move(timeline);
  }
  const auto add = [&](const char* key, std::vector<std::byte> bytes) {
    const std::string name = fmt::format("{}{}.npy", prefix, key);
    j[key] = name;
    c.files[name] = std::move(bytes);
  };
  const auto add_array = [&](const char* key, const Array& a) { add(key, npy_bytes(a, a.shape())); };
  add_array("q", rec.inputs.q);
  add_array("k", rec.inputs.k);
  add_array("v", rec.inputs.v);
  if (!rec.inputs.page_table.empty())
    add("page_table",
        npy_table_bytes<std::int32_t>(rec.inputs.page_table, static_cast<std::size_t>(pages_of_batch(rec.problem))));
  if (rec.inputs.bias) add_array("bias", *rec.inputs.bias);
  if (rec.problem.pass == Pass::backward) {
    add_array("o", *rec.inputs.o);
    add_array("lse", *rec.inputs.lse);
    add_array("do", *rec.inputs.d_o);
    add_array("dq", rec.outputs.d_q);
    add_array("dk", rec.outputs.d_k);
    add_array("dv", rec.outputs.d_v);
    add_array("delta", rec.outputs.delta);
  } else {
    add_array("out", rec.outputs.out);
    add_array("lse", rec.outputs.lse);
  }
  add("arena", npy_bytes(std::span<const float>(rec.arena)));
  add("events", events_table(rec));
  add("live", live_table(rec));
  add("hbm_bytes", traffic_table(rec));
  add("versions", versions_table(rec));
  if (rec.gpu) add("makers", makers_table(*rec.gpu));
  session["recordings"].push_back(std::move(j));
  return ok();
}

Result<Recording> recording_from_json(const json& j, const std::string& where, int version, Entries& entries) {
  return Reader(j, where, entries, version).read();
}

}  // namespace attn
