#include "kernels/lab/experiments.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace attn {
namespace {

Options tile(std::int32_t br, std::int32_t bc, std::int32_t threads, std::int32_t stages) {
  Options o;
  o.br = br;
  o.bc = bc;
  o.threads = threads;
  o.stages = stages;
  return o;
}

}  // namespace

std::span<const Experiment> experiments() {
  static const std::array kTable{
      Experiment{"pad_away",
                 "Pad the shared tile away",
                 "flash_simt",
                 "What are the 4 floats between the rows of Q and K in shared memory for?",
                 "The rows lie close together: k_stride 32 in place of 36.",
                 "On an H100 (L = 4096, H = 16, D = 64): 3.76 ms in place of 2.09, and 475 million bank "
                 "conflicts in place of 6: rows that are read together lie in the same banks.",
                 {}},
      Experiment{"drop_prefetch",
                 "Drop the prefetch",
                 "flash_simt",
                 "What does it bring that the next chunk of K or V is on its way while this one is multiplied?",
                 "Every copy is waited for before the multiplication that stands beside it begins.",
                 "On an H100 (L = 4096, H = 16, D = 64): 2.28 ms in place of 2.09, 1.09 times as long; one "
                 "block an SM has no other warps to fill the wait.",
                 {}},
      Experiment{"one_stage", "One stage", "flash_mma", "Is the second buffer of K and V worth its shared memory?",
                 "stages = 1: a key tile is copied, waited for and multiplied, and then the next.",
                 "On an H100 (f16, L = 4096, H = 16, D = 64): 203 us in place of 194, 1.05 times as long; "
                 "registers keep the occupancy at 12.5 %, so the shared memory that it frees buys nothing.",
                 tile(0, 0, 0, 1)},
      Experiment{
          "divide_every_tile",
          "Divide in every tile",
          "flash_simt",
          "What did FlashAttention-2 save by dividing by l once, at the end?",
          "O is kept normalised, as FlashAttention-1 keeps it: with every key tile the row's sum goes over its 16 "
          "lanes, and P and O are multiplied by its inverse.",
          "On an H100 (L = 4096, H = 16, D = 64): 2.27 ms in place of 2.09, 1.09 times as long: that "
          "is what one division at the end saves.",
          {}},
      Experiment{"expf",
                 "expf for exp2",
                 "flash_simt",
                 "Why are the scores kept in base 2?",
                 "P by expf, which is exp2 of a product, with the care for large and small arguments that it takes.",
                 "On an H100 (L = 4096, H = 16, D = 64): 2.12 ms in place of 2.09, 1.02 times as long, with "
                 "the same error.",
                 {}},
      Experiment{"half_warps", "Half the warps", "flash_simt",
                 "Do 4 warps over 64 query rows do what 8 over 128 do, if twice as many blocks fit?",
                 "Br = 64 and 128 threads in place of 128 and 256; a thread has as many rows as before.",
                 "On an H100 (L = 4096, H = 16, D = 64): 2.07 ms against 2.09, 1 %: 168 registers let 3 "
                 "blocks of 4 warps stand where 1 of 8 did, 18.8 % of occupancy in place of 12.5, and each "
                 "reads K and V anew.",
                 tile(64, 128, 128, 0)},
  };
  return kTable;
}

Result<const Experiment*> find_experiment(std::string_view id) {
  std::vector<std::string_view> ids;
  for (const Experiment& e : experiments()) {
    if (e.id == id) return &e;
    ids.push_back(e.id);
  }
  return bad_input(fmt::format("there is no experiment '{}'; there are {}", id, fmt::join(ids, ", ")));
}

std::vector<const Patch*> patches_of(const Experiment& experiment) {
  std::vector<const Patch*> patches;
  for (const Patch& patch : experiment_patches())
    if (patch.id == experiment.id) patches.push_back(&patch);
  return patches;
}

Result<std::string> changed_text(const Experiment& experiment, std::string_view text) {
  std::string changed(text);
  for (const Patch* patch : patches_of(experiment)) {
    auto next = patched(*patch, changed);
    if (!next) return next;
    changed = *std::move(next);
  }
  return changed;
}

}  // namespace attn
