// Compiles programs whose comments say what their loops are to be called: a line with "// loop" (or "! loop") must name
// a loop of the machine code, and no loop may have another line.
#include "symbols/loop_source.h"

#include <fmt/core.h>

#include <set>

#include "symbols/compile_for_test.h"
#include "symbols/loops_for_test.h"

namespace loopfold::symbols {
namespace {

constexpr std::uint64_t kBias = 0x555500000000;

class LoopSourceTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!is_installed("gcc")) GTEST_SKIP();
  }

  /// Compiles the source; all its loops, by the functions that are written in it.
  void build(const std::string& file, const std::string& source, const std::string& command) {
    source_ = source;
    directory_.write(file, source);
    directory_.run(command + " -g " + file + " -o demo");
    const trace::Module demo = directory_.module("demo", kBias);
    symbolizer_.emplace(std::vector{demo});
    const std::string bytes = read_whole(demo.path);
    const Result<ElfFile> elf = inspect_elf(demo.path);
    loops_.clear();
    for (const ElfFile::Segment& segment : elf->segments) {
      if (!segment.executable) continue;
      for (std::uint64_t at = segment.address; at < segment.address + segment.file_size; ++at) {
        const std::uint64_t start = at + demo.load_bias;
        if (!symbolizer_->is_function_start(start) || symbolizer_->in_plt(start)) continue;
        const std::vector<Frame>& frames = symbolizer_->locate(start).frames;
        if (frames.empty() || frames.back().file != directory_.file(file)) continue;
        const FunctionRange range = symbolizer_->function_range(start).value();
        const auto* code =
            reinterpret_cast<const unsigned char*>(bytes.data()) + segment.file_offset + (at - segment.address);
        for (LoopAddresses& loop : loops_for_test({code, range.end - range.start}, start)) loops_.push_back(loop);
      }
    }
  }

  std::set<int> expected_lines(const std::string& mark) const {
    std::set<int> lines;
    std::istringstream in(source_);
    int number = 0;
    for (std::string line; std::getline(in, line);) {
      ++number;
      if (line.find(mark) != std::string::npos) lines.insert(number);
    }
    return lines;
  }

  /// All loops must have a name, except in `main`, where compilers put some of their own.
  std::vector<LoopSource> sources() {
    std::vector<LoopSource> result;
    for (const LoopAddresses& loop : loops_) {
      const std::optional<LoopSource> source = name_loop(*symbolizer_, loop);
      const std::string& function = symbolizer_->locate(loop.header).function;
      EXPECT_TRUE(source.has_value() || function.ends_with("main")) << function;
      if (source) result.push_back(*source);
    }
    return result;
  }

  std::set<int> found_lines(const std::string& file) {
    std::set<int> lines;
    for (const LoopSource& source : sources()) {
      EXPECT_EQ(source.file, directory_.file(file)) << source.line;
      lines.insert(source.line);
    }
    return lines;
  }

  TemporaryDirectory directory_;
  std::string source_;
  std::optional<Symbolizer> symbolizer_;
  std::vector<LoopAddresses> loops_;
};

