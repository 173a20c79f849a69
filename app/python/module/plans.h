// Plans of calls that were made before. Choosing a rung and planning takes a hundred times as long as a launch, so a
// call of a problem that is known does neither: it launches the plan on its own arrays.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/python/module/request.h"
#include "kernels/gpu/launch/launching.h"
#include "kernels/model/kernel.h"

namespace attn::python {

// Addresses and strides are a call's own, and no part of it.
struct KnownPlan {
  // What was asked for.
  Problem problem;
  Options options;
  std::string kernel;
  Processor processor = Processor::cpu;
  std::int32_t device = 0;  // of the GPU
  bool inside = false;      // Q, K, V and O are dense [B, L, H, D]

  Choice choice;
  Plan plan;
  std::vector<TensorSpec> specs;  // tensors_of() the plan's problem
  // On a GPU, once launched: compiled for arrays at any address, and for aligned ones.
  struct Loads {
    std::array<std::shared_ptr<const gpu::LoadedPlan>, 2> plans;
    std::array<bool, 2> captured{};  // launched into a graph, which reads memory of it
  };
  std::map<std::uint64_t, Loads> loaded;  // by the context that they are of (gpu::Context); the GPUs' mutex guards them
};

// The last that were used, of all threads. Whoever calls holds the GIL, which guards them.
class KnownPlans {
 public:
  static constexpr std::size_t kMost = 128;
  static KnownPlans& all();

  // Null: this problem was not planned yet, or too long ago.
  std::shared_ptr<KnownPlan> find(const Request& request, std::string_view kernel, bool inside);
  // Gives back what no longer has room.
  std::vector<std::shared_ptr<KnownPlan>> keep(std::shared_ptr<KnownPlan> made);
  std::int64_t made() const { return made_; }
  std::size_t kept() const { return plans_.size(); }

 private:
  std::vector<std::shared_ptr<KnownPlan>> plans_;  // the last used first
  std::int64_t made_ = 0;
};

// What the request asks for, not planned yet.
std::shared_ptr<KnownPlan> asked_of(const Request& request, std::string_view kernel, bool inside);

}  // namespace attn::python
