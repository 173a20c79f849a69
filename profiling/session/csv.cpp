// The tidy table: one row a measurement. Columns stand once, in kColumns and the metric table.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "kernels/base/text.h"
#include "kernels/ladder.h"
#include "profiling/figures/metrics.h"
#include "profiling/session/csv_field.h"
#include "profiling/session/session.h"

namespace attn {
namespace {

// Shortest form that reads back the same; pandas, R and spreadsheets read "inf" and "nan" as they are.
std::string number(double x) {
  if (std::isnan(x)) return "nan";
  return fmt::format("{}", x);
}

std::string flag(bool b) {
  return b ? "true" : "false";
}

std::string joined(const std::vector<std::int64_t>& values, std::string_view separator) {
  return fmt::format("{}", fmt::join(values, separator));
}

const KernelRow* row_of(const Measurement& m) {
  const auto row = find_kernel(m.key.kernel);
  return row ? *row : nullptr;
}

// Empty where the kernel does not read the option: it does not count for its identity. 0: it was left to the kernel.
// Options that single kernels declare besides have the kernel's default then, which rows do not spell out.
std::string option_field(const Measurement& m, const Option& o) {
  const KernelRow* row = row_of(m);
  const auto value = chosen(m.key.options, o);
  if (m.peer && (!o.is(Option::threads) || !value)) return {};
  if (row != nullptr && spec_of(*row, o) == nullptr) return {};
  if (value) return value_text(o, *value);
  if (o.get != nullptr) return "0";
  const auto usual = option_value(m.key.kernel, o, m.key.options);
  return usual ? value_text(o, *usual) : std::string();
}

// What the run says of its device holds for the rows that were taken on it.
std::string of_device(const SweepRun& s, const Measurement& m, const std::string& words) {
  const bool its = m.key.device.empty() ||
                   same_device(m.key.device, m.key.device_uuid, s.provenance.device, s.provenance.device_uuid);
  return its ? words : std::string();
}

struct Column {
  std::string_view name;
  std::string (*text)(const SweepRun&, const Measurement&);
};

// Hexadecimal digits behind a letter: readers of tables take 12345678e0123456 for a number, and make it infinite.
std::string as_name(char letter, const std::string& digits) {
  return digits.empty() ? digits : letter + digits;
}

using S = const SweepRun&;
using M = const Measurement&;

constexpr auto kIdentity = std::to_array<Column>({
    {"kernel", [](S, M m) { return m.key.kernel; }},
    {"rung", [](S, M m) { return row_of(m) ? std::string(row_of(m)->rung) : std::string(); }},
    {"order", [](S, M m) { return row_of(m) ? std::string(name_of(row_of(m)->order)) : std::string(); }},
    {"dtype", [](S, M m) { return std::string(name_of(m.key.problem.dtype)); }},
    {"B", [](S, M m) { return fmt::format("{}", m.key.problem.B); }},
    {"Hq", [](S, M m) { return fmt::format("{}", m.key.problem.Hq); }},
    {"Hkv", [](S, M m) { return fmt::format("{}", m.key.problem.Hkv); }},
    {"Lq", [](S, M m) { return fmt::format("{}", m.key.problem.Lq); }},
    {"Lk", [](S, M m) { return fmt::format("{}", m.key.problem.Lk); }},
    {"D", [](S, M m) { return fmt::format("{}", m.key.problem.D); }},
    {"Dv", [](S, M m) { return fmt::format("{}", m.key.problem.Dv); }},
    {"causal", [](S, M m) { return flag(m.key.problem.mask.causal); }},
    {"window_left", [](S, M m) { return fmt::format("{}", m.key.problem.mask.window_left); }},
    {"window_right", [](S, M m) { return fmt::format("{}", m.key.problem.mask.window_right); }},
    {"key_lengths", [](S, M m) { return joined(m.key.problem.mask.key_lengths, " "); }},
    {"bias", [](S, M m) { return joined(m.key.problem.bias_shape, "x"); }},
    {"scale", [](S, M m) { return number(m.key.problem.effective_scale()); }},
    {"br", [](S, M m) { return option_field(m, Option::br); }},
    {"bc", [](S, M m) { return option_field(m, Option::bc); }},
    {"threads", [](S, M m) { return option_field(m, Option::threads); }},
    {"stages", [](S, M m) { return option_field(m, Option::stages); }},
    {"subtract_max", [](S, M m) { return option_field(m, Option::subtract_max); }},
    {"key_order", [](S, M m) { return option_field(m, Option::key_order); }},
    {"accumulate", [](S, M m) { return option_field(m, Option::accumulate); }},
    {"l2", [](S, M m) { return std::string(name_of(m.key.l2)); }},
    {"state", [](S, M m) { return std::string(name_of(m.state)); }},
    {"reason", [](S, M m) { return m.reason; }},
    {"source_hash", [](S, M m) { return as_name('h', m.key.source_hash); }},
});

// "scores=12.5;softmax=3.25": the median of each launch; empty where the clock could not tell them apart.
std::string launch_times(const Measurement& m) {
  std::string text;
  for (std::size_t n = 0; n < m.launch_us.size() && n < m.launches.size(); ++n)
    text += fmt::format("{}{}={}", n > 0 ? ";" : "", m.launches[n].name, number(m.launch_us[n]));
  return text;
}

// "inputs=812.5;run=3120;time=100480": how long each stage of the point took.
std::string stage_times(const Measurement& m) {
  std::string text;
  for (const Stage& s : m.stages)
    text += fmt::format("{}{}={}", text.empty() ? "" : ";", s.name, number(std::round(s.duration_us * 10) / 10));
  return text;
}

// "flash_mma=512.25;naive=20480": medians of our kernels in the turns of a peer, by its clock.
std::string beside_times(const Measurement& m) {
  std::string text;
  if (!m.peer) return text;
  for (const TimedBeside& b : m.peer->beside)
    text += fmt::format("{}{}={}", text.empty() ? "" : ";", b.kernel, number(b.time.median));
  return text;
}

constexpr auto kOrigin = std::to_array<Column>({
    {"settled", [](S, M m) { return m.time.n == 0 ? std::string() : flag(m.time.settled); }},
    {"drifted", [](S, M m) { return m.time.n == 0 ? std::string() : flag(m.time.drifted); }},
    {"launch_times_us", [](S, M m) { return launch_times(m); }},
    {"verdict",
     [](S, M m) -> std::string {
       if (!m.verdict) return "unverified";
       switch (outcome_of(*m.verdict)) {
         case Outcome::pass:
           return "pass";
         case Outcome::wrong:
           return "fail";
         case Outcome::not_judged:
           return "not judged";
       }
       return "";
     }},
    {"verdict_sample", [](S, M m) { return m.verdict ? m.verdict->sample : std::string(); }},
    {"verdict_reason", [](S, M m) { return m.verdict ? m.verdict->reason : std::string(); }},
    {"place", [](S s, M) -> std::string { return s.provenance.loaded ? "loaded" : "live"; }},
    {"device", [](S s, M m) { return m.key.device.empty() ? s.provenance.device : m.key.device; }},
    {"device_arch", [](S s, M m) { return of_device(s, m, s.provenance.device_arch); }},
    {"driver", [](S s, M m) { return of_device(s, m, s.provenance.driver); }},
    {"cuda", [](S s, M m) { return of_device(s, m, s.provenance.cuda); }},
    {"program_version", [](S s, M) { return s.provenance.program_version; }},
    {"commit", [](S s, M) { return as_name('c', s.provenance.commit); }},
    {"date", [](S s, M) { return s.provenance.date; }},
    {"run", [](S s, M) { return as_name('r', s.id); }},
    {"run_name", [](S s, M) { return s.name; }},
    {"begun_unix_us", [](S, M m) { return m.stages.empty() ? std::string() : fmt::format("{}", m.begun_unix_us); }},
    {"stage_times_us", [](S, M m) { return stage_times(m); }},
    {"peer", [](S, M m) { return m.peer ? m.peer->title : std::string(); }},
    {"peer_software", [](S, M m) { return m.peer ? m.peer->software : std::string(); }},
    {"peer_how", [](S, M m) { return m.peer ? m.peer->how : std::string(); }},
    {"peer_beside_us", [](S, M m) { return beside_times(m); }},
    {"tile_from", [](S, M m) { return m.tile_from; }},
    {"compiled_with", [](S, M m) { return m.compiled_with; }},
    {"held_down_by", [](S, M m) { return figure(m, "held_down_pct").limiter; }},
});

// Only where a row has one of them: tables of other problems are as they always were.
constexpr auto kShaped = std::to_array<Column>({
    {"softcap", [](S, M m) { return m.key.problem.softcap ? number(*m.key.problem.softcap) : std::string(); }},
    {"alibi",
     [](S, M m) {
       return m.key.problem.alibi ? fmt::format("{}", fmt::join(slopes_of(m.key.problem), " ")) : std::string();
     }},
});

constexpr auto kStored = std::to_array<Column>({
    {"page", [](S, M m) { return fmt::format("{}", m.key.problem.storage.page); }},
});

constexpr auto kOutputType = std::to_array<Column>({
    {"o_dtype", [](S, M m) { return std::string(name_of(m.key.problem.output_dtype())); }},
});

// Empty: that output was not looked at.
std::string verdict_number(const Measurement& m, Tensor t, double OutputVerdict::*value) {
  const OutputVerdict* j = m.verdict ? m.verdict->of(t) : nullptr;
  return j == nullptr ? std::string() : number(j->*value);
}

constexpr auto kPass = std::to_array<Column>({
    {"pass", [](S, M m) { return std::string(name_of(m.key.problem.pass)); }},
    {"o_error_abs", [](S, M m) { return verdict_number(m, Tensor::o, &OutputVerdict::error); }},
    {"o_allowed_abs", [](S, M m) { return verdict_number(m, Tensor::o, &OutputVerdict::allowed); }},
    {"dq_error_abs", [](S, M m) { return verdict_number(m, Tensor::d_q, &OutputVerdict::error); }},
    {"dq_allowed_abs", [](S, M m) { return verdict_number(m, Tensor::d_q, &OutputVerdict::allowed); }},
    {"dk_error_abs", [](S, M m) { return verdict_number(m, Tensor::d_k, &OutputVerdict::error); }},
    {"dk_allowed_abs", [](S, M m) { return verdict_number(m, Tensor::d_k, &OutputVerdict::allowed); }},
    {"dv_error_abs", [](S, M m) { return verdict_number(m, Tensor::d_v, &OutputVerdict::error); }},
    {"dv_allowed_abs", [](S, M m) { return verdict_number(m, Tensor::d_v, &OutputVerdict::allowed); }},
});

class Line {
 public:
  void add(std::string_view field) {
    if (!text_.empty() || begun_) text_ += ',';
    begun_ = true;
    text_ += csv_field(field);
  }
  std::string end() { return std::move(text_) + "\n"; }