constexpr const char* kC = R"(#include <stdlib.h>
#define NOINLINE __attribute__((noinline))
NOINLINE int plain(int* a, int n) {
  int s = 0;
  for (int i = 0; i < n; i++) {  // loop
    s += a[i] * 3;
    a[i] = s;
  }
  return s;
}
NOINLINE int with_while(int n) {
  int k = 0;
  while (k * k < n) {  // loop
    k++;
    if (n % k == 3)
      n += 2;
  }
  return k;
}
NOINLINE int with_do(int* a, int n) {
  int k = 0;
  do {
    a[k] = k ^ n;
    k += 3;
  } while (k < n);  // loop
  return k;
}
NOINLINE int with_continue(int* a, int n) {
  int s = 0;
  for (int i = 0; i < n; i++) {  // loop
    if (a[i] < 0)
      continue;
    if (a[i] == 77)
      break;
    s += a[i] / 3;
    s ^= s << 3;
  }
  return s;
}
NOINLINE void nest(double* c, double* a, double* b, int n) {
  for (int i = 0; i < n; i++)  // loop
    for (int j = 0; j < n; j++) {  // loop
      double s = 0;
      for (int k = 0; k < n; k++)  // loop
        s += a[i * n + k] * b[k * n + j];
      c[i * n + j] = s;
    }
}
struct list { struct list* next; int v; };
NOINLINE int of_list(struct list* l) {
  int s = 0;
  for (; l; l = l->next)  // loop
    s += l->v;
  return s;
}
static inline int helper(int* a, int n) {
  int s = 0;
  for (int i = 0; i < n; i++)  // loop
    s += a[i] ^ i;
  return s;
}
NOINLINE int inlined(int* a, int n) {
  int t = 0;
  for (int r = 0; r < n; r++) {  // loop
    t += helper(a + r, n);
    t ^= helper(a, n - r);
  }
  return t;
}
NOINLINE int search(int* a, int n, int key) {
  int i = 0;
  while (i < n &&  // loop
         a[i] != key)
    i++;
  return i;
}
int main(int c, char** v) {
  (void)v;
  int* a = calloc(1000, 4);
  double* d = calloc(3000, 8);
  struct list x = {0, c};
  nest(d, d + 1000, d + 2000, c);
  return plain(a, c) + with_while(c) + with_do(a, c) + with_continue(a, c) + of_list(&x) + inlined(a, c) + search(a, c, 3);
}
)";

TEST_F(LoopSourceTest, C) {
  for (const char* command : {"gcc -O0", "gcc -O1", "gcc -O2", "gcc -O3", "gcc -O3 -march=haswell", "gcc -Os",
                              "clang -O0", "clang -O1", "clang -O2", "clang -O3 -gdwarf-4"}) {
    if (!is_installed(std::string(command).substr(0, std::string(command).find(' ')))) continue;
    SCOPED_TRACE(command);
    build("demo.c", kC, command);
    std::set<int> expected = expected_lines("// loop");
    const std::set<int> found = found_lines("demo.c");
    // At -O3 a loop may be unrolled completely, or have two entries, which loops_for_test does not find.
    if (std::string(command).find("-O3") != std::string::npos) {
      std::erase_if(expected, [&](int line) { return !found.contains(line); });
      EXPECT_GE(expected.size(), 9u);
    }
    EXPECT_EQ(found, expected);
  }
}

/// GCC has the line of the condition, clang that of the `for`.
TEST_F(LoopSourceTest, HeadOfSeveralLines) {
  const std::string source =
      "int work(int* a, int n) {\n  int s = 0;\n"
      "  for (int i = 0;   // clang\n       i < n;  // gcc\n       i += 2)\n    s += a[i] ^ s;\n  return s;\n}\n"
      "int main(int c, char** v) { return work((int*)v, c); }\n";
  for (const char* level : {"-O0", "-O1", "-O2"}) {
    SCOPED_TRACE(level);
    build("demo.c", source, std::string("gcc ") + level);
    EXPECT_EQ(found_lines("demo.c"), expected_lines("// gcc"));
    if (!is_installed("clang")) continue;
    build("demo.c", source, std::string("clang ") + level);
    EXPECT_EQ(found_lines("demo.c"), expected_lines("// clang"));
  }
}

