// The bug museum: kernels that are wrong on purpose, each a right one with one place changed, really run. They have a
// table of their own: the ladder, and so `list`, Bench and the options of a sweep, do not know them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/base/result.h"
#include "kernels/model/inputs/input_spec.h"
#include "kernels/model/kernel.h"
#include "kernels/museum/patches.h"

namespace attn {

struct Piece {
  std::string_view id;       // "alpha_on_l_only": the command line's
  std::string_view title;    // what the window calls it: what one sees, not why
  std::string_view symptom;  // one sentence
  std::string_view bug;      // one sentence: what is wrong; told when asked for
  std::string_view hidden;   // where it does not show
  std::string_view right;    // id of the kernel that it was made of
  const Patch* patch = nullptr;
  // Of a CPU piece: runs and is recorded as the right one is, on any input; its id is "museum_" and the piece's.
  // Null for CUDA, which needs a GPU.
  const KernelRow* row = nullptr;
  // A problem that shows it.
  Problem problem;
  Options options;
  Generator generator = Generator::normal;
  std::uint64_t seed = 1;
};
std::span<const Piece> museum();
// By the piece's id or its kernel's; the error lists the ids there are.
Result<const Piece*> find_piece(std::string_view id);
// The piece whose kernel this is; null for every kernel of the ladder.
const Piece* piece_of(std::string_view kernel);
// What a seed draws: a CPU piece of a forward, or the healthy patient, which is the right kernel, and the seed of its
// numbers. All are shown on one problem, on which each piece is wrong whatever the seed, so that the problem hints at
// none. The same seed draws the same.
struct RandomPiece {
  const Piece* piece = nullptr;  // null: the healthy patient
  Problem problem;
  Options options;
  Generator generator = Generator::normal;
  std::uint64_t seed = 1;  // of the numbers
};
constexpr std::uint64_t kRandomSeeds = 1000;  // seeds of numbers are 1 to that
constexpr std::string_view kHealthyPatient = "cpu_flash";
RandomPiece random_piece(std::uint64_t seed);
// A kernel of the ladder, or of a piece: what Step can show.
Result<const KernelRow*> find_kernel_or_piece(std::string_view id);

}  // namespace attn
