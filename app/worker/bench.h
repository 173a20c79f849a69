// Bench's side of the GPU: which GPUs there are, and the points of a sweep measured on one through the worker. Where
// there is none, a GPU kernel's row says why, with what the compiler knows without one. Used by one thread at a time;
// a second one waits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "app/worker/client.h"
#include "app/worker/disassemble.h"
#include "app/worker/listing_ahead.h"
#include "app/worker/record.h"
#include "app/worker/user_compiler.h"
#include "kernels/gpu/compile/service.h"
#include "kernels/ladder.h"
#include "kernels/model/kernel.h"
#include "profiling/spec/sweep_spec.h"
#include "profiling/sweep/sweep.h"

namespace attn {

class CompileAhead;  // app/worker/compile_ahead.h

class GpuBench {
 public:
  using CompilerOpener = attn::CompilerOpener;
  explicit GpuBench(GpuClient::Starter start = GpuClient::start_program, CompilerOpener compiler = compilers_here(),
                    std::filesystem::path cache = gpu::cubin_cache_folder());

  // Kernels of the user's own, beside the ladder's. Before anything is asked.
  void bring(gpu::OwnKernels own);
  // The same beside those that were brought; a sweep's are met when it is asked for.
  void meet(const gpu::OwnKernels& own);
  // A point that gives no answer for so long is lost, and its worker stopped; 0: two minutes and eight times its limit.
  void limit_points(double seconds) { point_seconds_ = seconds; }

  // GPUs of this machine, or why none can be used. Asked of the worker once, then known.
  // `counters` false: CUPTI is not touched.
  Result<GpuHello> look(std::stop_token stop = {}, bool counters = true);
  // For run_sweep(): measures on GPU `spec.gpu`; where that cannot be used, compiles for `spec.arch` alone.
  GpuRunner runner(const SweepSpec& spec, std::stop_token stop);
  // A kernel's own record of a run, on the first GPU. Refused in words where there is none, or the kernel cannot.
  Result<GpuRecorded> record(GpuRunRequest request, const std::function<void(const std::string&)>& now,
                             const std::stop_token& stop);
  // What the compiler says of every point of the sweep's GPU kernels on `spec.arch`, with no GPU: rows without a time.
  // `tuned`: the tiles of a sweep of tuned ones; a point for which none is kept is left out.
  std::vector<Measurement> compiled(const SweepSpec& spec, const TunedOptions& tuned, const std::stop_token& stop);
  // Repeats of a point that was measured before, by CUDA events; its tensors stay on the GPU until let_go().
  Result<std::vector<double>> turn(const Point& p, const Turn& turn, const std::stop_token& stop);
  void let_go();
  // Starts compiling these points for the device, into the cache that the worker reads.
  std::unique_ptr<CompileAhead> compile_ahead(std::vector<Point> points, const Device& device) const;
  // One point for the lab, in the worker: compiled, checked and timed on GPU `p.gpu`; where this machine has none,
  // compiled for `p.arch`, with the reason why there is no time. What went wrong is the row's state and reason. No
  // counters, and few repeats, whatever `p` says.
  Measurement try_out(Point p, const std::function<void(const std::string&)>& now, const std::stop_token& stop);
  // Samples a row that was measured on GPU 0 of this machine (app/worker/collect.h).
  void sample(Measurement& row, const std::function<void(const std::string&)>& now, std::stop_token stop);
  // The same for counters over the time of one run.
  void beat(Measurement& row, const std::function<void(const std::string&)>& now, std::stop_token stop);
  // The same for what its instructions do.
  void count(Measurement& row, const std::function<void(const std::string&)>& now, std::stop_token stop);
  // Where the rows of a sweep are taken: the GPU's where it measures GPU kernels on one, else this machine's.
  Provenance provenance(const SweepSpec& spec);

 private:
  // The point of such a row; an error where this machine has not its GPU.
  Result<Point> point_of_row(const Measurement& row, const std::stop_token& stop);
  void keep(const MeasurementKey& key, std::unique_ptr<ListingAhead> listing);
  std::unique_ptr<ListingAhead> take_listing(const MeasurementKey& key);
  double max_seconds(const MeasureSpec& s) const;
  bool has_gpu_kernel(const SweepSpec& s) const;
  Result<Plan> plan_on(const Device& device, const Point& p) const;
  Result<Device> device_of_sweep(const SweepSpec& spec, const std::stop_token& stop);
  Measurement measure(const Point& p, const std::function<void(const std::string&)>& now, std::stop_token stop);
  Measurement compile_alone(const Point& p, const std::string& why, const std::function<void(const std::string&)>& now,
                            const std::stop_token& stop);
  Result<void> put_compiled(const Plan& plan, const Device& device, const std::stop_token& stop, Measurement& m);
  // What a point's row was compiled to, by the cache of what was compiled; a row that was not has none.
  void put_code(const Device& device, const Point& p, const std::stop_token& stop, Measurement& m);
  Result<gpu::CompileService> compile_service(const std::stop_token& stop);

  std::mutex mutex_;  // guards all below
  GpuClient client_;
  CompilerOpener open_compiler_;
  std::filesystem::path cache_;
  double point_seconds_ = 0;
  std::unique_ptr<gpu::Compiler> compiler_;
  std::optional<Result<GpuHello>> hello_;
  KeptCode codes_;
  // Machine code of what was tried out lately, read while it was timed: it is sampled next.
  std::vector<std::pair<MeasurementKey, std::unique_ptr<ListingAhead>>> listings_;
};

}  // namespace attn
