// Drives a fuzz target without libFuzzer, so that every compiler's build tests it:
// replays each file of the corpus folders and files named, then seeded mutations of them.
//
//   fuzz_NAME [--mutations N] [--seconds S] [--least N] FOLDER_OR_FILE...
//
// Fewer mutations than --least within the seconds are a failure.
//
// A crash leaves the input that caused it in fuzz_NAME.crash in the current folder.

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

using Bytes = std::vector<uint8_t>;
using Clock = std::chrono::steady_clock;

// What a signal handler may touch: plain globals.
const uint8_t* g_input = nullptr;
size_t g_input_size = 0;
char g_crash_path[512] = "fuzz.crash";

void save_crash(int signal_number) {
  const int file = open(g_crash_path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file >= 0) {
    size_t done = 0;
    while (done < g_input_size) {
      const ssize_t n = write(file, g_input + done, g_input_size - done);
      if (n <= 0) break;
      done += static_cast<size_t>(n);
    }
    close(file);
  }
  std::signal(signal_number, SIG_DFL);
  std::raise(signal_number);
}

void run(const Bytes& input) {
  // An exact copy on the heap: a read past the end is seen by the address sanitizer.
  std::vector<uint8_t> exact(input);
  exact.shrink_to_fit();
  g_input = exact.data();
  g_input_size = exact.size();
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
  g_input = nullptr;
  g_input_size = 0;
}

// xorshift64*: small, and the same everywhere.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ull + 1) {}
  uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545F4914F6CDD1Dull;
  }
  size_t below(size_t n) { return n == 0 ? 0 : static_cast<size_t>(next() % n); }

 private:
  uint64_t state_;
};

void mutate_once(Bytes& bytes, const std::vector<Bytes>& corpus, Random& random) {
  static constexpr uint64_t kEdges[] = {
      0, 1, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 0x7FFFFFFFFFFFFFFFull, ~0ull, 0x8000, 0x80000000};
  const size_t at = random.below(bytes.size());
  switch (random.below(9)) {
    case 0:  // one bit
      if (!bytes.empty()) bytes[at] = static_cast<uint8_t>(bytes[at] ^ (1u << random.below(8)));
      break;
    case 1:  // one byte
      if (!bytes.empty()) bytes[at] = static_cast<uint8_t>(random.next());
      break;
    case 2: {  // an edge value of some width
      const uint64_t value = kEdges[random.below(std::size(kEdges))];
      const size_t width = size_t{1} << random.below(4);
      if (bytes.size() >= width) std::memcpy(bytes.data() + random.below(bytes.size() - width + 1), &value, width);
      break;
    }
    case 3:  // truncated
      bytes.resize(at);
      break;
    case 4: {  // a piece out
      const size_t length = std::min(bytes.size() - at, 1 + random.below(64));
      const auto from = bytes.begin() + static_cast<std::ptrdiff_t>(at);
      bytes.erase(from, from + static_cast<std::ptrdiff_t>(length));
      break;
    }
    case 5: {  // a piece twice
      const size_t length = std::min(bytes.size() - at, 1 + random.below(64));
      const Bytes piece(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                        bytes.begin() + static_cast<std::ptrdiff_t>(at + length));
      bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), piece.begin(), piece.end());
      break;
    }
    case 6: {  // random bytes in
      const size_t length = 1 + random.below(16);
      Bytes piece(length);
      for (uint8_t& byte : piece) byte = static_cast<uint8_t>(random.next());
      bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), piece.begin(), piece.end());
      break;
    }
    case 7: {  // the head of one input, the tail of another
      const Bytes& other = corpus[random.below(corpus.size())];
      const size_t cut = random.below(other.size());
      bytes.resize(at);
      bytes.insert(bytes.end(), other.begin() + static_cast<std::ptrdiff_t>(cut), other.end());
      break;
    }
    default: {  // a digit changed: in text formats most of what matters is numbers
      for (size_t i = 0; i < bytes.size(); ++i) {
        uint8_t& byte = bytes[(at + i) % bytes.size()];
        if (byte >= '0' && byte <= '9') {
          static constexpr char kReplacements[] = "0123456789-.eE";
          byte = static_cast<uint8_t>(kReplacements[random.below(sizeof(kReplacements) - 1)]);
          break;
        }
      }
      break;
    }
  }
}

Bytes read_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    std::fprintf(stderr, "cannot read %s\n", path.c_str());
    std::exit(2);
  }
  return Bytes(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
}

}  // namespace

int main(int argc, char** argv) {
  size_t mutations = 20000;
  double seconds = 20;
  size_t least = 0;
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--mutations" && i + 1 < argc) {
      mutations = std::strtoull(argv[++i], nullptr, 10);
    } else if (argument == "--least" && i + 1 < argc) {
      least = std::strtoull(argv[++i], nullptr, 10);
    } else if (argument == "--seconds" && i + 1 < argc) {
      seconds = std::strtod(argv[++i], nullptr);
    } else if (std::filesystem::is_directory(argument)) {
      for (const auto& entry : std::filesystem::recursive_directory_iterator(argument))
        if (entry.is_regular_file()) files.push_back(entry.path());
    } else if (std::filesystem::exists(argument)) {
      files.emplace_back(argument);
    } else {
      std::fprintf(stderr, "no such corpus: %s (mutating the empty input)\n", argument.c_str());
    }
  }
  const std::string name = std::filesystem::path(argv[0]).filename().string();
  std::snprintf(g_crash_path, sizeof(g_crash_path), "%s.crash", name.c_str());
  for (const int signal_number : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL}) std::signal(signal_number, save_crash);

  std::sort(files.begin(), files.end());
  std::vector<Bytes> corpus;
  for (const auto& file : files) corpus.push_back(read_file(file));
  corpus.emplace_back();
  for (const Bytes& input : corpus) run(input);

  const auto start = Clock::now();
  Random random(1);
  size_t done = 0;
  for (; done < mutations; ++done) {
    if (std::chrono::duration<double>(Clock::now() - start).count() > seconds) break;
    Bytes input = corpus[done % corpus.size()];
    for (size_t i = 0, times = 1 + random.below(6); i < times; ++i) mutate_once(input, corpus, random);
    run(input);
  }
  struct rusage use {};
  getrusage(RUSAGE_SELF, &use);  // Linux: KiB
  std::printf("%s: %zu inputs, %zu mutations, peak memory %ld MiB\n", name.c_str(), corpus.size(), done,
              use.ru_maxrss / 1024);
  if (done < least) std::printf("%s: fewer than the %zu mutations asked for\n", name.c_str(), least);
  return done < least ? 1 : 0;
}