constexpr const char* kCxx = R"(#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>
#include <string>
#include <vector>
#define NOINLINE __attribute__((noinline))
NOINLINE long of_vector(const std::vector<int>& v) {
  long s = 0;
  for (int x : v) {  // loop
    s += x * 5;
    s ^= 3;
  }
  return s;
}
NOINLINE long of_map(const std::map<int, int>& m) {
  long s = 0;
  for (const auto& [k, x] : m)  // loop
    s += x ^ k;
  return s;
}
NOINLINE int of_string(const std::string& s) {
  int n = 0;
  for (char c : s)  // loop
    if (c == 'x') n = 3 * n + 1;
  return n;
}
NOINLINE int with_index(const std::vector<int>& v) {
  int s = 0;
  for (std::size_t i = 0; i < v.size(); ++i)  // loop
    s = s * 2 + v[i] / 7;
  return s;
}
NOINLINE int with_iterator(const std::vector<int>& v) {
  int s = 0;
  for (auto it = v.begin(); it != v.end(); ++it)  // loop
    s = s * 3 + *it / 7;
  return s;
}
struct Matrix {
  std::vector<double> d;
  int n;
  double& operator()(int i, int j) { return d[static_cast<std::size_t>(i * n + j)]; }
};
NOINLINE void of_matrix(Matrix& a, Matrix& b) {
  for (int i = 0; i < a.n; ++i)  // loop
    for (int j = 0; j < a.n; ++j)  // loop
      a(i, j) += b(j, i);
}
template <typename T, int N>
NOINLINE T of_template(const T (&a)[N], T f) {
  T s{};
  for (int i = 0; i < N; ++i)  // loop
    s += a[i] * f;
  return s;
}
#ifdef __OPTIMIZE__
NOINLINE long with_accumulate(const std::vector<int>& v) {
  return std::accumulate(v.begin(), v.end(), 3L,  // loop
                         [](long a, int b) { return a * b + 1; });
}
NOINLINE void with_for_each(std::vector<int>& v, int k) {
  std::for_each(v.begin(), v.end(), [&](int& x) {  // loop
    for (int j = 0; j < k; j++)  // loop
      x = x * j ^ 5;
  });
}
NOINLINE int* with_find_if(std::vector<int>& v, int k) {
  return &*std::find_if(v.begin(), v.end(), [k](int x) { return x * x > k; });  // loop
}
#endif
void use(std::vector<int>& v, const char* text);
int main(int c, char** argv) {
  std::vector<int> v(static_cast<std::size_t>(c));
  std::map<int, int> m{{1, 2}};
  int a[80] = {c};
  use(v, argv[0]);
  std::printf("%ld\n", of_map(m) + of_template(a, 3));
}
void use(std::vector<int>& v, const char* text) {
  Matrix p{{1.0, 2.0}, 1}, q = p;
  of_matrix(p, q);
#ifdef __OPTIMIZE__
  with_for_each(v, 3);
  std::printf("%ld %d\n", with_accumulate(v), *with_find_if(v, 2));
#endif
  std::printf("%ld\n", of_vector(v) + with_index(v) + with_iterator(v) + of_string(text));
}
)";

/// At -O0 algorithms are functions of their own, in the library's files. What else the compiler puts into `main` and
/// `use`, where containers are made and destroyed, is left out.
TEST_F(LoopSourceTest, Cxx) {
  for (const char* command : {"g++ -O0", "g++ -O1", "g++ -O2", "g++ -O3", "clang++ -O0", "clang++ -O1"}) {
    const std::string compiler = std::string(command).substr(0, std::string(command).find(' '));
    if (!is_installed(compiler)) continue;
    SCOPED_TRACE(command);
    const bool is_optimised = std::string(command).find("-O0") == std::string::npos;
    build("demo.cc", kCxx, std::string(command) + " -std=c++17");
    std::set<int> expected = expected_lines("// loop");
    std::set<int> found;
    for (const LoopSource& source : sources()) {
      if (source.function == "main" || source.function.starts_with("use")) continue;
      EXPECT_EQ(source.file, directory_.file("demo.cc"));
      found.insert(source.line);
    }
    const int optimised = *expected_lines("#ifdef __OPTIMIZE__").begin();
    if (!is_optimised) std::erase_if(expected, [&](int line) { return line > optimised; });
    EXPECT_EQ(found, expected);
  }
}

