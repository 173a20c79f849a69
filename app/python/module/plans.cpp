#include "app/python/module/plans.h"

#include <algorithm>
#include <utility>

namespace attn::python {
namespace {

bool is_of(const KnownPlan& known, const Request& request, std::string_view kernel, bool inside) {
  return known.processor == request.processor && known.device == request.device && known.inside == inside &&
         known.kernel == kernel && known.problem == request.problem && known.options == request.options;
}

}  // namespace

KnownPlans& KnownPlans::all() {
  // Never ended: a thread may still call when Python ends.
  static KnownPlans* const plans = new KnownPlans();
  return *plans;
}

std::shared_ptr<KnownPlan> KnownPlans::find(const Request& request, std::string_view kernel, bool inside) {
  const auto at = std::ranges::find_if(plans_, [&](const auto& p) { return is_of(*p, request, kernel, inside); });
  if (at == plans_.end()) return nullptr;
  std::rotate(plans_.begin(), at, at + 1);
  return plans_.front();
}

std::vector<std::shared_ptr<KnownPlan>> KnownPlans::keep(std::shared_ptr<KnownPlan> made) {
  ++made_;
  plans_.insert(plans_.begin(), std::move(made));
  std::vector<std::shared_ptr<KnownPlan>> oldest;
  for (; plans_.size() > kMost; plans_.pop_back()) oldest.push_back(std::move(plans_.back()));
  return oldest;
}

std::shared_ptr<KnownPlan> asked_of(const Request& request, std::string_view kernel, bool inside) {
  auto asked = std::make_shared<KnownPlan>();
  asked->problem = request.problem;
  asked->options = request.options;
  asked->kernel = kernel;
  asked->processor = request.processor;
  asked->device = request.device;
  asked->inside = inside;
  return asked;
}

}  // namespace attn::python
