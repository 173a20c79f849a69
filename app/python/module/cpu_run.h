// A request made ready for the CPU, run as often as is asked, with threads that stay from call to call.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "app/python/module/plans.h"
#include "app/python/module/request.h"
#include "kernels/base/stop.h"
#include "kernels/cpu/aligned.h"
#include "kernels/cpu/thread_crew.h"
#include "kernels/model/kernel.h"

namespace attn::python {

// What one call at a time works with.
struct Worker {
  explicit Worker(std::int32_t threads) : crew(threads) {}
  cpu::ThreadCrew crew;
  std::unique_ptr<cpu::AlignedBytes> memory;
  std::size_t bytes = 0;
};

// Workers that wait for the next call. Several threads of Python's may call at once: each takes one of its own.
class Workers {
 public:
  // Those of this process. Never ended: a thread that still computes when Python ends must find them.
  static Workers& all();
  // In a child of fork(), where the threads of its parent are not.
  static void forget();

  // Gives the worker back at its end.
  class Lent {
   public:
    explicit Lent(std::int32_t threads);
    ~Lent();
    Lent(const Lent&) = delete;
    Lent& operator=(const Lent&) = delete;
    Worker& operator*() const { return *worker_; }

   private:
    Workers* from_;
    std::unique_ptr<Worker> worker_;
  };

 private:
  struct Shelf;
  Workers();
  std::unique_ptr<Shelf> shelf_;
};

// Of the CPU of this machine, asked once.
const Device& this_cpu();

class CpuRun {
 public:
  // The request's tensors are those of the problem's pass, inputs and outputs; it outlives the run. Raises.
  CpuRun(const Request& request, const std::string& kernel);

  // Asked without the GIL. The words of what does not fit into memory are in the error.
  Result<void> launch(const Stop& stop) const;
  const Choice& choice() const { return known_->choice; }
  std::int32_t threads() const { return known_->plan.options.threads; }
  // Arguments that are copied at each launch, for they do not lie as the kernel reads them.
  std::vector<std::string> copied() const;

 private:
  struct Part {
    const TensorSpec* spec = nullptr;
    bool copy = false;
  };
  std::uint64_t scratch_bytes() const;

  std::shared_ptr<const KnownPlan> known_;
  const ByTensor<ArrayView>* tensors_;
  std::vector<Part> parts_;
};

// Asks Python now and then, on the thread that calls, whether a signal wants it to end.
Stop stop_on_signals();

}  // namespace attn::python
