// Numbers of one's own as text: q.csv with k.csv and v.csv, or pasted ones, become the .npy files that the program
// reads.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/array.h"
#include "kernels/base/result.h"

namespace attn {

// A matrix, one row a line, separated by commas, tabs, semicolons or blanks: [1, 1, rows, columns].
Result<Array> matrix_of_text(std::string_view text, const std::string& name);
// None where no file is a CSV. Q, K, V and the bias ("" without one): by their names' first letters; or one file with
// three matrices, an empty line between two. The .npy files lie beside them.
std::optional<Result<std::array<std::string, 4>>> arrays_of_numbers(const std::vector<std::string>& files);

}  // namespace attn
