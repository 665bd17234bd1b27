// How fast reconstruction is: addresses per second for every kernel, generated on the fly.
//
//     reconstruct_bench ADDRESSES…     one JSON document: for each kernel, and each number of addresses, what was
//     found;
//                                      for the first number also without gamma, that is, without bounds to go by
//
// A kernel's size is chosen so that it has about so many addresses. The kernel runs and fills a block of addresses for
// each reference; only the CPU time inside the Reconstructor counts. Nothing is stored: the largest runs would be 8 GB.
// Every result is checked: one nest, not deeper than the source, with as many addresses as there were.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "reconstruct/kernels_for_test.h"
#include "reconstruct/reconstruct.h"

namespace {

using namespace loopfold::reconstruct;

/// CPU time of this thread: what others do on the machine does not count.
double now() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

constexpr std::size_t kBlock = 4096;

struct Reference {
  explicit Reference(const Options& options) : loops(options) { block.reserve(kBlock); }

  Reconstructor loops;
  std::vector<std::uint64_t> block;
  double seconds = 0;

  void flush() {
    const double begin = now();
    loops.add(block);
    seconds += now() - begin;
    block.clear();
  }
  void finish() {
    flush();
    const double begin = now();
    loops.finish();
    seconds += now() - begin;
  }
};

template <class Kernel>
double addresses_at(kernels::Size n) {
  double count = 0;
  Kernel::run(n, [&](unsigned, std::uint64_t) { count += 1; });
  return count;
}

/// The size at which the kernel has about so many addresses: it grows like a power of n.
template <class Kernel>
kernels::Size size_for(double addresses) {
  const double small = addresses_at<Kernel>(24);
  const double power = std::log2(addresses_at<Kernel>(48) / small);
  return std::max<kernels::Size>(8, static_cast<kernels::Size>(24 * std::pow(addresses / small, 1 / power)));
}

template <class Kernel>
std::string measure(double addresses, bool gamma) {
  const kernels::About about = Kernel::about();
  Options options;
  options.gamma = gamma;
  std::vector<Reference> references;
  for (std::size_t r = 0; r < about.depths.size(); ++r) references.emplace_back(options);
  const kernels::Size n = size_for<Kernel>(addresses);
  Kernel::run(n, [&](unsigned r, std::uint64_t address) {
    references[r].block.push_back(address);
    if (references[r].block.size() == kBlock) references[r].flush();
  });
  Summary all;
  double seconds = 0;
  double slowest = 1e30;
  bool right = true;
  double least = 1;
  for (std::size_t r = 0; r < references.size(); ++r) {
    references[r].finish();
    const Summary& one = references[r].loops.summary();
    right &=
        one.pieces == 1 && one.levels <= about.depths[r] && references[r].loops.pieces()[0].nest.count == one.accesses;
    seconds += references[r].seconds;
    if (one.accesses * references.size() * 8 > all.accesses)
      slowest = std::min(slowest, static_cast<double>(one.accesses) / references[r].seconds);
    all.accesses += one.accesses;
    all.by_bounds += one.by_bounds;
    all.by_stride += one.by_stride;
    all.levels = std::max(all.levels, one.levels);
    all.peak_bytes = std::max(all.peak_bytes, one.peak_bytes);
    least = std::min(least, static_cast<double>(one.by_bounds + one.by_stride) / static_cast<double>(one.accesses));
  }
  const auto total = static_cast<double>(all.accesses);
  return fmt::format(
      "{{\"size\": {}, \"addresses\": {}, \"right\": {}, \"seconds\": {:.6f}, \"per_second\": {:.0f}, \"slowest\": "
      "{:.0f}, "
      "\"levels\": {}, \"bytes\": {}, \"predicted\": {:.6f}, \"predicted_single_stride\": {:.6f}, \"least_predicted\": "
      "{:.6f}}}",
      n, all.accesses, right, seconds, total / seconds, slowest, all.levels, all.peak_bytes,
      static_cast<double>(all.by_bounds) / total, static_cast<double>(all.by_bounds + all.by_stride) / total, least);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  std::string text = "[";
  kernels::for_each_kernel([&]<class Kernel>() {
    text += fmt::format("{}\n{{\"name\": \"{}\", \"references\": {}, \"runs\": [", text.size() > 1 ? "," : "",
                        Kernel::about().name, Kernel::about().depths.size());
    for (int i = 1; i < argc; ++i) text += (i > 1 ? ", " : "") + measure<Kernel>(std::atof(argv[i]), true);
    text += "], \"without_gamma\": " + measure<Kernel>(std::atof(argv[1]), false) + "}";
  });
  fmt::print("{}\n]\n", text);
  return 0;
}
