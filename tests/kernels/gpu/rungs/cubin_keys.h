// As the program names its cubins: the key of one compile a rung. A rung is stored here once bundled files hold it
// (tests/profiling/session/bundled_hashes_test.cpp asks for each). A stored value is never brought up to date: what was
// measured and compiled before would be lost.
#pragma once

#include <string_view>

namespace attn::test {

struct CubinKeys {
  std::string_view id, plain, capped;  // capped: with a softcap, whose lines count besides, or "refused"
};
inline constexpr CubinKeys kCubinKeys[] = {
    {"naive", "36ccdc31662a15b2de23579268d81c60", "aabb949f294020f233cc603500c9ebe8"},
    {"tiled", "b8de349f1bd71e9ada34280644d31f0c", "20d47f91b59f5172366fdfc4e2745834"},
    {"flash_simt", "3a99f60f2e7b07eacb62aba628ea63a4", "b0603124642fe3e4b424b1c2ca946db2"},
    {"flash_wmma", "0994c8b6b139be5ee4fbf1007157118c", "3970d366727d2f214ee06aec092194a7"},
    {"flash_mma", "2f099a802608e31d86691a9ece63b683", "ff923c0da9adeaead01cea4ab6c35f88"},
    {"flash_hopper", "50fb06f17820014dcb504de0ee844987", "10225be238c8a12d4d59e2560a683093"},
    {"flash_tf32x3", "c065979b4dc52450949807af044e9de6", "77742b70a7b60d7010624a0059ae2d4e"},
    {"flash_bwd", "a21efe883077fb46340791bbd8017fe4", "10f6ea3fb04b7a661a2e869f9ea6e268"},
    {"flash_bwd_hopper", "5b2a1ed4409a6e4aad5fcc1bdbd5383c", "refused"},
};

}  // namespace attn::test
