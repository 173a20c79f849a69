#include "kernels/orders/hopper/recorded.h"

namespace attn::orders::hopper {
namespace {

using enum State;

// At, state, consumer, visit, slot.
// clang-format off
constexpr Stamp kStamps[] = {
    {577, take_rows, 1, -1, -1}, {588, take_rows, 0, -1, -1}, {1754, wait_q, 1, -1, -1}, {1775, wait_q, 0, -1, -1},
    {1901, ask_q, 0, -1, -1}, {1930, wait_slot_k, -1, 0, 0}, {2097, ask_k, -1, 0, 0}, {2276, ask_q, 1, -1, -1},
    {2283, wait_slot_v, -1, 0, 1}, {2353, ask_v, -1, 0, 1}, {2525, wait_slot_k, -1, 1, 2}, {2602, ask_k, -1, 1, 2},
    {2750, wait_slot_v, -1, 1, 3}, {2820, ask_v, -1, 1, 3}, {2992, wait_slot_k, -1, 2, 0}, {5245, wait_k, 0, 0, 0},
    {6246, wait_turn, 0, 0, -1}, {6265, issue_s, 0, 0, 0}, {6404, wait_s, 0, 0, 0}, {6861, maximum, 0, 0, 0},
    {7146, weights, 0, 0, -1}, {7710, wait_v, 0, 0, 1}, {8621, issue_o, 0, 0, 1}, {8655, wait_k, 1, 0, 0},
    {8759, wait_turn, 1, 0, -1}, {8787, issue_s, 1, 0, 0}, {8887, wait_o, 0, 0, 1}, {9341, wait_s, 1, 0, 0},
    {9448, wait_k, 0, 1, 2}, {9798, maximum, 1, 0, 0}, {9895, ask_k, -1, 2, 0}, {10075, wait_slot_v, -1, 2, 1},
    {10125, weights, 1, 0, -1}, {10655, wait_turn, 0, 1, -1}, {10673, issue_s, 0, 1, 2}, {10696, wait_v, 1, 0, 1},
    {10762, issue_o, 1, 0, 1}, {10827, wait_s, 0, 1, 2}, {11280, maximum, 0, 1, 2}, {11330, wait_o, 1, 0, 1},
    {11736, weights, 0, 1, -1}, {11919, ask_v, -1, 2, 1}, {11970, wait_k, 1, 1, 2}, {12075, wait_turn, 1, 1, -1},
    {12094, issue_s, 1, 1, 2}, {12141, wait_slot_k, -1, 3, 2}, {12261, wait_s, 1, 1, 2}, {12614, wait_v, 0, 1, 3},
    {12678, issue_o, 0, 1, 3}, {12711, maximum, 1, 1, 2}, {12767, ask_k, -1, 3, 2}, {12907, wait_o, 0, 1, 3},
    {13113, wait_slot_v, -1, 3, 3}, {13212, weights, 1, 1, -1}, {13452, wait_k, 0, 2, 0},
    {13557, wait_turn, 0, 2, -1}, {13577, issue_s, 0, 2, 0}, {13728, wait_s, 0, 2, 0}, {14041, wait_v, 1, 1, 3},
    {14105, issue_o, 1, 1, 3}, {14182, maximum, 0, 2, 0}, {14265, wait_o, 1, 1, 3}, {14637, weights, 0, 2, -1},
    {14843, ask_v, -1, 3, 3}, {14894, wait_k, 1, 2, 0}, {15005, wait_turn, 1, 2, -1}, {15028, issue_s, 1, 2, 0},
    {15056, wait_slot_k, -1, 4, 0}, {15182, wait_s, 1, 2, 0}, {15524, wait_v, 0, 2, 1}, {15588, issue_o, 0, 2, 1},
    {15636, maximum, 1, 2, 0}, {15693, ask_k, -1, 4, 0}, {15817, wait_o, 0, 2, 1}, {16045, wait_slot_v, -1, 4, 1},
    {16144, weights, 1, 2, -1}, {16366, wait_k, 0, 3, 2}, {16473, wait_turn, 0, 3, -1}, {16493, issue_s, 0, 3, 2},
    {16646, wait_s, 0, 3, 2}, {16964, wait_v, 1, 2, 1}, {17028, issue_o, 1, 2, 1}, {17093, maximum, 0, 3, 2},
    {17213, wait_o, 1, 2, 1}, {17552, weights, 0, 3, -1}, {17765, ask_v, -1, 4, 1}, {17814, wait_k, 1, 3, 2},
    {17921, wait_turn, 1, 3, -1}, {17944, issue_s, 1, 3, 2}, {17973, wait_slot_k, -1, 5, 2}, {18099, wait_s, 1, 3, 2},
    {18452, wait_v, 0, 3, 3}, {18516, issue_o, 0, 3, 3}, {18549, maximum, 1, 3, 2}, {18607, ask_k, -1, 5, 2},
    {18727, wait_o, 0, 3, 3}, {18963, wait_slot_v, -1, 5, 3}, {19058, weights, 1, 3, -1}, {19292, wait_k, 0, 4, 0},
    {19397, wait_turn, 0, 4, -1}, {19417, issue_s, 0, 4, 0}, {19568, wait_s, 0, 4, 0}, {19881, wait_v, 1, 3, 3},
    {19945, issue_o, 1, 3, 3}, {20022, maximum, 0, 4, 0}, {20105, wait_o, 1, 3, 3}, {20477, weights, 0, 4, -1},
    {20686, ask_v, -1, 5, 3}, {20739, wait_k, 1, 4, 0}, {20846, wait_turn, 1, 4, -1}, {20868, issue_s, 1, 4, 0},
    {20895, wait_slot_k, -1, 6, 0}, {21028, wait_s, 1, 4, 0}, {21350, wait_v, 0, 4, 1}, {21414, issue_o, 0, 4, 1},
    {21479, maximum, 1, 4, 0}, {21537, ask_k, -1, 6, 0}, {21611, wait_o, 0, 4, 1}, {21879, wait_slot_v, -1, 6, 1},
    {21982, weights, 1, 4, -1}, {22200, wait_k, 0, 5, 2}, {22307, wait_turn, 0, 5, -1}, {22327, issue_s, 0, 5, 2},
    {22480, wait_s, 0, 5, 2}, {22798, wait_v, 1, 4, 1}, {22862, issue_o, 1, 4, 1}, {22927, maximum, 0, 5, 2},
    {23047, wait_o, 1, 4, 1}, {23386, weights, 0, 5, -1}, {23599, ask_v, -1, 6, 1}, {23648, wait_k, 1, 5, 2},
    {23755, wait_turn, 1, 5, -1}, {23778, issue_s, 1, 5, 2}, {23807, wait_slot_k, -1, 7, 2}, {23933, wait_s, 1, 5, 2},
    {24290, wait_v, 0, 5, 3}, {24354, issue_o, 0, 5, 3}, {24387, maximum, 1, 5, 2}, {24445, ask_k, -1, 7, 2},
    {24565, wait_o, 0, 5, 3}, {24801, wait_slot_v, -1, 7, 3}, {24896, weights, 1, 5, -1}, {25125, wait_k, 0, 6, 0},
    {25232, wait_turn, 0, 6, -1}, {25252, issue_s, 0, 6, 0}, {25405, wait_s, 0, 6, 0}, {25723, wait_v, 1, 5, 3},
    {25787, issue_o, 1, 5, 3}, {25852, maximum, 0, 6, 0}, {25972, wait_o, 1, 5, 3}, {26311, weights, 0, 6, -1},
    {26525, ask_v, -1, 7, 3}, {26574, wait_k, 1, 6, 0}, {26681, wait_turn, 1, 6, -1}, {26700, issue_s, 1, 6, 0},
    {26857, wait_s, 1, 6, 0}, {27293, wait_v, 0, 6, 1}, {27322, maximum, 1, 6, 0}, {27355, issue_o, 0, 6, 1},
    {27600, wait_o, 0, 6, 1}, {27697, weights, 1, 6, -1}, {28111, wait_k, 0, 7, 2}, {28225, wait_turn, 0, 7, -1},
    {28245, issue_s, 0, 7, 2}, {28394, wait_s, 0, 7, 2}, {28643, wait_v, 1, 6, 1}, {28707, issue_o, 1, 6, 1},
    {28848, maximum, 0, 7, 2}, {28899, wait_o, 1, 6, 1}, {29304, weights, 0, 7, -1}, {29515, wait_k, 1, 7, 2},
    {29631, wait_turn, 1, 7, -1}, {29650, issue_s, 1, 7, 2}, {29799, wait_s, 1, 7, 2}, {30144, wait_v, 0, 7, 3},
    {30208, issue_o, 0, 7, 3}, {30256, maximum, 1, 7, 2}, {30409, wait_o, 0, 7, 3}, {30716, weights, 1, 7, -1},
    {30927, store, 0, -1, -1}, {31444, wait_v, 1, 7, 3}, {31503, issue_o, 1, 7, 3}, {31693, wait_o, 1, 7, 3},
    {32185, store, 1, -1, -1}, {33185, done, 0, -1, -1}, {34124, done, 1, -1, -1},
};

constexpr Stamp kWithoutTurns[] = {
    {717, take_rows, 0, -1, -1}, {722, take_rows, 1, -1, -1}, {1698, wait_q, 1, -1, -1}, {1712, wait_q, 0, -1, -1},
    {1819, ask_q, 0, -1, -1}, {1875, wait_slot_k, -1, 0, 0}, {2027, ask_k, -1, 0, 0}, {2185, ask_q, 1, -1, -1},
    {2222, wait_slot_v, -1, 0, 1}, {2292, ask_v, -1, 0, 1}, {2464, wait_slot_k, -1, 1, 2}, {2541, ask_k, -1, 1, 2},
    {2689, wait_slot_v, -1, 1, 3}, {2759, ask_v, -1, 1, 3}, {2931, wait_slot_k, -1, 2, 0}, {5144, wait_k, 0, 0, 0},
    {6023, issue_s, 0, 0, 0}, {6149, wait_s, 0, 0, 0}, {6609, maximum, 0, 0, 0}, {6947, weights, 0, 0, -1},
    {7079, wait_k, 1, 0, 0}, {7163, issue_s, 1, 0, 0}, {7293, wait_s, 1, 0, 0}, {7739, wait_v, 0, 0, 1},
    {7751, maximum, 1, 0, 0}, {7848, ask_k, -1, 2, 0}, {8028, wait_slot_v, -1, 2, 1}, {8078, weights, 1, 0, -1},
    {8367, issue_o, 0, 0, 1}, {8578, wait_o, 0, 0, 1}, {8703, wait_v, 1, 0, 1}, {8767, issue_o, 1, 0, 1},
    {9073, wait_o, 1, 0, 1}, {9158, wait_k, 0, 1, 2}, {9617, ask_v, -1, 2, 1}, {9646, wait_k, 1, 1, 2},
    {9811, wait_slot_k, -1, 3, 2}, {10503, issue_s, 0, 1, 2}, {10507, issue_s, 1, 1, 2}, {11022, wait_s, 1, 1, 2},
    {11150, wait_s, 0, 1, 2}, {11485, maximum, 1, 1, 2}, {11622, maximum, 0, 1, 2}, {11676, ask_k, -1, 3, 2},
    {11885, wait_slot_v, -1, 3, 3}, {11929, weights, 1, 1, -1}, {12090, weights, 0, 1, -1}, {12995, wait_v, 1, 1, 3},
    {13052, issue_o, 1, 1, 3}, {13155, wait_v, 0, 1, 3}, {13213, issue_o, 0, 1, 3}, {13278, wait_o, 1, 1, 3},
    {13773, wait_o, 0, 1, 3}, {13858, wait_k, 1, 2, 0}, {13954, issue_s, 1, 2, 0}, {14285, wait_s, 1, 2, 0},
    {14326, ask_v, -1, 3, 3}, {14369, wait_k, 0, 2, 0}, {14458, issue_s, 0, 2, 0}, {14561, wait_slot_k, -1, 4, 0},
    {14748, maximum, 1, 2, 0}, {14801, wait_s, 0, 2, 0}, {15224, weights, 1, 2, -1}, {15326, maximum, 0, 2, 0},
    {15379, ask_k, -1, 4, 0}, {15596, wait_slot_v, -1, 4, 1}, {15694, weights, 0, 2, -1}, {16104, wait_v, 1, 2, 1},
    {16165, issue_o, 1, 2, 1}, {16333, wait_o, 1, 2, 1}, {16669, wait_v, 0, 2, 1}, {16733, issue_o, 0, 2, 1},
    {16894, wait_o, 0, 2, 1}, {16909, wait_k, 1, 3, 2}, {17006, issue_s, 1, 3, 2}, {17393, wait_s, 1, 3, 2},
    {17434, ask_v, -1, 4, 1}, {17477, wait_k, 0, 3, 2}, {17566, issue_s, 0, 3, 2}, {17669, wait_slot_k, -1, 5, 2},
    {17856, maximum, 1, 3, 2}, {17905, wait_s, 0, 3, 2}, {18328, weights, 1, 3, -1}, {18433, maximum, 0, 3, 2},
    {18488, ask_k, -1, 5, 2}, {18722, wait_slot_v, -1, 5, 3}, {18805, weights, 0, 3, -1}, {19185, wait_v, 1, 3, 3},
    {19242, issue_o, 1, 3, 3}, {19417, wait_o, 1, 3, 3}, {19770, wait_v, 0, 3, 3}, {19834, issue_o, 0, 3, 3},
    {19989, wait_k, 1, 4, 0}, {20008, wait_o, 0, 3, 3}, {20091, issue_s, 1, 4, 0}, {20501, wait_s, 1, 4, 0},
    {20542, ask_v, -1, 5, 3}, {20585, wait_k, 0, 4, 0}, {20674, issue_s, 0, 4, 0}, {20777, wait_slot_k, -1, 6, 0},
    {20964, maximum, 1, 4, 0}, {21017, wait_s, 0, 4, 0}, {21440, weights, 1, 4, -1}, {21542, maximum, 0, 4, 0},
    {21596, ask_k, -1, 6, 0}, {21813, wait_slot_v, -1, 6, 1}, {21911, weights, 0, 4, -1}, {22321, wait_v, 1, 4, 1},
    {22382, issue_o, 1, 4, 1}, {22551, wait_o, 1, 4, 1}, {22887, wait_v, 0, 4, 1}, {22951, issue_o, 0, 4, 1},
    {23112, wait_o, 0, 4, 1}, {23127, wait_k, 1, 5, 2}, {23224, issue_s, 1, 5, 2}, {23611, wait_s, 1, 5, 2},
    {23652, ask_v, -1, 6, 1}, {23695, wait_k, 0, 5, 2}, {23784, issue_s, 0, 5, 2}, {23887, wait_slot_k, -1, 7, 2},
    {24074, maximum, 1, 5, 2}, {24127, wait_s, 0, 5, 2}, {24550, weights, 1, 5, -1}, {24653, maximum, 0, 5, 2},
    {24706, ask_k, -1, 7, 2}, {24923, wait_slot_v, -1, 7, 3}, {25021, weights, 0, 5, -1}, {25431, wait_v, 1, 5, 3},
    {25492, issue_o, 1, 5, 3}, {25660, wait_o, 1, 5, 3}, {25996, wait_v, 0, 5, 3}, {26060, issue_o, 0, 5, 3},
    {26221, wait_o, 0, 5, 3}, {26236, wait_k, 1, 6, 0}, {26336, issue_s, 1, 6, 0}, {26720, wait_s, 1, 6, 0},
    {26761, ask_v, -1, 7, 3}, {26804, wait_k, 0, 6, 0}, {26893, issue_s, 0, 6, 0}, {27183, maximum, 1, 6, 0},
    {27232, wait_s, 0, 6, 0}, {27710, weights, 1, 6, -1}, {27799, maximum, 0, 6, 0}, {28108, weights, 0, 6, -1},
    {28549, wait_v, 1, 6, 1}, {28606, issue_o, 1, 6, 1}, {28814, wait_o, 1, 6, 1}, {29083, wait_v, 0, 6, 1},
    {29147, issue_o, 0, 6, 1}, {29310, wait_o, 0, 6, 1}, {29398, wait_k, 1, 7, 2}, {29497, issue_s, 1, 7, 2},
    {29821, wait_s, 1, 7, 2}, {29886, wait_k, 0, 7, 2}, {29974, issue_s, 0, 7, 2}, {30284, maximum, 1, 7, 2},
    {30337, wait_s, 0, 7, 2}, {30760, weights, 1, 7, -1}, {30862, maximum, 0, 7, 2}, {31174, weights, 0, 7, -1},
    {31615, wait_v, 1, 7, 3}, {31672, issue_o, 1, 7, 3}, {31848, wait_o, 1, 7, 3}, {32157, wait_v, 0, 7, 3},
    {32221, issue_o, 0, 7, 3}, {32379, store, 1, -1, -1}, {32392, wait_o, 0, 7, 3}, {32911, store, 0, -1, -1},
    {34519, done, 1, -1, -1}, {35041, done, 0, -1, -1},
};
// clang-format on

// Of the same launch but for its step.
constexpr RecordedBlock recorded(std::int32_t step, std::int32_t clocks, double ns_a_clock,
                                 std::span<const Stamp> stamps) {
  return {.kernel = "flash_hopper",
          .source_hash = "28146ce3d7461a4b8d9c20b2fdc3776d",
          .device = "NVIDIA H100 80GB HBM3",
          .L = 1024,
          .D = 128,
          .rows = 128,
          .keys = 128,
          .step = step,
          .consumers = 2,
          .key_tiles = 8,
          .slots = 4,
          .clocks = clocks,
          .copy = 1631,
          .ns_a_clock = ns_a_clock,
          .stamps = stamps};
}

}  // namespace

const RecordedBlock& recorded_block() {
  static constexpr RecordedBlock kBlock = recorded(3, 34375, 0.5843468271551434, kStamps);
  return kBlock;
}

const RecordedBlock& recorded_without_turns() {
  static constexpr RecordedBlock kBlock = recorded(2, 35300, 0.5888012622326769, kWithoutTurns);
  return kBlock;
}

}  // namespace attn::orders::hopper
