#include "advise/layout/alias.h"

#include <gtest/gtest.h>

namespace loopfold::layout {
namespace {

/// A file, and the names of variables of the function `f` or of the file.
class File {
 public:
  explicit File(const std::string& text) : text_(text), source_(*parse_source("memory.c", text_, {"-std=gnu17"})) {
    for (const Syntax& function : source_.functions)
      if (function.name == "f") function_ = &function;
    for (const Syntax& variable : source_.variables) declarations_[variable.name] = variable.declaration;
    find(*function_);
    aliases_.emplace(source_, *function_, text_);
  }

  bool leads(const std::string& variable, const std::string& array, std::size_t dimensions = 1) const {
    return aliases_->leads_into(declarations_.at(variable), declarations_.at(array), dimensions);
  }
  bool overlap(const std::string& one, const std::string& other, std::size_t dimensions = 1) const {
    return aliases_->overlap(declarations_.at(one), dimensions, declarations_.at(other), dimensions);
  }

 private:
  void find(const Syntax& node) {
    if (node.kind == SyntaxKind::kVariable) declarations_[node.name] = node.declaration;
    for (const Syntax& child : node.children) find(child);
  }

  std::string text_;
  Source source_;
  const Syntax* function_ = nullptr;
  std::map<std::string, std::string> declarations_;
  std::optional<Aliases> aliases_;
};

TEST(Aliases, PointersAreFollowed) {
  const File file(
      "double G[9], H[9];\n"
      "void f(double *a, double *b) { double *p = a + 3, *q = &G[2], *r, *s; r = 1 ? b : p; s = H; s++; }\n");
  EXPECT_TRUE(file.leads("p", "a"));
  EXPECT_FALSE(file.leads("p", "b"));
  EXPECT_TRUE(file.leads("r", "a"));
  EXPECT_TRUE(file.leads("r", "b"));
  EXPECT_TRUE(file.leads("q", "G"));
  EXPECT_FALSE(file.leads("s", "G"));
  EXPECT_TRUE(file.leads("s", "H"));
  EXPECT_FALSE(file.overlap("a", "b"));
  EXPECT_FALSE(file.overlap("a", "G"));
}

/// What is loaded from an array of numbers is no address; long integers may be, if one was put there.
TEST(Aliases, NumbersAreNoAddresses) {
  const File file(
      "void f(long *a, double *x, int n) {\n"
      "  long k = a[0], u = (long)x; double d = x[1]; long difference = &x[3] - x; int less = x < &x[2];\n"
      "  a[n] = k; (void)u; (void)d; (void)difference; (void)less; }\n");
  EXPECT_FALSE(file.leads("k", "a"));
  EXPECT_TRUE(file.leads("u", "x"));
  EXPECT_FALSE(file.leads("d", "x"));
  EXPECT_FALSE(file.leads("difference", "x"));
  EXPECT_FALSE(file.leads("less", "x"));
}

const char* const kAllocation =
    "#include <stdlib.h>\n"
    "static double *vector(int n) { double *v = malloc(n * sizeof *v); return v; }\n"
    "static double **matrix(int n, int m) {\n"
    "  double **rows = malloc(n * sizeof *rows);\n"
    "  for (int i = 0; i < n; i++) rows[i] = vector(m);\n"
    "  return rows; }\n";

/// Each call of a function that allocates gives other memory.
TEST(Aliases, FreshMemoryIsNobodyElses) {
  const File file(std::string(kAllocation) +
                  "void f(int n) { double *a = vector(n), *b = vector(n), *c = a; double **A = matrix(n, n), **B = "
                  "matrix(n, n), **C = A; (void)b; (void)c; (void)B; (void)C; }\n");
  EXPECT_FALSE(file.overlap("a", "b"));
  EXPECT_TRUE(file.overlap("a", "c"));
  EXPECT_FALSE(file.overlap("A", "B", 2));
  EXPECT_TRUE(file.overlap("A", "C", 2));
  EXPECT_FALSE(file.leads("b", "A", 2));
}

/// Unless somebody keeps it.
TEST(Aliases, KeptMemoryIsNotFresh) {
  const auto overlap = [](const std::string& before, const std::string& a, const std::string& b) {
    const File file("#include <stdlib.h>\n" + before + "void f(int n) { double *b = 0, *a = " + a + "; b = " + b +
                    "; (void)a; (void)b; }\n");
    return file.overlap("a", "b");
  };
  const std::string once =
      "static double *g(int n) { static double *kept; if (!kept) kept = malloc(n); return kept; }\n";
  EXPECT_TRUE(overlap(once, "g(n)", "g(n)"));
  const std::string global = "double *last; static double *g(int n) { double *p = malloc(n); last = p; return p; }\n";
  EXPECT_TRUE(overlap(global, "g(n)", "last"));
  const std::string out = "static double *g(double **o) { double *p = malloc(8); *o = p; return p; }\n";
  EXPECT_TRUE(overlap(out, "g(&b)", "b"));
  const std::string same = "static double *g(double *p) { return p; }\n";
  EXPECT_TRUE(overlap(same, "malloc(8)", "g(a)"));
  EXPECT_FALSE(overlap(same, "malloc(8)", "g(malloc(8))"));
  const std::string list =
      "struct l { struct l *next; double *p; } *head;\nstatic double *g(struct l *x) { double *p = malloc(8); x->p = "
      "p; "
      "return p; }\n";
  EXPECT_TRUE(overlap(list, "g(head)", "head->p"));
}

/// The arguments of one call at a time.
TEST(Aliases, CallsAreToldApart) {
  const std::string f = "static void f(int n, double *C, double *A) { for (int i = 0; i < n; i++) C[i] = A[i]; }\n";
  const File chain(f + "void g(double *x, double *y, double *z) { f(1, x, y); f(1, z, x); }\n");
  EXPECT_FALSE(chain.overlap("C", "A"));
  const File twice(f + "void g(double *x) { f(1, x, x + 1); }\n");
  EXPECT_TRUE(twice.overlap("C", "A"));
  const File one_of_many(f + "void g(double *x, double *y) { f(1, x, y); double *z = y; f(1, y, z); }\n");
  EXPECT_TRUE(one_of_many.overlap("C", "A"));
  const File by_pointer(f + "void g(double *x, void (*h)(int, double *, double *)) { h = f; h(1, x, x); }\n");
  EXPECT_TRUE(by_pointer.overlap("C", "A"));
}

TEST(Aliases, UnknownFunctionsMayKeepAndStore) {
  const File file(
      "#include <string.h>\nvoid outside(double *, double **);\nextern double *seen; static double *own;\n"
      "void f(double *a, double *b) { double *p = 0, *q = 0; outside(a, &p); memcpy(b, a, 8); (void)p; (void)q; "
      "(void)seen; (void)own; }\n");
  EXPECT_TRUE(file.leads("p", "a"));
  EXPECT_FALSE(file.leads("q", "a"));
  EXPECT_TRUE(file.leads("seen", "a"));
  EXPECT_FALSE(file.leads("own", "a"));
  EXPECT_FALSE(file.leads("seen", "b"));
}

}  // namespace
}  // namespace loopfold::layout