/// A loop of the library is shown where the user asked for it, with the way there, and keeps its own place.
TEST_F(LoopSourceTest, LibraryLoops) {
  build("demo.cc",
        "#include <algorithm>\n#include <vector>\n"
        "__attribute__((noinline)) void sort_it(std::vector<int>& v) {\n"
        "  std::sort(v.begin(), v.end());\n"
        "}\n"
        "int main(int c, char**) { std::vector<int> v(c); sort_it(v); return v[0]; }\n",
        "g++ -O2");
  std::set<std::pair<std::string, int>> own;
  int loops = 0;
  for (const LoopSource& source : sources()) {
    if (source.function.find("sort_it") == std::string::npos) continue;
    ++loops;
    EXPECT_EQ(source.file, directory_.file("demo.cc"));
    EXPECT_EQ(source.line, 4);
    EXPECT_TRUE(is_library_file(source.own_file)) << source.own_file;
    own.emplace(source.own_file, source.own_line);
    ASSERT_GE(source.inlined.size(), 2u);
    EXPECT_NE(source.inlined.front().find("sort<"), std::string::npos) << source.inlined.front();
  }
  EXPECT_GE(loops, 2);
  EXPECT_GE(own.size(), 2u) << "there are several loops in std::sort";
}

TEST_F(LoopSourceTest, SameSourceLoop) {
  build("demo.c",
        "volatile int sink;\n"
        "static inline __attribute__((always_inline)) void fill(int n) {\n"
        "  for (int i = 0; i < n; i++) sink = i;\n"
        "}\n"
        "__attribute__((noinline)) void twice(int n) {\n  fill(n);\n  sink = 100;\n  fill(n + 1);\n}\n"
        "__attribute__((noinline)) void other(int n) {\n  fill(n);\n}\n"
        "__attribute__((noinline)) void line(int n) {\n"
        "  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) sink = j;\n"
        "}\n"
        "int main(int c, char** v) { (void)v; twice(c); other(c); line(c); return 0; }\n",
        "gcc -O1 -fno-ipa-icf");
  std::vector<LoopSource> fill;
  std::vector<LoopSource> line;
  for (const LoopSource& source : sources()) (source.line == 3 ? fill : line).push_back(source);
  ASSERT_EQ(fill.size(), 3u);
  ASSERT_EQ(line.size(), 2u);
  for (const LoopSource& a : fill) {
    for (const LoopSource& b : fill) {
      EXPECT_TRUE(is_same_source_loop(a, b)) << "copies";
      EXPECT_EQ(a.scope == b.scope, &a == &b) << "each in its own instance";
    }
    EXPECT_EQ(a.inlined, std::vector<std::string>{"fill"});
    EXPECT_FALSE(is_same_source_line(a, line[0]));
  }
  EXPECT_TRUE(is_same_source_line(line[0], line[1]));
  EXPECT_FALSE(is_same_source_loop(line[0], line[1])) << "nested in one line";
}

