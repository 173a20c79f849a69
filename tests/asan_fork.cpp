// A forked child of a process with threads may allocate: the doubles of the workers are such children. glibc's malloc
// is made for it; the address sanitizer's takes its locks around a fork from clang 18 on alone (its asan_posix.cpp,
// InstallAtForkHandler), and before that a child hangs whenever another thread allocated while it was forked. So the
// tests take the same locks, in the same order. Compiled for the sanitizer of older clangs only (tests/CMakeLists.txt).
#include <pthread.h>

// The sanitizer's own functions, linked into the program with it (lsan_common.h, sanitizer_stackdepot.h).
namespace __lsan {  // NOLINT(bugprone-reserved-identifier)
void LockThreadRegistry();
void UnlockThreadRegistry();
void LockAllocator();
void UnlockAllocator();
}  // namespace __lsan
namespace __sanitizer {  // NOLINT(bugprone-reserved-identifier)
void StackDepotLockAll();
void StackDepotUnlockAll();
}  // namespace __sanitizer

namespace attn {
namespace {

void lock_all() {
  __lsan::LockThreadRegistry();
  __lsan::LockAllocator();
  __sanitizer::StackDepotLockAll();
}

void unlock_all() {
  __sanitizer::StackDepotUnlockAll();
  __lsan::UnlockAllocator();
  __lsan::UnlockThreadRegistry();
}

// Before main(): no other thread is there yet.
[[gnu::constructor]] void install() {
  pthread_atfork(lock_all, unlock_all, unlock_all);
}

}  // namespace
}  // namespace attn
