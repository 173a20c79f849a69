// The words of memory, tiles and kernels in the command palette: what each means, and the beat that shows it.
#include <string>
#include <utility>
#include <vector>

#include "app/shell/palette/palette.h"
#include "kernels/base/text.h"

namespace attn {
namespace {

PaletteEntry term(std::string words, std::string more, std::string also, StartLesson shown_by) {
  return explained(tr("Term"), std::move(words), std::move(more), std::move(also), std::move(shown_by));
}

}  // namespace

std::vector<PaletteEntry> palette_terms() {
  std::vector<PaletteEntry> all;
  all.push_back(term(tr("HBM"), tr("The GPU's large memory, also DRAM: tens of gigabytes, but slow to reach"),
                     tr("high bandwidth memory device memory global memory definition"), {"wall", "far"}));
  all.push_back(term(tr("shared memory"), tr("Memory on the chip that the threads of one block share, also SRAM"),
                     tr("SRAM on-chip definition"), {"sram", "chip"}));
  all.push_back(term(tr("registers"), tr("The smallest and fastest memory: each thread has its own"),
                     tr("register file definition"), {"wall", "far"}));
  all.push_back(term(tr("tile"),
                     tr("Some query rows or keys that are processed together, so that they fit on the chip"),
                     tr("block Br Bc definition"), {"by-hand", "tile"}));
  all.push_back(term(tr("head"), tr("Attention runs several times side by side, each with its own Q, K and V"),
                     tr("heads multi-head H definition"), {"outside", "blocks"}));
  all.push_back(term(tr("FlashAttention"),
                     tr("Attention tile by tile with a running softmax: exact, and S never leaves the chip"),
                     tr("flash online softmax definition"), {"bytes", "vanish"}));
  all.push_back(term(tr("block"), tr("Threads that run on one multiprocessor and share its memory"),
                     tr("thread block CTA definition"), {"few-warps", "fit"}));
  all.push_back(term(tr("warp"), tr("32 threads that run the same instruction together"), tr("threads definition"),
                     {"few-warps", "wait"}));
  all.push_back(term(tr("occupancy"), tr("Warps on a multiprocessor as a share of the most it can hold"),
                     tr("warps active definition"), {"few-warps", "warps"}));
  return all;
}

}  // namespace attn