TEST_F(LoopSourceTest, Fortran) {
  if (!is_installed("gfortran")) GTEST_SKIP() << "gfortran is not installed";
  const char* source = R"(module work
contains
  subroutine saxpy(n, a, x, y)
    integer, intent(in) :: n
    real(8), intent(in) :: a, x(n)
    real(8), intent(inout) :: y(n)
    integer :: i
    do i = 1, n ! loop
      y(i) = y(i) + a * x(i)
    end do
  end subroutine
  subroutine arrays(n, x, y)
    integer, intent(in) :: n
    real(8), intent(inout) :: x(n, n), y(n, n)
    x = y * 2 + x ! loop
    y(:, 1) = x(2, :) + 1 ! loop
  end subroutine
  subroutine nest(n, a, b, c)
    integer, intent(in) :: n
    real(8), intent(inout) :: a(n, n), b(n, n), c(n, n)
    integer :: i, j, k
    do j = 1, n ! loop
      do i = 1, n ! loop
        do k = 1, n ! loop
          c(i, j) = c(i, j) + a(i, k) * b(k, j)
        end do
      end do
    end do
  end subroutine
  function with_while(n) result(k)
    integer, intent(in) :: n
    integer :: k
    k = 0
    do while (k * k < n) ! loop
      k = k + 1
      if (mod(n, k) == 2) k = k + 1
    end do
  end function
  subroutine with_cycle(n, x)
    integer, intent(in) :: n
    real(8), intent(inout) :: x(n)
    integer :: i
    do i = n, 1, -2 ! loop
      if (x(i) < 0) cycle
      if (x(i) > 100) exit
      x(i) = sqrt(x(i))
    end do
  end subroutine
end module
program p
  use work
  real(8) :: a(10, 10), b(10, 10), c(10, 10)
  integer :: k
  read *, k
  call saxpy(k, 2d0, a(1:, 1), b(1:, 1))
  call arrays(k, a, b)
  call nest(k, a, b, c)
  call with_cycle(k, a(1:, 2))
  print *, with_while(k), c(1, 1)
end program
)";
  for (const char* level : {"-O0", "-O1", "-O2"}) {
    SCOPED_TRACE(level);
    build("demo.f90", source, std::string("gfortran -fno-inline ") + level);
    EXPECT_EQ(found_lines("demo.f90"), expected_lines("! loop"));
  }
}

TEST_F(LoopSourceTest, Rust) {
  if (!is_installed("rustc")) GTEST_SKIP() << "rustc is not installed";
  const char* source = R"(#[inline(never)]
fn with_range(v: &[u64]) -> u64 {
    let mut s = 1;
    for i in 0..v.len() { // loop
        s = s * 7 + v[i] / 3;
    }
    s
}
#[inline(never)]
fn with_iterators(v: &[u64]) -> u64 {
    v.iter().map(|x| x / 5 ^ 5).sum() // loop, optimised
}
#[inline(never)]
fn of_slice(v: &mut [u64], k: u64) {
    for x in v.iter_mut() { // loop
        *x = *x / k ^ 9;
    }
}
#[inline(never)]
fn with_while(n: usize) -> usize {
    let mut k = 0;
    while k * k < n { // loop
        k += 1;
        if n % k == 9 {
            k += 1;
        }
    }
    k
}
fn main() {
    let n = std::process::id() as u64;
    let mut v = [n; 100];
    of_slice(&mut v, n);
    std::process::exit((with_range(&v) + with_iterators(&v) + with_while(n as usize) as u64) as i32);
}
)";
  for (const int level : {0, 1, 2, 3}) {
    SCOPED_TRACE(level);
    build("demo.rs", source, fmt::format("rustc -C opt-level={}", level));
    std::set<int> expected = expected_lines(" loop");
    if (level == 0) expected.erase(*expected_lines("optimised").begin());
    std::set<int> found;
    for (const LoopSource& loop : sources()) {
      if (loop.function == "demo::main") continue;
      EXPECT_EQ(loop.file, directory_.file("demo.rs"));
      found.insert(loop.line);
    }
    EXPECT_EQ(found, expected);
  }
}

TEST_F(LoopSourceTest, NothingKnown) {
  Symbolizer symbolizer({});
  EXPECT_FALSE(name_loop(symbolizer, {0x1000, {0x1010}, {0x1010}, {0x1000}}).has_value());
  EXPECT_FALSE(name_loop(symbolizer, {}).has_value());
  build("demo.c", kC, "gcc -O1 -g0 -gno-column-info");
  directory_.run("strip -g demo");
  EXPECT_FALSE(loops_.empty());
  Symbolizer stripped({directory_.module("demo", kBias)});
  for (const LoopAddresses& loop : loops_) EXPECT_FALSE(name_loop(stripped, loop).has_value());
}

}  // namespace
}  // namespace loopfold::symbols
