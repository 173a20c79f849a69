#include "kernels/museum/museum.h"

#include <algorithm>
#include <array>
#include <deque>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/text.h"
#include "kernels/ladder.h"

namespace attn {
namespace {

constexpr std::string_view kPrefix = "museum_";

// What a visitor reads; the patch comes from its file.
struct Label {
  std::string_view id, right, title, symptom, bug, hidden;
  std::string_view preset;  // whose problem shows it
};

constexpr Label kLabels[] = {
    {"forgotten_alpha", "cpu_flash", marked("Correct while m does not change"),
     marked("Where a later key tile raises the maximum, the tile's values count too little."),
     marked("α is always 1: the sums for the old maximum are never rescaled."),
     marked("where m does not rise after the first key tile, as with equal scores"), "late_outlier"},
    {"alpha_on_l_only", "cpu_flash", marked("Outside the range of V"),
     marked("Elements of O lie outside the range of their column of V."),
     marked("ℓ is multiplied by α, but O is not, so O still refers to the old maximum."),
     marked("where m does not rise after the first key tile, as with equal scores"), "late_outlier"},
    {"alpha_on_o_only", "cpu_flash", marked("Rows shrink towards 0"),
     marked("Where a later key tile raises the maximum, the whole row of O is too small by the same factor."),
     marked("O is multiplied by α, but ℓ is not, so the final division divides by too much."),
     marked("where m does not rise after the first key tile, as with equal scores"), "random"},
    {"mask_off_by_one", "cpu_flash", marked("A peek at the next token"),
     marked("Row 0 of O should equal row 0 of V, because query 0 may see only key 0. It does not."),
     marked("The causal mask also lets each query see the key after its own."),
     marked("without a causal mask, or in rows whose next key is in a skipped tile"), "causal"},
    {"max_not_carried", "cpu_flash", marked("Only the last tile counts"),
     marked("ℓ never exceeds the number of keys of one tile."),
     marked("m restarts at −∞ in every key tile, so α is 0 and everything summed before is discarded."),
     marked("with one key tile, or where the last tile has nearly all the weight"), "random"},
    {"l_in_bf16", "cpu_flash", marked("Twice the mean of 512"),
     marked("All 512 weights are 1, but ℓ ends at 256: each row of O is twice as large as it should be."),
     marked("ℓ is kept in bf16, which has 8 significant bits: 256 + 1 is 256."),
     marked("on short rows whose sums fit in bf16, such as rows of 16 equal scores"), ""},
    {"infinity_minus_infinity", "cpu_flash", marked("One row is NaN"),
     marked("Row 0 sees no key: its O should be 0 and its LSE −∞. The whole row is NaN."),
     marked("α is computed as −∞ − (−∞) before any key is seen, without the guard that makes it 1."),
     marked("where every row sees a key in the first tile that it computes"), "masked_row"},
    {"delta_left_out", "cpu_flash_bwd", marked("Every key pulls, and no key pushes back"),
     marked("dV is right, but dQ and dK are wrong, and the rows of dS do not sum to 0."),
     marked("δ is missing: dS is P · dP, so all weights of a row could rise at once."),
     marked("in rows that see only one key, or where δ happens to be 0"), "random"},
    {"scale_twice", "cpu_flash_bwd", marked("Keys that learn too slowly"),
     marked("dQ and dV are right, but all of dK is too small by the same factor."),
     marked("dK applies the scale twice: once through an already scaled Q, and once at the end."),
     marked("where the scale is 1"), "random"},
    {"dq_race", "cpu_flash_bwd", marked("Part of dQ is lost on the way"),
     marked("dK and dV are right, but dQ lacks the contributions of some key tiles."),
     marked("dQ is read, added to and written without an atomic, so one of two concurrent key tiles loses its "
            "contribution."),
     marked("with one key tile, or on a GPU with lucky timing (here, the first of two tiles is always lost)"),
     "random"},
    {"mask_only_forward", "cpu_flash_bwd", marked("The past learns from the future"),
     marked("Keys that no query could see get gradients."),
     marked("The mask is applied only in the forward pass: recomputed scores are not masked."),
     marked("without a mask, or in tiles that the mask does not cut"), "causal"},
    {"missing_barrier", "flash_simt", marked("Two runs, two answers"),
     marked("The answer differs from run to run, and from the correct one."),
     marked("A barrier is missing: warps read chunks of K that other warps have not copied yet."),
     marked("with lucky timing, which is why a delay in the patch holds back half of the warps"), ""},
    {"stale_k_tile", "flash_wmma", marked("Correct up to one tile's width"),
     marked("Short sequences pass. With more than one key tile, O is wrong but looks plausible."),
     marked("K is one iteration late: from the second key tile on, scores are those of the previous tile, combined "
            "with this tile's V."),
     marked("where all keys fit in one tile, as with short test shapes"), ""},
};

// Four queries over 512 equal keys, one a tile: ℓ counts to 512 by ones.
void show_l_in_bf16(Piece& p) {
  p.problem.Lq = 4;
  p.problem.Lk = 512;
  p.problem.D = p.problem.Dv = 2;
  p.options.br = 4;
  p.options.bc = 1;
  p.generator = Generator::equal_scores;
}

// What a GPU runs: several key tiles of the kernel's default size.
void show_on_gpu(Piece& p, DType dtype) {
  p.problem.Hq = p.problem.Hkv = 4;
  p.problem.Lq = p.problem.Lk = 1024;
  p.problem.D = p.problem.Dv = 64;
  p.problem.dtype = dtype;
}

void choose_problem(const Label& label, Piece& p) {
  if (p.row == nullptr) {
    const auto row = find_kernel(label.right);
    return show_on_gpu(p, row ? (*row)->dtypes.front() : DType::f32);
  }
  const auto preset = find_preset(label.preset);
  if (!preset) return show_l_in_bf16(p);
  p.problem = (*preset)->problem;
  p.problem.pass = p.row->passes.front();
  p.options.br = (*preset)->br;
  p.options.bc = (*preset)->bc;
  p.generator = (*preset)->generator;
  p.seed = (*preset)->seed;
}

class Museum {
 public:
  Museum() {
    for (const Label& label : kLabels) {
      const auto patches = museum_patches();
      const auto patch = std::ranges::find(patches, label.id, &Patch::id);
      if (patch == patches.end()) continue;  // a test holds the two lists together
      Piece p;
      p.id = label.id;
      p.title = label.title;
      p.symptom = label.symptom;
      p.bug = label.bug;
      p.hidden = label.hidden;
      p.right = label.right;
      p.patch = &*patch;
      if (patch->row != nullptr) p.row = &add_row(label, patch->row());
      choose_problem(label, p);
      pieces_.push_back(std::move(p));
    }
  }
  Museum(const Museum&) = delete;
  Museum& operator=(const Museum&) = delete;
  std::span<const Piece> pieces() const { return pieces_; }

