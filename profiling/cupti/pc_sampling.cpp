#include "profiling/cupti/pc_sampling.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "kernels/base/clock.h"

namespace attn::cupti {
namespace {

constexpr std::size_t kPcs = 8192;  // that one reading takes; more are read in several
constexpr int kMaxReadings = 200;

}  // namespace

ReasonName reason_name(std::string_view cupti_name) {
  constexpr std::string_view kBefore = "stalled_", kAfter = "_not_issued";
  ReasonName reason;
  if (const std::size_t at = cupti_name.find(kBefore); at != std::string_view::npos)
    cupti_name.remove_prefix(at + kBefore.size());
  reason.not_issued = cupti_name.ends_with(kAfter);
  if (reason.not_issued) cupti_name.remove_suffix(kAfter.size());
  reason.name = cupti_name;
  return reason;
}

// What CUPTI writes samples into. The structs point at one another, so that a buffer stays where it was made.
struct PcSampler::Buffer {
  explicit Buffer(std::size_t reasons) : pcs(kPcs), counts(kPcs * reasons) {
    for (std::size_t n = 0; n < kPcs; ++n) {
      pcs[n].size = sizeof(CUpti_PCSamplingPCData);
      pcs[n].stallReason = &counts[n * reasons];
    }
    data.size = sizeof(CUpti_PCSamplingData);
    data.collectNumPcs = kPcs;
    data.pPcData = pcs.data();
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  std::vector<CUpti_PCSamplingPCData> pcs;
  std::vector<CUpti_PCSamplingStallReason> counts;
  CUpti_PCSamplingData data{};
};

// Samples of all readings by function, address and reason.
class PcSampler::Sums {
 public:
  Sums(std::uint64_t crc, const std::vector<std::uint32_t>& numbers, const std::vector<std::string>& names)
      : crc_(crc) {
    for (std::size_t n = 0; n < numbers.size(); ++n) {
      const ReasonName reason = reason_name(names[n]);
      const auto at = std::ranges::find(reasons_, reason.name);
      const auto index = static_cast<std::uint32_t>(at - reasons_.begin());
      if (at == reasons_.end()) reasons_.push_back(reason.name);
      of_number_[numbers[n]] = {index, reason.not_issued};
    }
  }
  void add(const CUpti_PCSamplingData& data) {
    dropped_ += data.droppedSamples;
    unattributed_ += data.nonUsrKernelsTotalSamples;
    for (std::size_t n = 0; n < data.totalNumPcs; ++n) add(data.pPcData[n]);
  }
  Sampled take() && {
    Sampled s;
    s.samples = samples_;
    s.dropped = dropped_;
    s.unattributed = unattributed_;
    for (auto& [name, by_address] : functions_) {
      SampledFunction& f = s.functions.emplace_back();
      f.name = name;
      for (auto& [address, by_reason] : by_address) {
        SampledInstruction& i = f.instructions.emplace_back();
        i.address = address;
        for (const auto& [reason, counts] : by_reason) i.reasons.push_back({reason, counts.all, counts.not_issued});
      }
    }
    s.reasons = std::move(reasons_);
    return s;
  }

 private:
  struct Counts {
    std::uint64_t all = 0, not_issued = 0;
  };
  struct Numbered {
    std::uint32_t index = 0;
    bool not_issued = false;
  };
  using ByReason = std::map<std::uint32_t, Counts>;

  // The name is CUPTI's and may be shared by records: it is copied, and not freed.
  void add(const CUpti_PCSamplingPCData& pc) {
    const bool ours = pc.cubinCrc == crc_ && pc.functionName != nullptr;
    ByReason* const by_reason = ours ? &functions_[pc.functionName][static_cast<std::uint32_t>(pc.pcOffset)] : nullptr;
    for (std::size_t n = 0; n < pc.stallReasonCount; ++n) {
      const CUpti_PCSamplingStallReason& count = pc.stallReason[n];
      const auto reason = of_number_.find(count.pcSamplingStallReasonIndex);
      if (count.samples == 0 || reason == of_number_.end()) continue;
      const bool not_issued = reason->second.not_issued;
      // What is not issued is counted among all as well.
      if (!not_issued) (ours ? samples_ : unattributed_) += count.samples;
      if (by_reason == nullptr) continue;
      Counts& counts = (*by_reason)[reason->second.index];
      (not_issued ? counts.not_issued : counts.all) += count.samples;
    }
  }

