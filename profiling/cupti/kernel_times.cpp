#include "profiling/cupti/kernel_times.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

namespace attn::cupti {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;  // some 5000 records

// CUPTI's callbacks carry no pointer of the caller's, and it may call them from a thread of its own: what they fill is
// one object of the process.
class Records {
 public:
  static Records& of_process() {
    static Records records;
    return records;
  }
  void read_with(decltype(&cuptiActivityGetNextRecord) next) {
    const std::scoped_lock lock(mutex_);
    next_ = next;
  }
  std::vector<KernelTime> take() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(times_, {});
  }

  std::uint8_t* lend() {
    const std::scoped_lock lock(mutex_);
    // new gives what malloc gives: aligned for every type, as CUPTI asks (8 bytes).
    auto buffer = std::make_unique<std::uint8_t[]>(kBufferBytes);
    std::uint8_t* at = buffer.get();
    lent_.emplace(at, std::move(buffer));
    return at;
  }
  void take_back(std::uint8_t* buffer, std::size_t filled) {
    const std::scoped_lock lock(mutex_);
    CUpti_Activity* record = nullptr;
    while (next_ != nullptr && next_(buffer, filled, &record) == CUPTI_SUCCESS) {
      if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) continue;
      // Later versions of the record begin like this one.
      const auto* kernel = reinterpret_cast<const CUpti_ActivityKernel9*>(record);
      times_.push_back({kernel->name == nullptr ? "" : kernel->name, kernel->start, kernel->end});
    }
    lent_.erase(buffer);
  }

 private:
  std::mutex mutex_;
  decltype(&cuptiActivityGetNextRecord) next_ = nullptr;
  std::map<std::uint8_t*, std::unique_ptr<std::uint8_t[]>> lent_;
  std::vector<KernelTime> times_;
};

void CUPTIAPI buffer_requested(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) {
  *buffer = Records::of_process().lend();
  *size = kBufferBytes;
  *max_records = 0;  // as many as fit
}

void CUPTIAPI buffer_completed(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t filled) {
  Records::of_process().take_back(buffer, filled);
}

}  // namespace

Result<void> KernelTimes::start() {
  if (on_) return ok();
  const Calls& call = cupti_->call();
  if (!registered_) {
    Records::of_process().read_with(call.activity_next);
    auto good =
        cupti_->check(call.activity_callbacks(buffer_requested, buffer_completed), "cuptiActivityRegisterCallbacks");
    if (!good) return good;
    registered_ = true;
  }
  auto good = cupti_->check(call.activity_enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), "cuptiActivityEnable");
  on_ = good.has_value();
  return good;
}

Result<std::vector<KernelTime>> KernelTimes::take() {
  auto good = cupti_->check(cupti_->call().activity_flush(0), "cuptiActivityFlushAll");
  if (!good) return tl::unexpected(good.error());
  std::vector<KernelTime> times = Records::of_process().take();
  std::ranges::sort(times, {}, &KernelTime::start_ns);
  return times;
}

void KernelTimes::stop() {
  if (!on_) return;
  (void)cupti_->call().activity_flush(0);
  (void)cupti_->call().activity_disable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  (void)Records::of_process().take();
  on_ = false;
}

}  // namespace attn::cupti
