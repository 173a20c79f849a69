#include "app/peers/bench.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include <fmt/format.h>

#include "app/worker/bench.h"
#include "app/worker/cpu_bench.h"
#include "kernels/base/text.h"
#include "kernels/cpu/device.h"
#include "kernels/formats/json_reading.h"
#include "kernels/judge/verdict.h"
#include "kernels/ladder.h"
#include "profiling/figures/metrics.h"
#include "profiling/figures/peers.h"
#include "profiling/figures/row_state.h"
#include "profiling/figures/statistics.h"
#include "profiling/measure/cpu/on_cpu.h"
#include "profiling/measure/point.h"
#include "profiling/measure/problem_cache.h"
#include "profiling/measure/stages.h"

namespace attn {
namespace {

constexpr std::uint64_t kFlushPerL2 = 3;  // as GpuPeaks reads

void append(std::vector<double>& all, const std::vector<double>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

std::vector<std::string> ids_of(const std::vector<std::filesystem::path>& files) {
  std::vector<std::string> ids;
  for (const auto& file : files) {
    std::string id = file.filename().string();
    const bool shared =
        std::ranges::count_if(files, [&](const auto& f) { return f.filename() == file.filename(); }) > 1;
    if (shared || find_peer(id) != nullptr || find_kernel(id)) id = file.string();
    ids.push_back(std::move(id));
  }
  return ids;
}

// A peer on its way from a name to a row.
struct PeerBench::One {
  Measurement row;
  PeerClient* client = nullptr;
  PeerPlace place;
  double us = 0;  // one run
  bool timed() const { return row.state == RowState::done; }
};

// One problem.
class PeerBench::Round {
 public:
  Round(PeerBench& bench, const PeerRound& round, const std::function<void(const std::string&)>& now,
        std::stop_token stop)
      : bench_(bench), round_(round), now_(now), stop_(std::move(stop)) {}

  std::vector<Measurement> take() {
    for (const std::string& id : round_.peers) all_.push_back(begin(id));
    if (auto ready = make_inputs_once(); !ready) {
      for (One& one : all_) give_up(one.row, ready.error());
    }
    for (One& one : all_) {
      if (one.timed()) note(one, [&] { return answer_of(one); });
    }
    time();
    std::vector<Measurement> rows;
    rows.reserve(all_.size());
    for (One& one : all_) rows.push_back(finish(one));
    return rows;
  }

 private:
  One begin(const std::string& id) const {
    One one;
    one.row = empty_row(round_.point, round_.processor);
    one.row.key.kernel = id;
    one.row.key.options = {};
    const PeerRow* known = find_peer(id);
    one.row.peer = PeerFacts{known != nullptr ? std::string(known->title) : id, "", "", {}};
    one.row.clock = round_.processor == Processor::gpu ? "CUDA events, in turns" : "perf_counter, in turns";
    one.place = {round_.processor, round_.point.gpu, 0};
    if (round_.processor == Processor::cpu) {
      one.place.threads = round_.ours.empty() ? cpu_device().cores : round_.ours.front().key.options.threads;
      one.row.key.options.threads = one.place.threads;
      one.row.key.device = cpu_device().name;
    }
    if (!round_.ours.empty()) {
      one.row.key.device = round_.ours.front().key.device;
      one.row.key.device_uuid = round_.ours.front().key.device_uuid;
    }
    if (round_.ours.empty()) {
      one.row.state = RowState::refused;
      one.row.reason = "none of AttnScope's kernels was timed on this problem, so peers have nothing to alternate with";
    } else if (round_.point.problem.storage.kind() == Storage::paged) {
      one.row.state = RowState::refused;
      one.row.reason = "peers need contiguous K and V: measure them on the problem without pages";
    }
    return one;
  }

  Result<void> make_inputs_once() {
    if (std::ranges::none_of(all_, &One::timed)) return ok();
    now_("making the inputs");
    const auto inputs = problem_.inputs(round_.point);
    if (!inputs) return tl::unexpected(inputs.error());
    inputs_ = *inputs;
    return ok();
  }

  Deadline deadline() const { return {bench_.setup_.seconds + 8 * round_.point.seconds_per_point, stop_}; }

  // Where it failed, its row says why and it takes no further turn. What a peer sent must not end the sweep either.
  template <class Step>
  static void note(One& one, const Step& step) {
    if (const auto done = reading(one.row.key.kernel, step); !done) give_up(one.row, done.error());
  }

  Result<void> connect(One& one) {
    if (one.client == nullptr) {
      auto client = bench_.client_for(one.row.key.kernel, stop_);
      if (!client) return tl::unexpected(client.error());
      one.client = *client;
    }
    const auto hello = one.client->hello(one.place, {bench_.setup_.seconds, stop_});
    if (!hello) return tl::unexpected(hello.error());
    if (one.row.peer->software.empty()) one.row.peer->software = hello->software;
    if (round_.processor == Processor::gpu && !hello->device.empty() && hello->device != one.row.key.device)
      return fail(ErrorKind::failed, fmt::format("its GPU {} is {}, but AttnScope's is {}", one.place.gpu,
                                                 hello->device, one.row.key.device));
    const std::string id =
        fmt::format("{}, {}, seed {}, {}", describe(round_.point.problem), round_.point.problem.effective_scale(),
                    round_.point.seed, name_of(round_.point.generator));
    return one.client->open(id, round_.point.problem, *inputs_, deadline());
  }

  Result<void> answer_of(One& one) {
    now_(one.row.peer->title);
    Stages stages(one.row);
    stages.enter("peer");
    if (auto ready = connect(one); !ready) return ready;
    stages.enter("run");
    const auto answer = one.client->run(one.row.key.kernel, round_.point.problem, deadline());
    if (!answer) return tl::unexpected(answer.error());
    one.row.peer->how = answer->how;
    if (!answer->package.empty()) one.row.peer->software += ", " + answer->package;
    one.us = answer->us;
    if (!round_.point.verify) return ok();
    stages.enter("verify");
    const Problem& p = round_.point.problem;
    const auto by = problem_.judged_by(round_.point, stop_);
    if (!by) return tl::unexpected(by.error());
    one.row.verdict = judge_without_lse(p, *inputs_, (*by)->reference, answer->outputs, (*by)->sample);
    return ok();
  }

  // Every side forwards, then every side backwards: a clock that drifts evenly favours none.
  void time() {
    if (std::ranges::none_of(all_, &One::timed)) return;
    ours_.resize(round_.ours.size());
    for (std::size_t n = 0; n < ours_.size(); ++n) our_turn(n);
    for (One& one : all_) their_turn(one);
    for (One& one : all_ | std::views::reverse) their_turn(one);
    for (std::size_t n = ours_.size(); n-- > 0;) our_turn(n);
    if (round_.processor == Processor::gpu && bench_.gpu_ != nullptr) bench_.gpu_->let_go();
    if (round_.processor == Processor::cpu && bench_.cpu_ != nullptr) bench_.cpu_->let_go();
  }

  void their_turn(One& one) {
    if (!one.timed()) return;
    now_(fmt::format("{}, a turn", one.row.peer->title));
    note(one, [&]() -> Result<void> {
      if (auto ready = connect(one); !ready) return ready;
      const auto times = one.client->turn(one.row.key.kernel,
                                          turn_for(one.us, round_.point.seconds_per_point, round_.point.min_repeats),
                                          flush_bytes(), deadline());
      if (!times) return tl::unexpected(times.error());
      append(one.row.samples_us, *times);
      return ok();
    });
  }

  // Cold: as much as our own flush reads.
  std::uint64_t flush_bytes() const {
    if (round_.processor != Processor::gpu || round_.point.l2 == L2State::warm || bench_.gpu_ == nullptr) return 0;
    const auto hello = bench_.gpu_->look(stop_, round_.point.counters);
    if (!hello) return 0;
    for (const gpu::GpuProperties& g : hello->gpus)
      if (g.index == round_.point.gpu) return kFlushPerL2 * static_cast<std::uint64_t>(g.l2_bytes);
    return 0;
  }

  struct Ours {
    std::vector<double> samples;
    std::string why_not;
  };
  void our_turn(std::size_t n) {
    if (!ours_[n].why_not.empty() || stop_.stop_requested()) return;
    const Measurement& m = round_.ours[n];
    now_(fmt::format("{}, a turn", m.key.kernel));
    Point p = round_.point;
    p.kernel = m.key.kernel;
    p.options = m.key.options;
    const auto times = our_times(p, turn_for(m.time.median, p.seconds_per_point, p.min_repeats));
    if (times)
      append(ours_[n].samples, *times);
    else
      ours_[n].why_not = times.error().message;
  }

  Result<std::vector<double>> our_times(const Point& p, const Turn& turn) {
    if (round_.processor == Processor::gpu) {
      if (bench_.gpu_ == nullptr) return fail(ErrorKind::cannot_run, "GPUs are not used here");
      return bench_.gpu_->turn(p, turn, stop_);
    }
    if (bench_.cpu_ != nullptr) return bench_.cpu_->turn(p, turn, stop_);
    const auto row = find_kernel(p.kernel);
    if (!row) return tl::unexpected(row.error());
    return turn_on_cpu(**row, p, *inputs_, turn, stop_);
  }

  Measurement finish(One& one) const {
    Measurement& m = one.row;
    if (one.timed()) {
      m.time = statistics_of(m.samples_us);
      for (std::size_t n = 0; n < ours_.size(); ++n) {
        const Measurement& ours = round_.ours[n];
        if (ours_[n].why_not.empty()) {
          m.peer->beside.push_back({ours.key.kernel, ours.key.options, statistics_of(ours_[n].samples)});
        } else {
          m.peer->how += fmt::format("{}{} did not take a turn: {}", m.peer->how.empty() ? "" : "; ", ours.key.kernel,
                                     ours_[n].why_not);
        }
      }
    } else {
      m.samples_us.clear();
      m.time = {};
    }
    fill_figures(m);
    return std::move(m);
  }

  PeerBench& bench_;
  const PeerRound& round_;
  const std::function<void(const std::string&)>& now_;
  std::stop_token stop_;
  ProblemCache problem_;
  const Inputs* inputs_ = nullptr;
  std::vector<One> all_;
  std::vector<Ours> ours_;
};

PeerBench::PeerBench(PeerSetup setup, GpuBench* gpu, CpuBench* cpu)
    : setup_(std::move(setup)), gpu_(gpu), cpu_(cpu), own_(ids_of(setup_.files)) {}
PeerBench::~PeerBench() = default;

Result<PythonFound> PeerBench::look(const std::stop_token& stop) {
  if (!python_) {
    auto found = look_for_python(setup_.python, stop);
    if (!found && stop.stop_requested()) return found;  // not an answer to remember
    python_ = std::move(found);
  }
  return *python_;
}

Result<PeerClient*> PeerBench::client_for(const std::string& id, const std::stop_token& stop) {
  const auto own = std::ranges::find(own_, id);
  const std::string key = own == own_.end() ? "" : id;
  const PeerRow* known = key.empty() && !setup_.start ? find_peer(id) : nullptr;
  if (known != nullptr) {
    if (const std::string why = why_missing(look(stop), *known); !why.empty()) return fail(ErrorKind::cannot_run, why);
  }
  if (const auto at = clients_.find(key); at != clients_.end()) return at->second.get();
  if (setup_.start) return clients_.emplace(key, std::make_unique<PeerClient>(setup_.start)).first->second.get();
  const auto python = look(stop);
  if (!python) return fail(ErrorKind::cannot_run, "not found: " + python.error().message);
  const auto script = peer_script("peer.py");
  if (!script) return tl::unexpected(script.error());
  std::string file;
  std::error_code error;
  const std::string here = std::filesystem::current_path(error).string();
  if (own != own_.end())
    file = std::filesystem::absolute(setup_.files[static_cast<std::size_t>(own - own_.begin())], error).string();
  const auto start = [program = python->program.string(), script = *script, file, here](const PeerPlace& place) {
    return Child::start({"-B", script.string(), file, std::to_string(place.threads), here}, program,
                        script.parent_path().string());
  };
  return clients_.emplace(key, std::make_unique<PeerClient>(start)).first->second.get();
}

std::vector<Measurement> PeerBench::measure(const PeerRound& round, const std::function<void(const std::string&)>& now,
                                            std::stop_token stop) {
  const InEnglish recorded;
  return Round(*this, round, now, std::move(stop)).take();
}

PeerSource PeerBench::source(const SweepSpec& spec) {
  for (const std::string& id : spec.peers) {
    const PeerRow* row = find_peer(id);
    if (row == nullptr || row->processor != Processor::gpu) continue;
    const auto client = client_for(id, {});  // one process serves them all
    if (!client) continue;
    (*client)->warm_up({Processor::gpu, spec.gpu, 0});
    break;
  }
  PeerSource source;
  source.files = own_;
  source.measure = [this](const PeerRound& round, const auto& now, std::stop_token stop) {
    return measure(round, now, std::move(stop));
  };
  return source;
}

}  // namespace attn