  std::uint64_t crc_;
  std::vector<std::string> reasons_;
  std::map<std::uint32_t, Numbered> of_number_;
  std::map<std::string, std::map<std::uint32_t, ByReason>> functions_;
  std::uint64_t samples_ = 0, dropped_ = 0, unattributed_ = 0;
};

Result<void> PcSampler::enable() {
  const auto context = current_context();
  if (!context) return tl::unexpected(context.error());
  context_ = *context;
  CUpti_PCSamplingEnableParams p{};
  p.size = CUpti_PCSamplingEnableParamsSize;
  p.ctx = context_;
  return cupti_->check(cupti_->call().pc_enable(&p), "cuptiPCSamplingEnable");
}

Result<void> PcSampler::disable() {
  CUpti_PCSamplingDisableParams p{};
  p.size = CUpti_PCSamplingDisableParamsSize;
  p.ctx = context_;
  return cupti_->check(cupti_->call().pc_disable(&p), "cuptiPCSamplingDisable");
}

Result<void> PcSampler::load(const std::function<Result<void>()>& load) {
  if (auto enabled = enable(); !enabled) return enabled;
  auto loaded = load();
  auto disabled = disable();
  return loaded ? disabled : loaded;
}

// Which reasons this chip knows; asked once, while sampling is enabled.
Result<void> PcSampler::query_reasons() {
  if (!names_.empty()) return ok();
  std::size_t count = 0;
  CUpti_PCSamplingGetNumStallReasonsParams number{};
  number.size = CUpti_PCSamplingGetNumStallReasonsParamsSize;
  number.ctx = context_;
  number.numStallReasons = &count;
  auto good = cupti_->check(cupti_->call().pc_reason_count(&number), "cuptiPCSamplingGetNumStallReasons");
  if (!good) return good;
  std::vector<std::uint32_t> numbers(count);
  std::vector<std::array<char, CUPTI_STALL_REASON_STRING_SIZE>> texts(count);
  std::vector<char*> pointers;
  pointers.reserve(count);
  for (auto& text : texts) pointers.push_back(text.data());
  CUpti_PCSamplingGetStallReasonsParams names{};
  names.size = CUpti_PCSamplingGetStallReasonsParamsSize;
  names.ctx = context_;
  names.numStallReasons = count;
  names.stallReasonIndex = numbers.data();
  names.stallReasons = pointers.data();
  good = cupti_->check(cupti_->call().pc_reasons(&names), "cuptiPCSamplingGetStallReasons");
  if (!good) return good;
  if (count == 0) return fail(ErrorKind::cannot_run, "CUPTI has no stall reasons for this GPU");
  numbers_ = std::move(numbers);
  for (const auto& text : texts) names_.emplace_back(text.data());
  return ok();
}

// `left_over` gets what is still to be read when sampling is disabled; it lives until then.
Result<void> PcSampler::configure(std::int32_t period_log2, Buffer& left_over) {
  std::vector<CUpti_PCSamplingConfigurationInfo> all;
  const auto add = [&](CUpti_PCSamplingConfigurationAttributeType type) -> auto& {
    all.emplace_back();
    all.back().attributeType = type;
    return all.back().attributeData;
  };
  auto& reasons = add(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_STALL_REASON).stallReasonData;
  reasons.stallReasonCount = numbers_.size();
  reasons.pStallReasonIndex = numbers_.data();
  add(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER).samplingDataBufferData.samplingDataBuffer =
      &left_over.data;
  add(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE).collectionModeData.collectionMode =
      CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS;
  add(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_ENABLE_START_STOP_CONTROL)
      .enableStartStopControlData.enableStartStopControl = 1;
  add(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD).samplingPeriodData.samplingPeriod =
      static_cast<std::uint32_t>(period_log2);
  CUpti_PCSamplingConfigurationInfoParams p{};
  p.size = CUpti_PCSamplingConfigurationInfoParamsSize;
  p.ctx = context_;
  p.numAttributes = all.size();
  p.pPCSamplingConfigurationInfo = all.data();
  return cupti_->check(cupti_->call().pc_configure(&p), "cuptiPCSamplingSetConfigurationAttribute");
}

Result<void> PcSampler::launch(const std::function<Result<void>()>& run) {
  CUpti_PCSamplingStartParams start{};
  start.size = CUpti_PCSamplingStartParamsSize;
  start.ctx = context_;
  auto good = cupti_->check(cupti_->call().pc_start(&start), "cuptiPCSamplingStart");
  if (!good) return good;
  good = run();
  CUpti_PCSamplingStopParams stop{};
  stop.size = CUpti_PCSamplingStopParamsSize;
  stop.ctx = context_;
  auto stopped = cupti_->check(cupti_->call().pc_stop(&stop), "cuptiPCSamplingStop");
  return good ? stopped : good;
}

// Has to follow each stop: what comes later could not be told apart.
Result<void> PcSampler::drain(Buffer& buffer, Sums& sums) {
  for (int reading = 0; reading < kMaxReadings; ++reading) {
    CUpti_PCSamplingGetDataParams p{};
    p.size = CUpti_PCSamplingGetDataParamsSize;
    p.ctx = context_;
    p.pcSamplingData = &buffer.data;
    auto good = cupti_->check(cupti_->call().pc_data(&p), "cuptiPCSamplingGetData");
    if (!good) {
      if (buffer.data.hardwareBufferFull != 0)
        good.error().message += "; the hardware's sample buffer overflowed: use a longer period";
      return good;
    }
    sums.add(buffer.data);
    if (buffer.data.remainingNumPcs == 0) return ok();
  }
  return fail(ErrorKind::failed, "cuptiPCSamplingGetData never runs out of samples");
}

Result<Sampled> PcSampler::sample(const SamplingSpec& spec, const std::function<Result<void>()>& prepare,
                                  const std::function<Result<void>()>& run) {
  const double begin = steady_seconds();
  const auto crc = crc_of(*cupti_, spec.cubin);
  if (!crc) return tl::unexpected(crc.error());
  auto good = enable();
  if (!good) return tl::unexpected(good.error());
  if (good = query_reasons(); !good) {
    (void)disable();
    return tl::unexpected(good.error());
  }
  Buffer buffer(names_.size()), left_over(names_.size());
  Sums sums(*crc, numbers_, names_);
  good = configure(spec.period_log2, left_over);
  for (std::int32_t n = 0; n < spec.launches && good; ++n) {
    good = prepare();
    if (good) good = launch(run);
    if (good) good = drain(buffer, sums);
  }
  auto disabled = disable();
  if (good) good = disabled;
  if (!good) return tl::unexpected(good.error());
  if (left_over.data.totalNumPcs > 0) sums.add(left_over.data);
  Sampled sampled = std::move(sums).take();
  sampled.seconds = steady_seconds() - begin;
  return sampled;
}

}  // namespace attn::cupti
