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
// clang-format on

}  // namespace

const RecordedBlock& recorded_block() {
  static constexpr RecordedBlock kBlock{.kernel = "flash_hopper",
                                        .source_hash = "28146ce3d7461a4b8d9c20b2fdc3776d",
                                        .device = "NVIDIA H100 80GB HBM3",
                                        .L = 1024,
                                        .D = 128,
                                        .rows = 128,
                                        .keys = 128,
                                        .step = 3,
                                        .consumers = 2,
                                        .key_tiles = 8,
                                        .slots = 4,
                                        .clocks = 34375,
                                        .copy = 1062,
                                        .ns_a_clock = 0.5843468271551434,
                                        .stamps = kStamps};
  return kBlock;
}

}  // namespace attn::orders::hopper
