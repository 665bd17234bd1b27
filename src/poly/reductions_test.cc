// Loops as compilers write them, each form of a reduction once, and next to it what only looks like one. Then random
// changes to those that are: another use, another definition, another operation.
#include "poly/reductions.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <random>

#include "poly/loop_text.h"

namespace loopfold::poly {
namespace {

using testing::LoopText;

const char* name_of(trace::Associative operation) {
  static constexpr const char* kNames[] = {"none", "+", "-", "*", "min", "max", "&", "|", "^"};
  return kNames[static_cast<int>(operation)];
}

/// What explains all that the loop carries: "+", "max f" (floating), "+[]" (an array), "+m" (in memory); "" if
/// something is left.
std::string reductions_of(const std::string& text) {
  const LoopText loop(text);
  const std::vector<std::uint32_t> carried = loop.carried();
  std::size_t explained = 0;
  std::vector<std::string> found;
  for (const FoundReduction& reduction : ReductionFinder(loop.graph, loop.decisions()).find(loop.flow, carried)) {
    explained += reduction.edges.size();
    std::string name = name_of(reduction.what.operation);
    if (reduction.what.array) name += "[]";
    if (reduction.what.in_memory && !reduction.what.array) name += "m";
    if (reduction.what.floating) name += " f";
    found.push_back(name);
  }
  if (explained != carried.size()) return "";
  std::sort(found.begin(), found.end());
  std::string all;
  for (const std::string& name : found) all += (all.empty() ? "" : ", ") + name;
  return all;
}

// ---- Steps --------------------------------------------------------------------------------------------------------

constexpr const char* kSum = R"(
block
A: f2 0f 58 07 ; 0<A',- 1<- @a+0+8:8
)";

TEST(Reductions, AddInARegister) { EXPECT_EQ(reductions_of(kSum), "+ f"); }

TEST(Reductions, SeveralStepsInOneIteration) {
  EXPECT_EQ(reductions_of("block\nA: f2 0f 58 07 ; 0<C',- @a+0+8:8\nB: f2 0f 58 07 ; 0<A @a+8+8:8\n"
                          "C: f2 0f 5c c1 ; 0<B 1<-\n"),
            "+ f");
}

TEST(Reductions, EachOperation) {
  EXPECT_EQ(reductions_of("block\nA: 2b 07 ; 0<A',- @a+0+4"), "+");              // sub eax,[rdi]
  EXPECT_EQ(reductions_of("block\nA: ff c0 ; 0<A',-"), "+");                     // inc eax
  EXPECT_EQ(reductions_of("block\nA: 0f af c2 ; 0<A',- 1<-"), "*");              // imul eax,edx
  EXPECT_EQ(reductions_of("block\nA: 0f af c2 ; 1<A',- 0<-"), "*");              // the other operand
  EXPECT_EQ(reductions_of("block\nA: 31 d0 ; 0<A',- 1<-"), "^");                 // xor eax,edx
  EXPECT_EQ(reductions_of("block\nA: 21 d0 ; 0<A',- 1<-"), "&");                 // and eax,edx
  EXPECT_EQ(reductions_of("block\nA: 09 d0 ; 0<A',- 1<-"), "|");                 // or eax,edx
  EXPECT_EQ(reductions_of("block\nA: 0f ab d0 ; 0<A',- 1<-"), "|");              // bts eax,edx
  EXPECT_EQ(reductions_of("block\nA: f2 0f 59 c1 ; 0<A',- 1<-"), "* f");         // mulsd xmm0,xmm1
  EXPECT_EQ(reductions_of("block\nA: c4 e2 f1 b9 c2 ; 0<A',- 1<- 2<-"), "+ f");  // vfmadd231sd xmm0,xmm1,xmm2
  EXPECT_EQ(reductions_of("block\nA: 8d 04 10 ; 0<A',- 1<-"), "+");              // lea eax,[rax+rdx]
  EXPECT_EQ(reductions_of("block\nA: 8d 04 10 ; 1<A',- 0<-"), "+");              // its index
  EXPECT_EQ(reductions_of("block\nA: 8d 04 90 ; 0<A',- 1<-"), "+");              // lea eax,[rax+rdx*4]
  EXPECT_EQ(reductions_of("block\nA: 83 d0 00 ; 0<A',- f<-"), "+");              // adc eax,0
  EXPECT_EQ(reductions_of("block\nA: 83 d8 ff ; 0<A',- f<-"), "+");              // sbb eax,-1
}

TEST(Reductions, NotEachOperand) {
  EXPECT_EQ(reductions_of("block\nA: 29 c2 ; 1<A',- 0<-"), "");               // sub edx,eax: the subtrahend
  EXPECT_EQ(reductions_of("block\nA: c4 e2 f1 b9 c2 ; 1<A',- 0<- 2<-"), "");  // a factor of a fused operation
  EXPECT_EQ(reductions_of("block\nA: 8d 04 82 ; 1<A',- 0<-"), "");            // lea eax,[rdx+rax*4]
  EXPECT_EQ(reductions_of("block\nA: 0f ab d0 ; 1<A',- 0<-"), "");            // bts: which bit
  EXPECT_EQ(reductions_of("block\nA: 01 c0 ; 0<A',- 1<A',-"), "");            // add eax,eax
  EXPECT_EQ(reductions_of("block\nA: f7 e2 ; 0<A',- 1<-"), "");               // mul edx: two results
  EXPECT_EQ(reductions_of("block\nA: f7 d8 ; 0<A',-"), "");                   // neg eax
  EXPECT_EQ(reductions_of("block\nA: d1 e0 ; 0<A',-"), "");                   // shl eax,1
}

TEST(Reductions, MaxsdAndACopyBehindIt) {
  // movsd xmm1,[rax]; maxsd xmm1,xmm0; movapd xmm0,xmm1
  EXPECT_EQ(reductions_of("block\nL: f2 0f 10 4d f8 ; @a+0+8:8\nM: f2 0f 5f c8 ; 0<L 1<~C:M',-\n"
                          "copy C: 66 0f 28 c1 ; 0<M"),
            "max f");
}

TEST(Reductions, TwoInOneLoop) {
  EXPECT_EQ(reductions_of("block\nL: 8b 10 ; @a+0+4\nA: 01 d0 ; 0<A',- 1<L\nB: 31 d0 ; 0<B',- 1<L\n"), "+, ^");
}

TEST(Reductions, OtherUses) {
  // The sum so far is stored; it is an address; it decides; it is converted; its flags are looked at.
  EXPECT_EQ(reductions_of("block\nA: 01 d0 ; 0<A',- 1<-\nS: 89 07 ; 1<A s@b+0+4"), "");
  EXPECT_EQ(reductions_of("block\nA: 01 d0 ; 0<A',- 1<-\nL: 8b 10 ; 0<A @b?"), "");
  EXPECT_EQ(reductions_of("block\nA: 01 d0 ; 0<A',- 1<-\nP: 39 c1 ; 1<A 0<-\nT: 0f 9c c0 ; f<P"), "");
  EXPECT_EQ(reductions_of("block\nA: 01 d0 ; 0<A',- 1<-\nP: 39 c1 ; 1<A 0<-\nB: 7e 02 ; f<P"), "");
  EXPECT_EQ(reductions_of("block\nA: 01 d0 ; 0<A',- 1<-\nC: f2 0f 2a c0 ; 0<A"), "");
  EXPECT_EQ(reductions_of("block\nA: 01 d0 ; 0<A',- 1<-\nB: 7e 02 ; f<A"), "");
}

TEST(Reductions, TwoOperations) {
  EXPECT_EQ(reductions_of("block\nA: 0f af c2 ; 0<B',- 1<-\nB: 01 d0 ; 0<A 1<-"), "");
  // 20 at the most: add, cmp edx,ecx, cmovg edx,ecx
  EXPECT_EQ(reductions_of("block\nK: b8 00 00 00 00 ;\nA: 01 d0 ; 0<M',- 1<-\nP: 39 ca ; 0<A 1<K\n"
                          "M: 0f 4f d1 ; 0<A 1<K f<P"),
            "");
}

TEST(Reductions, ConversionsEndTheChain) {
  // cvtsi2sd, and 64-bit sums of a value that is cut to 32 bits in every step.
  EXPECT_EQ(reductions_of("block\nC: f2 0f 2a c0 ; 0<A',-\nA: f2 0f 58 c1 ; 0<C 1<-"), "");
  EXPECT_EQ(reductions_of("block\nC: 48 63 c0 ; 0<A',-\nA: 48 01 d0 ; 0<C 1<-"), "");
}

TEST(Reductions, AnotherDefinition) {
  EXPECT_EQ(reductions_of("block\nB: 7e 05 ; f<-\nblock if B\nZ: b8 00 00 00 00 ;\nblock\nA: 01 d0 ; 0<A',Z,- 1<-"),
            "");
  // cmove edx,ecx: the old value, or another one
  EXPECT_EQ(reductions_of("block\nL: 8b 08 ; @c+0+4\nT: 85 c0 ; 0<-\nM: 0f 44 d1 ; 0<A',- 1<L f<T\n"
                          "A: 01 d0 ; 0<M 1<-"),
            "");
}

TEST(Reductions, ConditionalSteps) {
  EXPECT_EQ(reductions_of("block\nB: 7e 02 ; f<-\nblock if B\nA: 01 d0 ; 0<A',- 1<-"), "+");
  // cmovne edx,ecx between the old sum and the new one, which is made in a copy of the old one
  EXPECT_EQ(reductions_of("block\ncopy C: 89 d1 ; 0<M',-\nA: 01 c1 ; 0<~=C:M',~=C:- 1<-\nT: 85 c0 ; 0<-\n"
                          "M: 0f 45 d1 ; 0<M',- 1<A f<T"),
            "+");
  EXPECT_EQ(reductions_of("block\nA: 01 ca ; 0<M',- 1<-\nT: 85 c0 ; 0<-\nM: 0f 45 d1 ; 0<M',- 1<A f<T"), "+");
  // The same, if the sum decides.
  EXPECT_EQ(reductions_of("block\nA: 01 ca ; 0<M',- 1<-\nT: 39 ca ; 0<A 1<-\nM: 0f 45 d1 ; 0<M',- 1<A f<T"), "");
}

TEST(Reductions, WhatIsOnlyKept) {
  // cmovne edx,ecx: a new value or the old one, and no use of either
  const std::string head = "block\nL: 8b 08 ; @a+0+4\nT: 85 c0 ; 0<-\nM: 0f 45 d1 ; 0<M',- 1<L f<T\n";
  EXPECT_EQ(reductions_of(head), "none");
  EXPECT_EQ(reductions_of(head + "out M"), "none");
  EXPECT_EQ(reductions_of(head + "S: 89 17 ; 1<M s@b+0+4"), "");
  EXPECT_EQ(reductions_of(head + "A: 01 d0 ; 0<- 1<M"), "");
  // One iteration later.
  EXPECT_EQ(reductions_of(head + "C: 89 d1 ; 0<M'\nout C"), "");
}

TEST(Reductions, ABranchThatWentOneWay) {
  // cmp edx,ecx; jg over: mov ecx,edx, which always ran; or jl
  const std::string head =
      "block\nL: 8b 08 ; @a+0+4\nP: 39 ca ; 0<C',- 1<L\nM: 0f 4c d1 ; 0<C',- 1<L f<P\n"
      "K: 8b 08 ; @c+0+4\nQ: 39 ca ; 0<M 1<K\n";
  EXPECT_EQ(reductions_of(head + "B: 7c 02 ; f<Q\nblock\nC: 89 d2 ; 0<M"), "max");
  EXPECT_EQ(reductions_of(head + "B: 7f 02 ; f<Q\nblock\nC: 89 d2 ; 0<M"), "");
  EXPECT_EQ(reductions_of(head + "B: 7c 02 ; f<Q\nblock\nC: 89 d2 ; 0<M\nexit B"), "");
  EXPECT_EQ(reductions_of(head + "B: 7c 02 ; f<Q\nblock\nC: 89 d2 ; 0<M\nblock if B\nA: 01 d0 ; 0<-"), "");
}

TEST(Reductions, SumsInTurns) {
  // u = s + x; s = t; t = u, through copies.
  EXPECT_EQ(reductions_of("block\nA: 01 ca ; 0<~C:A',- 1<-\ncopy C: 89 da ; 0<~D:A',-\ncopy D: 89 d3 ; 0<A"), "");
  // s = t + x; t = s + y, in two registers.
  EXPECT_EQ(reductions_of("block\nA: 01 d0 ; 0<B',- 1<-\nB: 01 d1 ; 0<A',- 1<-"), "");
}

TEST(Reductions, WhatIsUsedBehindTheLoop) {
  EXPECT_EQ(reductions_of("block\nA: 01 d0 ; 0<A',- 1<-\nout A"), "+");
  EXPECT_EQ(reductions_of("block\nA: 01 d0 ; 0<B',- 1<-\nB: 01 d0 ; 0<A 1<-\nout B"), "+");
  EXPECT_EQ(reductions_of("block\nA: 01 d0 ; 0<B',- 1<-\nB: 01 d0 ; 0<A 1<-\nout B\nout A"), "");
  EXPECT_EQ(reductions_of("block\nA: 01 d0 ; 0<A',- 1<-\nT: 01 d0 ; 0<A 1<-\nout T"), "");
}

// ---- Memory -------------------------------------------------------------------------------------------------------

/// A scalar operation keeps the rest of a vector register, which so goes round with the sum.
TEST(Reductions, WhatIsKeptBesideTheResult) {
  EXPECT_EQ(reductions_of("block\nA: c5 fb 58 07 ; 0<A',- 2<A',- @a+0+8:8"), "+ f");           // vaddsd xmm0,xmm0,[rdi]
  EXPECT_EQ(reductions_of("block\nA: c4 e2 f1 b9 07 ; 0<A',- 1<- 3<A',- @a+0+8:8"), "+ f");    // vfmadd231sd
  EXPECT_EQ(reductions_of("block\nA: c4 e2 f1 b9 07 ; 0<- 1<A',- 3<A',- @a+0+8:8"), "");       // its factor
  EXPECT_EQ(reductions_of("block\nA: c5 f3 58 07 ; 0<- 2<A',- @a+0+8:8"), "");                 // only the rest
  EXPECT_EQ(reductions_of("block\nA: c5 fb 58 07 ; 0<A',- 2<B',- @a+0+8:8\nB: c5 f1 14 c8 ; 0<- 1<A"), "");
}

TEST(Reductions, InOneCell) {
  EXPECT_EQ(reductions_of("block\nA: 01 45 fc ; m<A',- 0<- 1<- @%f+8 s@%f+8"), "+m");
  EXPECT_EQ(reductions_of("block\nL: f2 0f 10 05 00 00 00 00 ; m<S',- @g+0+0:8\nA: f2 0f 58 c1 ; 0<L 1<-\n"
                          "S: f2 0f 11 05 00 00 00 00 ; 0<A s@g+0+0:8"),
            "+m f");
}

TEST(Reductions, InASlotThatIsSeenThrough) {
  // movsd xmm1,[rbp-8]; addsd xmm0,xmm1; movsd [rbp-8],xmm0
  EXPECT_EQ(reductions_of("block\ncopy R: f2 0f 10 4d f8 ; m<~S:A',- @%f+8+0:8\n"
                          "A: f2 0f 58 c1 ; 1<~=R:A',~=R:- 0<-\ncopy S: f2 0f 11 45 f8 ; 1<A s@%f+8+0:8"),
            "+m f");
  // Two slots in turns.
  EXPECT_EQ(reductions_of("block\ncopy R: f2 0f 10 4d f8 ; m<~Q:A',- @%f+8+0:8\n"
                          "A: f2 0f 58 c1 ; 1<~=R:A',~=R:- 0<-\ncopy T: f2 0f 10 55 f0 ; m<~S:A',- @%f+0+0:8\n"
                          "copy Q: f2 0f 11 55 f8 ; 1<~=T:A' s@%f+8+0:8\ncopy S: f2 0f 11 45 f0 ; 1<A s@%f+0+0:8"),
            "");
  EXPECT_EQ(reductions_of("block\nA: f2 0f 58 45 f8 ; m<~S:A',- 0<- @%f+8+0:8\n"
                          "copy S: f2 0f 11 45 f8 ; 1<A s@%f+8+0:8"),
            "+m f");
}

TEST(Reductions, FirstInAnotherContext) {
  // mov eax,[g]; add eax,1; mov [g],eax, and the same again, which is where the sum goes on
  const std::string first = "block\nL: 8b 05 00 00 00 00 ; m<- @g+0\nA: 83 c0 01 ; 0<L\n";
  const std::string store = "S: 89 05 00 00 00 00 ; 0<A s@g+0\n";
  const std::string rest =
      "block\nM: 8b 05 00 00 00 00 ; m<S'1,T' @g+0\nB: 83 c0 01 ; 0<M\nT: 89 05 00 00 00 00 ; 0<B s@g+0\n";
  EXPECT_EQ(reductions_of(first + store + rest), "+m");
  EXPECT_EQ(reductions_of(first + store + rest + "U: 89 07 ; 0<- 1<A s@b+0+4"), "");
  EXPECT_EQ(reductions_of("block\nL: 8b 05 00 00 00 00 ; m<- @h+0\nA: 83 c0 01 ; 0<L\n" + store + rest), "");
  EXPECT_EQ(reductions_of("block\nL: 8b 05 00 00 00 00 ; m<- @g+0\nA: 83 f0 01 ; 0<L\n" + store + rest), "");
  EXPECT_EQ(reductions_of("block\nA: b8 01 00 00 00 ;\n" + store + rest), "");
}

TEST(Reductions, InARegisterAndInItsCell) {
  // mov eax,[g]; loop: jne over: add eax,1; mov [g],eax
  const std::string head = "before W: 8b 05 00 00 00 00 ; @g+0\nblock\nB: 75 09 ; f<-\nblock if B\n";
  const std::string step = "A: 83 c0 01 ; 0<A',W\n";
  const std::string store = "S: 89 05 00 00 00 00 ; 0<A s@g+0\n";
  EXPECT_EQ(reductions_of(head + step + store), "+m");
  EXPECT_EQ(reductions_of(head + step + store + "out S"), "+m");
  // Another cell; not the same one each time; another store to it; another step before it; from elsewhere.
  EXPECT_EQ(reductions_of(head + step + "S: 89 05 00 00 00 00 ; 0<A s@g+4"), "");
  EXPECT_EQ(reductions_of(head + step + "S: 89 07 ; 0<- 1<A s@g+0+4"), "");
  EXPECT_EQ(reductions_of(head + step + store + "T: c7 07 00 00 00 00 ; 0<- s@g?"), "");
  EXPECT_EQ(reductions_of(head + "A: 83 c0 01 ; 0<D',W\nD: 83 c0 01 ; 0<A\n" + store), "");
  EXPECT_EQ(reductions_of(head + "A: 83 c0 01 ; 0<A',-\n" + store), "");
  // A step that is not stored.
  EXPECT_EQ(reductions_of(head + "A: 83 c0 01 ; 0<A',D',W\n" + store + "block if B\nD: 83 c0 01 ; 0<A"), "");
}

constexpr const char* kHistogram = "block\nA: 83 04 87 01 ; m<A',- 0<- 1<- @b? s@b?";

TEST(Reductions, ArraysInOneInstruction) { EXPECT_EQ(reductions_of(kHistogram), "+[]"); }

TEST(Reductions, ArraysByLoadAndStore) {
  const std::string head =
      "block\nX: 8b 00 ; @x+0+4\nY: 83 e0 07 ; 0<X\nL: 8b 10 ; 0<Y m<S',- @b?\nA: 83 c2 01 ; 0<L\n";
  EXPECT_EQ(reductions_of(head + "S: 89 10 ; 0<Y 1<A s@b?"), "+[]");
  // The next element; an address of another origin.
  EXPECT_EQ(reductions_of(head + "S: 89 50 04 ; 0<Y 1<A s@b?"), "");
  EXPECT_EQ(reductions_of(head + "Z: 8b 40 04 ; @x+4+4\nS: 89 10 ; 0<Z 1<A s@b?"), "");
  // Nothing reads it again: it is where the sum of that element ends.
  EXPECT_EQ(reductions_of(head + "S: 89 10 ; 0<Y 1<A s@b?\nB: 83 04 87 01 ; m<S,S' 0<- 1<- @b? s@b?"), "+[]");
}

TEST(Reductions, ArraysWhoseAddressIsComputedTwice) {
  const std::string head = "block\nX: 8b 00 ; @x+0+4\nY: 48 98 ; 0<X\nL: 8b 10 ; 0<Y m<S',- @b?\nA: 83 c2 01 ; 0<L\n";
  EXPECT_EQ(reductions_of(head + "V: 8b 00 ; @x+0+4\nW: 48 98 ; 0<V\nS: 89 10 ; 0<W 1<A s@b?"), "+[]");
  EXPECT_EQ(reductions_of(head + "V: 8b 40 04 ; @x+4+4\nW: 48 98 ; 0<V\nS: 89 10 ; 0<W 1<A s@b?"), "");
  EXPECT_EQ(reductions_of(head + "V: 8b 00 ; @x+0+4\nW: 83 e0 07 ; 0<V\nS: 89 10 ; 0<W 1<A s@b?"), "");
}

TEST(Reductions, ArraysWhoseBaseIsComputedTwice) {
  // lea rax,[rip+16]; mov edx,[rax+4 rcx]; add edx,1; lea rax,[rip+3]; mov [rax+4 rcx],edx
  const std::string head =
      "block\nX: 8b 08 ; @x+0+4\nG: 48 8d 05 10 00 00 00 ;\nL: 8b 14 88 ; 0<G 1<X m<S',- @b?\nA: 83 c2 01 ; 0<L\n";
  EXPECT_EQ(reductions_of(head + "H: 48 8d 05 03 00 00 00 ;\nS: 89 14 88 ; 0<H 1<X 2<A s@b?"), "+[]");
  EXPECT_EQ(reductions_of(head + "H: 48 8d 05 10 00 00 00 ;\nS: 89 14 88 ; 0<H 1<X 2<A s@b?"), "");
}

TEST(Reductions, ArraysInALoopInside) {
  // y[x[k]] += 1, k in a slot: mov eax,[rbp-8]; cdqe; mov eax,[rdi+4 rax]; mov edx,[rsi+4 rax]; add edx,1; and again
  // mov eax,[rbp-8]; cdqe; mov eax,[rdi+4 rax]; mov [rsi+4 rax],edx; add [rbp-8],1
  const std::string head =
      "inner\nblock\nK: 8b 45 f8 ; 0<- m<T\",- @%f+4\nY: 48 98 ; 0<K\nX: 8b 04 87 ; 0<- 1<Y @x?\n"
      "L: 8b 14 86 ; 0<- 1<X m<S',- @y?\nA: 83 c2 01 ; 0<L\n";
  const std::string again = "Z: 48 98 ; 0<V\nW: 8b 04 87 ; 0<- 1<Z @x?\nS: 89 14 86 ; 0<- 1<W 2<A s@y?\n";
  const std::string step = "T: 83 45 f8 01 ; 0<- m<T\",- @%f+4 s@%f+4\n";
  EXPECT_EQ(reductions_of(head + "V: 8b 45 f8 ; 0<- m<T\",- @%f+4\n" + again + step), "+[]");
  // k is stepped in between; another variable.
  EXPECT_EQ(reductions_of(head + step + "V: 8b 45 f8 ; 0<- m<T @%f+4\n" + again), "");
  EXPECT_EQ(reductions_of(head + "V: 8b 45 f0 ; 0<- m<U\",- @%f+0\n" + again + step +
                          "U: 83 45 f0 01 ; 0<- m<U\",- @%f+0 s@%f+0\n"),
            "");
}

TEST(Reductions, OneCellOfManyThatAreWritten) {
  // mov eax,[rdi]; add eax,3; mov [rdi+4 rsi],eax: that is read again in some iterations only
  const std::string head = "block\nL: 8b 07 ; 0<- m<S'3,- @t+4\nA: 83 c0 03 ; 0<L\n";
  EXPECT_EQ(reductions_of(head + "S: 89 04 b7 ; 0<- 1<- 2<A s@t?"), "");
  EXPECT_EQ(reductions_of(head + "S: 89 07 ; 0<- 1<A s@t+4"), "+m");
}

TEST(Reductions, ArraysByFunctions) {
  EXPECT_EQ(reductions_of("block\nL: 8b 10 ; 0<- m<S',- @b+0+8\nA: 83 c2 01 ; 0<L\nS: 89 10 ; 0<- 1<A s@b+0+8"), "+[]");
  EXPECT_EQ(reductions_of("block\nL: 8b 10 ; 0<- m<S',- @b+0+8\nA: 83 c2 01 ; 0<L\nS: 89 50 04 ; 0<- 1<A s@b+8+8"), "");
}

TEST(Reductions, NarrowArrays) {
  // movzx eax,[rdi]; add eax,edx; mov [rdi],al
  EXPECT_EQ(reductions_of("block\nL: 0f b6 07 ; 0<- m<S',- @b+0+1:1\nA: 01 d0 ; 0<L 1<-\nS: 88 07 ; 0<- 1<A s@b+0+1:1"),
            "+[]");
}

TEST(Reductions, TheCountSoFarIsUsed) {
  EXPECT_EQ(reductions_of("block\nX: 8b 00 ; @x+0+4\nL: 8b 10 ; 0<X m<S',- @b?\nA: 83 c2 01 ; 0<L\n"
                          "S: 89 10 ; 0<X 1<A s@b?\nR: 89 07 ; 1<L s@r+0+4"),
            "");
}

// ---- Minimum and maximum by comparison ----------------------------------------------------------------------------

/// mov ecx,[rax]; cmp edx,ecx; cmovCC edx,ecx
std::string move_loop(const std::string& condition) {
  return "block\nL: 8b 08 ; @a+0+4\nP: 39 ca ; 0<M',- 1<L\nM: 0f " + condition + " d1 ; 0<M',- 1<L f<P\n";
}

TEST(Reductions, ConditionalMoves) {
  EXPECT_EQ(reductions_of(move_loop("4c")), "max");
  EXPECT_EQ(reductions_of(move_loop("4e")), "max");
  EXPECT_EQ(reductions_of(move_loop("4f")), "min");
  EXPECT_EQ(reductions_of(move_loop("43")), "min");
  EXPECT_EQ(reductions_of(move_loop("45")), "");  // not equal
  EXPECT_EQ(reductions_of(move_loop("48")), "");  // sign
  // What is moved is not what was compared.
  EXPECT_EQ(reductions_of("block\nL: 8b 08 ; @a+0+4\nX: 8b 48 04 ; @a+4+4\nP: 39 ca ; 0<M',- 1<L\n"
                          "M: 0f 4c d1 ; 0<M',- 1<X f<P"),
            "");
  // The flags are used twice: a position.
  EXPECT_EQ(reductions_of(move_loop("4c") + "N: 0f 4c d1 ; 0<N',- 1<- f<P"), "");
}

TEST(Reductions, TwoConditionalMovesOfOneVariable) {
  const std::string head =
      "block\nL: 8b 08 ; @a+0+8\nP: 39 ca ; 0<N',- 1<L\nM: 0f 4c d1 ; 0<N',- 1<L f<P\n"
      "K: 8b 08 ; @a+4+8\nQ: 39 ca ; 0<M 1<K\n";
  EXPECT_EQ(reductions_of(head + "N: 0f 4c d1 ; 0<M 1<K f<Q"), "max");
  EXPECT_EQ(reductions_of(head + "N: 0f 4f d1 ; 0<M 1<K f<Q"), "");  // a minimum
  EXPECT_EQ(reductions_of(head + "N: 0f 42 d1 ; 0<M 1<K f<Q"), "");  // of unsigned values
}

/// mov ecx,[rax]; cmp edx,ecx; jcc over a copy of ecx to edx
std::string branch_loop(const std::string& jump, const std::string& more = "") {
  return "block\nL: 8b 08 ; @a+0+4\nP: 39 ca ; 0<S',- 1<L\nB: " + jump + " 02 ; f<P\nblock if B\nS: 89 ca ; 0<L\n" +
         more;
}

TEST(Reductions, BranchesOverACopy) {
  EXPECT_EQ(reductions_of(branch_loop("7d")), "max");
  EXPECT_EQ(reductions_of(branch_loop("7e")), "min");
  EXPECT_EQ(reductions_of(branch_loop("75")), "");
  EXPECT_EQ(reductions_of(branch_loop("7d", "block\nX: 01 d0 ; 0<- 1<S',-")), "");  // another use
  EXPECT_EQ(reductions_of(branch_loop("7d", "exit B")), "");
  EXPECT_EQ(reductions_of(branch_loop("7d", "C: 89 d1 ; 0<-\nout C")), "");  // a position, in a register
  EXPECT_EQ(reductions_of(branch_loop("7d", "C: 89 07 ; 1<- s@p+0")), "");   // and in memory
  EXPECT_EQ(reductions_of(branch_loop("7d", "C: 89 d1 ; 0<-\nblock\nD: 01 d1 ; 0<C 1<-")), "");
}

TEST(Reductions, BranchesWithoutOptimisation) {
  // mov eax,[rax]; cmp [rbp-4],eax; jge over: mov eax,[rax]; mov [rbp-4],eax
  const std::string head =
      "block\nL: 8b 00 ; 0<- @a+0+4\nP: 39 45 fc ; m<S',- 0<- 1<L @%f+8\nB: 7d 05 ; f<P\nblock if B\n";
  EXPECT_EQ(reductions_of(head + "K: 8b 00 ; 0<- @a+0+4\nS: 89 45 fc ; 0<- 1<K s@%f+8"), "maxm");
  EXPECT_EQ(reductions_of(head + "K: 8b 40 04 ; 0<- @a+4+4\nS: 89 45 fc ; 0<- 1<K s@%f+8"), "");
  EXPECT_EQ(reductions_of(head + "K: 8b 01 ; 0<- @c+0+4\nS: 89 45 fc ; 0<- 1<K s@%f+8"), "");
}

TEST(Reductions, BranchesOnANamedValue) {
  // mov [rbp-8],ecx; mov eax,[rbp-8]; cmp [rbp-4],eax; jge over: mov eax,[rbp-8]; mov [rbp-4],eax
  const std::string load = "block\nL: 8b 08 ; 0<- @a+0+4\nX: 89 4d f8 ; 0<- 1<L s@%f+4\n";
  const std::string head =
      load + "copy R: 8b 45 f8 ; m<X @%f+4\nP: 39 45 fc ; m<S',- 0<- 1<~=R:L @%f+8\nB: 7d 06 ; f<P\n";
  EXPECT_EQ(reductions_of(head + "block if B\nK: 8b 45 f8 ; 0<- m<X @%f+4\nS: 89 45 fc ; 0<- 1<K s@%f+8"), "maxm");
  // The slot of another value, the slot after it got another value, an earlier iteration's value, a part of it.
  EXPECT_EQ(reductions_of(head + "block if B\nK: 8b 45 f0 ; 0<- m<- @%f+0\nS: 89 45 fc ; 0<- 1<K s@%f+8"), "");
  EXPECT_EQ(reductions_of(head + "block if B\nN: 8b 01 ; @c+0+4\nY: 89 45 f8 ; 0<- 1<N s@%f+4\n"
                                 "K: 8b 45 f8 ; 0<- m<Y @%f+4\nS: 89 45 fc ; 0<- 1<K s@%f+8"),
            "");
  EXPECT_EQ(reductions_of(head + "block if B\nK: 8b 45 f8 ; 0<- m<X' @%f+4\nS: 89 45 fc ; 0<- 1<K s@%f+8"), "");
  EXPECT_EQ(reductions_of(head + "block if B\nK: 8b 45 f9 ; 0<- m<X @%f+5\nS: 89 45 fc ; 0<- 1<K s@%f+8"), "");
  // The comparison reads the slot itself: mov eax,[rbp-4]; cmp eax,[rbp-8]
  const std::string direct =
      load + "V: 8b 45 fc ; 0<- m<S',- @%f+8\nP: 3b 45 f8 ; 0<V 1<- m<~=X:L @%f+4\nB: 7d 06 ; f<P\n";
  EXPECT_EQ(reductions_of(direct + "block if B\nK: 8b 45 f8 ; 0<- m<X @%f+4\nS: 89 45 fc ; 0<- 1<K s@%f+8"), "maxm");
}

TEST(Reductions, BranchesOverACopyOfTheVariable) {
  // mov ecx,[rax]; cmp ecx,edx; jg over: mov ecx,edx. The variable is in edx, then in ecx, then in edx again.
  const std::string with_inside =
      "block\nL: 8b 08 ; @a+0+8\nP: 39 d1 ; 0<L 1<D',K'5,-\nB: 7f 02 ; f<P\nblock if B\n"
      "C: 89 d1 ; 0<D',K'1,-\nblock\nK: 8b 10 ; @a+4+8\nQ: 39 ca ; 0<K 1<L=6,C=4\n"
      "E: 7f 02 ; f<Q\nblock if E\nD: 89 ca ; 0<L=2,C=2\n";
  EXPECT_EQ(reductions_of(with_inside), "max");
  // The loads reach further than they could.
  std::string wrong = with_inside;
  wrong.replace(wrong.find("L=6"), 3, "L=8");
  EXPECT_EQ(reductions_of(wrong), "");
}

TEST(Reductions, TwoBranchesOnOneVariable) {
  const std::string head =
      "block\nL: 8b 08 ; @a+0+4\nP: 39 ca ; 0<T',S',- 1<L\nB: 7d 02 ; f<P\nblock if B\nS: 89 ca ; 0<L\n"
      "block\nK: 8b 08 ; @c+0+4\n";
  EXPECT_EQ(reductions_of(head + "Q: 39 ca ; 0<T',S'4,S=4,- 1<K\nE: 7d 02 ; f<Q\nblock if E\nT: 89 ca ; 0<K"), "max");
  // The second comparison is with what the variable was before the first one.
  EXPECT_EQ(reductions_of(head + "Q: 39 ca ; 0<T',S',- 1<K\nE: 7d 02 ; f<Q\nblock if E\nT: 89 ca ; 0<K"), "");
}

// ---- Random changes -----------------------------------------------------------------------------------------------

/// A sum of a few steps in one iteration, some under conditions, with one change that makes it none.
class RandomChain {
 public:
  explicit RandomChain(unsigned seed) : random_(seed) {
    steps_ = 1 + random_() % 5;
    for (unsigned i = 0; i < steps_; ++i) kinds_.push_back(random_() % 3);
  }