 private:
  const KernelRow& add_row(const Label& label, KernelRow row) {
    row.id = ids_.emplace_back(fmt::format("{}{}", kPrefix, label.id));
    row.title = label.title;
    row.rung = "museum";
    row.what = label.symptom;
    row.teaches = label.bug;
    return rows_.emplace_back(row);
  }

  std::deque<std::string> ids_;  // what is in a deque stays where it is
  std::deque<KernelRow> rows_;
  std::vector<Piece> pieces_;
};

}  // namespace

std::span<const Piece> museum() {
  static const Museum kMuseum;
  return kMuseum.pieces();
}

Result<const Piece*> find_piece(std::string_view id) {
  std::vector<std::string_view> ids;
  for (const Piece& p : museum()) {
    if (p.id == id || (p.row != nullptr && p.row->id == id)) return &p;
    ids.push_back(p.id);
  }
  return bad_input(phrase("unknown museum piece '{}'; use {}", id, fmt::join(ids, ", ")));
}

const Piece* piece_of(std::string_view kernel) {
  for (const Piece& p : museum())
    if (p.row != nullptr && p.row->id == kernel) return &p;
  return nullptr;
}

RandomPiece random_piece(std::uint64_t seed) {
  std::vector<const Piece*> run_here;
  for (const Piece& p : museum())
    if (p.row != nullptr && takes_pass(*p.row, Pass::forward)) run_here.push_back(&p);
  std::mt19937_64 random(seed);  // its numbers are the standard's: the same everywhere
  const auto below = [&random](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  RandomPiece drawn;
  // The healthy patient is one among the pieces, no more rare than they.
  const std::size_t which = below(run_here.size() + 1);
  drawn.piece = which < run_here.size() ? run_here[which] : nullptr;
  // More queries than keys: the first rows see no key, one of them within a tile that is computed; the mask cuts tiles;
  // and the many tiles of keys make m rise in some row of every seed.
  drawn.problem.Lq = 20;
  drawn.problem.Lk = 14;
  drawn.problem.D = drawn.problem.Dv = 4;
  drawn.problem.mask.causal = true;
  drawn.options.br = 4;
  drawn.options.bc = 2;
  drawn.generator = Generator::masked_row;
  drawn.seed = 1 + below(kRandomSeeds);
  return drawn;
}

Result<const KernelRow*> find_kernel_or_piece(std::string_view id) {
  if (const Piece* piece = piece_of(id)) return piece->row;
  return find_kernel(id);
}

}  // namespace attn