 private:
  std::string text_;
  bool begun_ = false;
};

// The columns that hang on what was measured.
struct Further {
  bool shaped = false, paged = false, output = false, pass = false;
  // Those of the problem, in their order.
  std::vector<std::span<const Column>> columns() const {
    std::vector<std::span<const Column>> all;
    if (shaped) all.emplace_back(kShaped);
    if (paged) all.emplace_back(kStored);
    if (output) all.emplace_back(kOutputType);
    if (pass) all.emplace_back(kPass);
    return all;
  }
  std::vector<const Option*>
      options;  // that kernels of these rows declare beside the common ones, in the ladder's order
};

Further further_columns(const Session& s) {
  Further further;
  std::vector<const Option*> declared = declared_options();
  std::erase_if(declared, [](const Option* o) { return o->get != nullptr; });
  for (const SweepRun& run : s.runs) {
    for (const Measurement& m : run.rows) {
      further.shaped = further.shaped || m.key.problem.shapes_scores();
      further.paged = further.paged || m.key.problem.storage.kind() == Storage::paged;
      further.output = further.output || m.key.problem.output != OutputType::as_inputs;
      further.pass = further.pass || m.key.problem.pass != Pass::forward;
      const KernelRow* row = declared.empty() ? nullptr : row_of(m);
      for (auto o = declared.begin(); row != nullptr && o != declared.end();) {
        const bool reads = spec_of(*row, **o) != nullptr;
        if (reads) further.options.push_back(*o);
        o = reads ? declared.erase(o) : o + 1;
      }
    }
  }
  const auto all = declared_options();
  std::ranges::sort(further.options, {}, [&](const Option* o) { return std::ranges::find(all, o) - all.begin(); });
  return further;
}

std::string header(const Further& further) {
  Line line;
  for (const Column& c : kIdentity) line.add(c.name);
  for (const MetricRow& metric : metric_table()) {
    line.add(metric.id);
    line.add(fmt::format("{}_source", metric.id));
  }
  for (const Column& c : kOrigin) line.add(c.name);
  for (const auto columns : further.columns())
    for (const Column& c : columns) line.add(c.name);
  for (const Option* o : further.options) line.add(o->name);
  return line.end();
}

std::string row(const SweepRun& s, const Measurement& m, const Further& further) {
  Line line;
  for (const Column& c : kIdentity) line.add(c.text(s, m));
  for (const MetricRow& metric : metric_table()) {
    const Figure& f = figure(m, metric.id);
    line.add(f.available() ? number(f.value) : "");
    line.add(f.available() ? std::string(name_of(f.origin)) : "not available: " + f.reason);
  }
  for (const Column& c : kOrigin) line.add(c.text(s, m));
  for (const auto columns : further.columns())
    for (const Column& c : columns) line.add(c.text(s, m));
  for (const Option* o : further.options) line.add(option_field(m, *o));
  return line.end();
}

}  // namespace

std::string to_csv(const Session& s) {
  const InEnglish recorded;
  const Further further = further_columns(s);
  std::string text = header(further);
  for (const SweepRun& run : s.runs)
    for (const Measurement& m : run.rows) text += row(run, m, further);
  return text;
}

}  // namespace attn