  unsigned steps() const { return steps_; }

  std::string text(int change = -1, unsigned where = 0) const {
    static constexpr const char* kSteps[] = {"01 d0", "29 d0",
                                             "8d 04 10"};  // add eax,edx; sub eax,edx; lea eax,[rax+rdx]
    std::string all = "block\nZ: b8 00 00 00 00 ;\nL: 8b 10 ; @a+0+4\n";
    for (unsigned i = 0; i < steps_; ++i) {
      const std::string before = i == 0 ? fmt::format("S{}',-", steps_ - 1) : fmt::format("S{}", i - 1);
      const bool here = i == where;
      std::string operands = fmt::format("0<{} 1<L", before);
      std::string bytes = kSteps[kinds_[i]];
      if (here && change == 0) bytes = "31 d0";                               // xor
      if (here && change == 1) bytes = "0f af c2";                            // imul
      if (here && change == 2) operands = fmt::format("0<{},Z 1<L", before);  // another definition
      if (here && change == 3) operands = fmt::format("0<L 1<{}", before), bytes = "29 d0";
      if (here && change == 4) operands = fmt::format("0<{} 1<{}", before, before);
      all += fmt::format("S{}: {} ; {}\n", i, bytes, operands);
      if (here && change == 5) all += fmt::format("U: 89 07 ; 1<S{} s@b+0+4\n", i);
      if (here && change == 6) all += fmt::format("U: 8b 10 ; 0<S{} @b?\n", i);
      if (here && change == 7) all += fmt::format("U: 0f 9c c0 ; f<S{}\n", i);
      if (here && change == 8) all += fmt::format("U: 39 c1 ; 1<S{} 0<L\nV: 7e 02 ; f<U\n", i);
      if (here && change == 9) all += fmt::format("U: f7 d8 ; 0<S{}'\n", i);
    }
    return all;
  }

 private:
  std::mt19937 random_;
  unsigned steps_ = 1;
  std::vector<unsigned> kinds_;
};

TEST(Reductions, RandomChangesAreNoticed) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    const RandomChain chain(seed);
    ASSERT_EQ(reductions_of(chain.text()), "+") << chain.text();
    for (int change = 0; change < 10; ++change) {
      if (change < 2 && chain.steps() == 1) continue;
      const unsigned where = seed % chain.steps();
      EXPECT_EQ(reductions_of(chain.text(change, where)), "") << change << "\n" << chain.text(change, where);
    }
  }
}

}  // namespace
}  // namespace loopfold::poly
