#include "viz/step/facts/code_phase.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace attn {
namespace {

using gpu::CodePhase;

constexpr std::array kLoadQ{Phase::load_q, Phase::load_state};
constexpr std::array kLoadK{Phase::load_k, Phase::load_kv};
constexpr std::array kLoadV{Phase::load_v, Phase::load_kv};
constexpr std::array kScores{Phase::scores};
constexpr std::array kMask{Phase::mask};
constexpr std::array kMax{Phase::max};
constexpr std::array kRescale{Phase::rescale};
constexpr std::array kWeights{Phase::weights};
constexpr std::array kSum{Phase::sum};
constexpr std::array kOutput{Phase::output};
constexpr std::array kNormalise{Phase::normalise};
constexpr std::array kStore{Phase::store_o, Phase::store_state, Phase::store_s};

}  // namespace

std::span<const Phase> step_phases(CodePhase phase) {
  switch (phase) {
    case CodePhase::q:
      return kLoadQ;
    case CodePhase::k:
      return kLoadK;
    case CodePhase::v:
      return kLoadV;
    case CodePhase::s:
      return kScores;
    case CodePhase::mask:
      return kMask;
    case CodePhase::m:
      return kMax;
    case CodePhase::alpha:
      return kRescale;
    case CodePhase::p:
      return kWeights;
    case CodePhase::l:
      return kSum;
    case CodePhase::o:
      return kOutput;
    case CodePhase::normalise:
      return kNormalise;
    case CodePhase::store:
      return kStore;
    case CodePhase::setup:
    case CodePhase::loop:
    case CodePhase::barrier:
    case CodePhase::none:
      break;
  }
  return {};
}

std::optional<CodePhase> code_phase_of(Phase phase) {
  // load_kv is K's: its tile is what the next step reads.
  for (const CodePhase code : gpu::all_code_phases())
    if (std::ranges::find(step_phases(code), phase) != step_phases(code).end()) return code;
  return std::nullopt;
}

std::string why_no_step(CodePhase phase) {
  if (!step_phases(phase).empty()) return {};
  if (phase == CodePhase::none) return "These instructions belong to no phase, so they have no step.";
  return fmt::format("The phase {} is the hardware's, not the algorithm's: the paper has no step for it.",
                     gpu::name_of(phase));
}

Result<EventIndex> step_of(const Recording& rec, CodePhase phase) {
  if (const std::string why = why_no_step(phase); !why.empty()) return fail(ErrorKind::cannot_run, why);
  for (const Phase step : step_phases(phase)) {
    const auto at = std::ranges::find_if(rec.events, [step](const Event& e) { return e.id.phase == step; });
    if (at != rec.events.end()) return static_cast<EventIndex>(at - rec.events.begin());
  }
  const char* why = phase == CodePhase::mask ? "nothing is masked in it" : "its order has none";
  return fail(ErrorKind::cannot_run,
              fmt::format("The run of {} has no step for {}: {}.", rec.kernel, gpu::name_of(phase), why));
}

}  // namespace attn
