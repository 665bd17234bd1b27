// Names with known results, made by hand from the grammar; then whole programs and damaged names, against `c++filt`.
#include "symbols/rust_name.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <sstream>
#include <vector>

#include "symbols/compile_for_test.h"

namespace loopfold::symbols {
namespace {

std::string demangled(const std::string& symbol) { return rust_name(symbol).value_or("not Rust"); }

/// The generic arguments `arguments`, as in `r::<...>`.
std::string with_arguments(const std::string& arguments) {
  const std::string text = demangled("_RIC1r" + arguments + "E");
  return text.starts_with("r::<") && text.ends_with(">") ? text.substr(4, text.size() - 5) : text;
}

/// A symbol after up to three random changes: letters replaced, left out, inserted, copied from elsewhere in it.
std::string mutated(std::string symbol, std::mt19937& random) {
  static const std::string kLetters = "BCDEFGIKLMNOPQRSTUVXYabcdefhijlmnopstuvxyz0123456789__";
  for (unsigned changes = 1 + random() % 3; changes > 0; --changes) {
    const std::size_t at = 2 + random() % (symbol.size() - 1);
    const std::size_t kind = random() % 4;
    const char letter = kLetters[random() % kLetters.size()];
    if (kind == 0) symbol.replace(std::min(at, symbol.size() - 1), 1, 1, letter);
    if (kind == 1 && symbol.size() > 8) symbol.erase(at, 1);
    if (kind == 2) symbol.insert(at, 1, letter);
    if (kind == 3) symbol.insert(at, symbol.substr(2 + random() % (symbol.size() - 2), 1 + random() % 12));
  }
  return symbol;
}

TEST(RustName, Legacy) {
  EXPECT_EQ(demangled("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE"), "core::fmt::Write::write_fmt");
  EXPECT_EQ(demangled("_ZN1r12Foo$LT$T$GT$2go17h967a83d386b00eb7E"), "r::Foo<T>::go");
  EXPECT_EQ(demangled("_ZN1r4main28_$u7b$$u7b$closure$u7d$$u7d$17h967a83d386b00eb7E"), "r::main::{{closure}}");
  EXPECT_EQ(demangled("_ZN35_$LT$r..A$u20$as$u20$r..B$C$r.x$GT$3f.g17h967a83d386b00eb7E"), "<r::A as r::B,r.x>::f.g");
  EXPECT_EQ(demangled("_ZN26$RF$$BP$$LP$$RP$$SP$$u5b$a1b17h967a83d386b00eb7E"), "&*()@[a::b");
  EXPECT_EQ(demangled("_ZN6$u3bc$1b17h967a83d386b00eb7E"), "\u03bc::b");
}

TEST(RustName, LegacyEscapesThatAreNone) {
  EXPECT_EQ(demangled("_ZN12$LT$$XY$..ab1b17h967a83d386b00eb7E"), "<$XY$..ab::b");
  EXPECT_EQ(demangled("_ZN4$LTa17h967a83d386b00eb7E"), "$LTa");
  EXPECT_EQ(demangled("_ZN5$u1b$17h967a83d386b00eb7E"), "$u1b$");
  EXPECT_EQ(demangled("_ZN7$ud800$17h967a83d386b00eb7E"), "$ud800$");
  EXPECT_EQ(demangled("_ZN25$uffffffffffffffffffffff$17h967a83d386b00eb7E"), "$uffffffffffffffffffffff$");
  EXPECT_EQ(demangled("_ZN9$LT:< GT$17h967a83d386b00eb7E"), "$LT:< GT$");
}

TEST(RustName, NotLegacy) {
  for (const char* symbol :
       {"_ZN3foo3barEv", "_ZN3foo3barE", "_ZN3foo17h967a83d386b00eb7Ev", "_ZN3foo17h967a83d386b00eb7", "_ZN",
        "_ZN17h967a83d386b00eb7E", "_ZN3foo17h967a83d386b00eX7E", "_ZN3foo17x967a83d386b00eb7E", "_ZN99999fooE",
        "_ZN99999999999999999999999fooE", "_ZN0foo17h967a83d386b00eb7E", "_ZNK3geo3Box4areaEi", "_ZNSt6vectorE"}) {
    EXPECT_EQ(rust_name(symbol), std::nullopt) << symbol;
  }
}

TEST(RustName, Paths) {
  EXPECT_EQ(demangled("_RC1r"), "r");
  EXPECT_EQ(demangled("_RNvCsa1B2_1r4main"), "r::main");
  EXPECT_EQ(demangled("_RNvNtCs1_1r3geo4area"), "r::geo::area");
  EXPECT_EQ(demangled("_RINvNtCs1_1r3geo4areaNtB2_3BoxKj4_E"), "r::geo::area::<r::geo::Box, 4>");
  EXPECT_EQ(demangled("_RNvMs_NtC1r1mNtB4_3Box4area"), "<r::m::Box>::area");
  EXPECT_EQ(demangled("_RNvXs0_C1rNtB5_3BoxNtNtC4core3fmt5Debug3fmt"), "<r::Box as core::fmt::Debug>::fmt");
  EXPECT_EQ(demangled("_RNvYNtC1r3BoxNtB4_4Walk2go"), "<r::Box as r::Walk>::go");
  EXPECT_EQ(demangled("_RNvINtC1r4GridhE3sum"), "r::Grid::<u8>::sum");
  EXPECT_EQ(demangled("_RNvMC1rINtC1r4GridhE3sum"), "<r::Grid<u8>>::sum");
}

TEST(RustName, WhatHasNoNameOfItsOwn) {
  EXPECT_EQ(demangled("_RNCNvC1r4main0"), "r::main::{closure#0}");
  EXPECT_EQ(demangled("_RNCNCNvC1r4mains_0s0_0"), "r::main::{closure#1}::{closure#2}");
  EXPECT_EQ(demangled("_RNSNvC1r4main6vtable"), "r::main::{shim:vtable#0}");
  EXPECT_EQ(demangled("_RNXNvC1r4mains_3abc"), "r::main::{X:abc#1}");
  EXPECT_EQ(demangled("_RNvNkC1r01f"), "r::f");
}

TEST(RustName, InstantiatingCratesAndSuffixes) {
  EXPECT_EQ(demangled("_RINvC1r1fhECs4_5other"), "r::f::<u8>");
  EXPECT_EQ(demangled("_RINvC1r1fhEB2_"), "r::f::<u8>");
  EXPECT_EQ(demangled("_RNvC1r1f.llvm.12AB34"), "r::f");
  EXPECT_EQ(demangled("_RNvC1r1f.cold"), "r::f.cold");
  EXPECT_EQ(demangled("_RNvC1r1f.llvm.123.cold"), "r::f.cold");
  EXPECT_EQ(demangled("_RNvC1r1f.part.0.cold.1"), "r::f.part.0.cold.1");
  EXPECT_EQ(demangled("_RNvC1r1f$odd"), "r::f$odd");
  EXPECT_EQ(demangled("_ZN1r1f17h967a83d386b00eb7E.llvm.123"), "r::f");
  EXPECT_EQ(demangled("_ZN1r1f17h967a83d386b00eb7E.cold"), "r::f.cold");
}

TEST(RustName, Types) {
  EXPECT_EQ(with_arguments("abcdefhijlmno"), "i8, bool, char, f64, str, f32, u8, isize, usize, i32, u32, i128, u128");
  EXPECT_EQ(with_arguments("pstuvxyz"), "_, i16, u16, (), ..., i64, u64, !");
  EXPECT_EQ(with_arguments("RhQhRShPhOe"), "&u8, &mut u8, &[u8], *const u8, *mut str");
  EXPECT_EQ(with_arguments("RL_hAhj10_"), "&u8, [u8; 16]");
  EXPECT_EQ(with_arguments("TETaETabE"), "(), (i8,), (i8, bool)");
  EXPECT_EQ(with_arguments("INtC1r3VecTaEE"), "r::Vec<(i8,)>");
  EXPECT_EQ(with_arguments(""), "");
}

TEST(RustName, FunctionPointers) {
  EXPECT_EQ(with_arguments("FEuFabEc"), "fn(), fn(i8, bool) -> char");
  EXPECT_EQ(with_arguments("FUEuFKCEuFUK6systemEu"), "unsafe fn(), extern \"C\" fn(), unsafe extern \"system\" fn()");
  EXPECT_EQ(with_arguments("FK9rust_callhEu"), "extern \"rust-call\" fn(u8)");
  EXPECT_EQ(with_arguments("FG0_RL1_hRL0_hERL1_h"), "for<'a, 'b> fn(&'a u8, &'b u8) -> &'a u8");
  EXPECT_EQ(with_arguments("FG_RL0_hFG_RL0_RL1_hEuEu"), "for<'a> fn(&'a u8, for<'b> fn(&'b &'a u8))");
}

TEST(RustName, TraitObjects) {
  EXPECT_EQ(with_arguments("DNtC1r1DEL_"), "dyn r::D");
  EXPECT_EQ(with_arguments("DNtC1r1DNtC1r4SendEL_"), "dyn r::D + r::Send");
  EXPECT_EQ(with_arguments("DNtC1r4Iterp4ItemhEL_"), "dyn r::Iter<Item = u8>");
  EXPECT_EQ(with_arguments("DG_INtC1r2FnTRL0_eEEp6OutputRL0_eEL_"), "dyn for<'a> r::Fn<(&'a str,), Output = &'a str>");
  EXPECT_EQ(with_arguments("INtC1r2FnhEDB3_p1OhEL_"), "r::Fn<u8>, dyn r::Fn<u8, O = u8>");
  EXPECT_EQ(with_arguments("FG_DNtC1r1DEL0_Eu"), "for<'a> fn(dyn r::D + 'a)");
}

TEST(RustName, Lifetimes) {
  EXPECT_EQ(with_arguments("L_h"), "'_, u8");
  const std::string many = with_arguments("FGq_RL_hRL0_hRLq_hEu");
  EXPECT_TRUE(many.starts_with("for<'a, 'b, ")) << many;
  EXPECT_TRUE(many.ends_with("'y, 'z, '_26, '_27> fn(&u8, &'_27 u8, &'b u8)")) << many;
  EXPECT_EQ(with_arguments("L0_"), "not Rust");
}

TEST(RustName, Constants) {
  EXPECT_EQ(with_arguments("Kh0_Kj1f_Kln80_Kyffffffffffffffff_"), "0, 31, -128, 18446744073709551615");
  EXPECT_EQ(with_arguments("Ko10000000000000000_"), "0x10000000000000000");
  EXPECT_EQ(with_arguments("Kb0_Kb1_KpKj_"), "false, true, _, 0");
  EXPECT_EQ(with_arguments("Kc61_Kc27_Kca_Kc5c_Kc0_Kc7f_Kc3bc_"), R"('a', '\'', '\n', '\\', '\0', '\u{7f}', 'μ')");
  EXPECT_EQ(with_arguments("Kj7_KB4_"), "7, 7");
  for (const char* wrong :
       {"Kb2_", "Kcd800_", "Kc110000_", "Khn1_", "Kj12", "KjF_", "Kd0_", "K", "KB4_", "Kj7_KB3_", "Kj7_KB9_"}) {
    EXPECT_EQ(with_arguments(wrong), "not Rust") << wrong;
  }
}

TEST(RustName, ConstantsMadeOfOthers) {
  EXPECT_EQ(with_arguments("KRe616263_h"), "_, u8");
  EXPECT_EQ(with_arguments("Ke616263_KRAh1_h2_EKQTh1_b0_Eh"), "_, _, _, u8");
  EXPECT_EQ(with_arguments("KVNtC1r4UnitUKVNtC1r4PairTh1_h2_EKVNtC1r3PtrS1xh1_s_1yh2_Eh"), "_, _, _, u8");
  for (const char* wrong : {"KVNtC1r4UnitX", "KAh1_", "KG", "KVNtC1r1PS1xE", "KRe61"}) {
    EXPECT_EQ(with_arguments(wrong), "not Rust") << wrong;
  }
}

TEST(RustName, Punycode) {
  EXPECT_EQ(demangled("_RNvC1ru7caf_dma"), "r::café");
  EXPECT_EQ(demangled("_RNvNtC1ru9gre_6ka8iu8ixa3akho"), "r::größe::μέτρο");
  EXPECT_EQ(demangled("_RNvC1ru7_1lqs71d"), "r::東京");
  EXPECT_EQ(demangled("_RNvC1ru14n_cd_epa6a3c2b"), "r::ünï_cödé");
  EXPECT_EQ(demangled("_RNvC1ru24_3B_ww4c5e180e575a65lsy2b"), "r::3年B組金八先生");
  EXPECT_EQ(demangled("_RNCNvC1ru7caf_dma0"), "r::café::{closure#0}");
  for (const char* wrong : {"u0", "u4abc_", "u3a_B", "u1z", "u2_99", "u9_999999999", "u99999", "u1a", "u3a_a"}) {
    EXPECT_EQ(demangled(std::string("_RNvC1r") + wrong), "not Rust") << wrong;
  }
}

TEST(RustName, NotV0) {
  for (const char* symbol : {"",
                             "_",
                             "_R",
                             "R",
                             "RNvC1r1f",
                             "_Rational",
                             "_R0NvC1r1f",
                             "_RNvC1r",
                             "_RNvC1r2f",
                             "_RNvC1r1f_",
                             "_RNvC1r1fE",
                             "_RNvC1r1fh",
                             "_RNvC1r1f-x",
                             "_RN1C1r1f",
                             "_RNvC1r99999999999999999999999f",
                             "_RC0",
                             "_RB_",
                             "_RNvB_1a",
                             "_RNvB0_1a",
                             "_RIC1rB4_",
                             "_RIC1rSB3_E",
                             "_RIC1rg",
                             "_RIC1rTh",
                             "_RIC1rDNtC1r1DEE",
                             "_RNvC1r1fC",
                             "_RCszzzzzzzzzzzzzzz_1r",
                             "_RNvC1r1f \x1b[2J"}) {
    EXPECT_EQ(rust_name(symbol), std::nullopt) << symbol;
  }
}

std::string repeated(const std::string& text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

/// A back reference to an offset behind `_R`.
std::string back_reference(std::size_t offset) {
  static const std::string kDigits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string digits;
  for (std::size_t rest = offset - 1;; rest /= 62) {
    digits.insert(digits.begin(), kDigits[rest % 62]);
    if (rest < 62) break;
  }
  return "B" + digits + "_";
}

/// Tuples, each of which holds the one before it twice: 2 to the power of `levels` types in all.
std::string doubling(std::size_t levels) {
  std::string symbol = "_RIC1r";
  std::size_t last = symbol.size() - 2;
  symbol += "h";
  for (std::size_t i = 0; i < levels; ++i) {
    const std::size_t start = symbol.size() - 2;
    symbol += "T" + back_reference(last) + back_reference(last) + "E";
    last = start;
  }
  return symbol + "E";
}

TEST(RustName, BackReferencesThatDouble) {
  EXPECT_EQ(demangled(doubling(2)), "r::<u8, (u8, u8), ((u8, u8), (u8, u8))>");
  EXPECT_NE(rust_name(doubling(10)), std::nullopt);
  for (const std::size_t levels : {20, 64, 300, 3000}) EXPECT_EQ(rust_name(doubling(levels)), std::nullopt) << levels;
}

TEST(RustName, BackReferencesWithoutText) {
  std::string symbol = "_RIC0";
  for (std::size_t i = 0; i < 10000; ++i) symbol += "NvB_0";
  EXPECT_EQ(rust_name(symbol + "E"), std::nullopt);
  EXPECT_EQ(rust_name("_RIC1r" + repeated("TB3_", 5000) + "E"), std::nullopt);
}

TEST(RustName, DeepNesting) {
  EXPECT_EQ(demangled("_RIC1r" + repeated("S", 100) + "hE"),
            "r::<" + repeated("[", 100) + "u8" + repeated("]", 100) + ">");
  for (const char* nested :
       {"S", "R", "T", "FE", "FhE", "NvNt", "M", "X", "Y", "IC1r", "DNt", "DI", "Ah", "KA", "KVI"}) {
    EXPECT_EQ(rust_name("_RIC1r" + repeated(nested, 15000)), std::nullopt) << nested;
    EXPECT_EQ(rust_name("_RIC1rK" + repeated(nested, 15000)), std::nullopt) << nested;
    EXPECT_EQ(rust_name("_R" + repeated(nested, 15000)), std::nullopt) << nested;
  }
}

TEST(RustName, LargeNumbersAndSizes) {
  EXPECT_EQ(with_arguments("FGzzzzzzzz_Eu"), "not Rust");
  EXPECT_EQ(with_arguments("FGZZZZZZZZZZ_Eu"), "not Rust");
  EXPECT_EQ(demangled("_RMFGZZZZZZZZZZ_EuC1r"), "not Rust");
  EXPECT_EQ(rust_name("_RNvC1r70000" + std::string(70000, 'a')), std::nullopt);
  EXPECT_EQ(rust_name("_RNvC1ru60000" + std::string(60000, 'a')), std::nullopt);
  EXPECT_EQ(demangled("_RNvC1r60000" + std::string(60000, 'a')), "r::" + std::string(60000, 'a'));
  EXPECT_EQ(rust_name("_ZN70000" + std::string(70000, 'a') + "17h967a83d386b00eb7E"), std::nullopt);
}

/// Each seed is cut off at all places, and changed at random. What comes out must be bounded; the sanitized build of
/// the tests sees the rest.
TEST(RustName, DamagedNames) {
  const std::vector<std::string> seeds = {
      "_RINvNtCs1_1r3geo4areaNtB2_3BoxKj4_E",
      "_RNvXs0_C1rINtB5_3BoxReENtNtC4core3fmt5Debug3fmtCs4_5other",
      "_RNCNCNvNtC1ru9gre_6ka8iu8ixa3akhos_0s0_0.llvm.123",
      "_RIC1rFG0_RL1_hQL0_hERL1_hFUK6systemPhOeEzDG_INtC1r2FnTRL0_eEEp6OutputRL0_eNtC1r4SendEL_E",
      "_RIC1rATabEj10_B3_Kln80_KBg_Kc61_Kb1_KpKRe616263_KVNtC1r3PtrS1xh1_s_1yAh2_h3_EEE",
      "_ZN35_$LT$r..A$u20$as$u20$r..B$C$r.x$GT$3f.g17h967a83d386b00eb7E.cold",
      doubling(6)};
  std::mt19937 random(1);
  std::size_t understood = 0;
  for (const std::string& seed : seeds) {
    ASSERT_NE(rust_name(seed), std::nullopt) << seed;
    for (std::size_t size = 0; size < seed.size(); ++size) rust_name(seed.substr(0, size));
    for (int i = 0; i < 10000; ++i) {
      const std::string symbol = mutated(seed, random);
      const std::optional<std::string> name = rust_name(symbol);
      if (!name) continue;
      ++understood;
      ASSERT_FALSE(name->empty()) << symbol;
      ASSERT_LT(name->size(), 70000u) << symbol;
    }
  }
  EXPECT_GT(understood, 5000u);
}

constexpr const char* kProgram = R"(
use std::fmt::Debug;
#[inline(never)]
fn show<T: ?Sized>() -> usize { std::any::type_name::<T>().len() }
#[inline(never)]
fn shown<T>(_: &T) -> usize { std::any::type_name::<T>().len() }
struct Grid<T, const N: usize>([T; N]);
impl<T: Copy + Into<f64>, const N: usize> Grid<T, N> {
    #[inline(never)]
    fn sum(&self) -> f64 { self.0.iter().map(|&x| x.into()).sum() }
}
struct Tagged<const I: i8, const B: bool, const C: char>;
trait Walk {
    type Step;
    #[inline(never)]
    fn twice(&self) -> usize { show::<Self::Step>() * 2 }
    fn go<'a>(&self, s: &'a str) -> &'a str;
}
impl<T: Debug, const N: usize> Walk for Grid<T, N> {
    type Step = (T,);
    #[inline(never)]
    fn go<'a>(&self, s: &'a str) -> &'a str { &s[1..] }
}
mod größe {
    #[inline(never)]
    pub fn μέτρο() -> usize { super::show::<()>() }
    pub mod 東京 { #[inline(never)] pub fn f() -> usize { super::super::show::<u8>() } }
}
macro_rules! all { ($($t:ty),* $(,)?) => { 0 $(+ show::<$t>())* } }
fn main() {
    let g = Grid([1.5f32; 3]);
    let mut n = all![
        i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize, f32, f64, bool, char, str, (),
        &'static str, &'static mut [u8], *const u8, *mut [i32; 4], (u8,), (u8, (i8, char)), [[u8; 2]; 300],
        fn(), fn(u8, &str) -> bool, unsafe fn(), extern "C" fn(i32) -> i32, unsafe extern "system" fn(),
        for<'a, 'b> fn(&'a u8, &'b mut u8) -> &'a u8, for<'a> fn(&'a u8, for<'b> fn(&'b &'a str) -> &'a str),
        dyn Debug, dyn Debug + Send, Box<dyn Fn(u8) -> bool + Sync>, dyn for<'a> Fn(&'a str) -> &'a str,
        dyn Iterator<Item = Vec<u8>>, &'static (dyn Walk<Step = u8> + Send),
        Tagged<-128, true, 'x'>, Tagged<127, false, '\n'>, Grid<Option<String>, 18446744073709551615>,
        <Grid<u8, 2> as Walk>::Step, Result<Vec<Option<Box<[u8]>>>, std::io::Error>,
        std::collections::HashMap<String, Vec<(usize, &'static str)>>,
    ];
    n += g.sum() as usize + g.twice() + g.go("ab").len() + größe::μέτρο() + größe::東京::f();
    let a = |x: usize| { let b = move |y: usize| x + y; shown(&b) + b(1) };
    n += shown(&a) + a(2) + shown(&größe::μέτρο) + shown(&Grid::<u8, 4>::sum);
    let walkers: Vec<Box<dyn Walk<Step = (u8,)>>> = vec![Box::new(Grid([n as u8; 2]))];
    n += walkers.iter().map(|w| w.twice()).sum::<usize>();
    std::thread::spawn(move || println!("{n}")).join().unwrap();
}
)";

class RustProgramTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!is_installed("rustc")) GTEST_SKIP() << "rustc is not installed";
    if (filtered({"_RNvC1r1f"}) != std::vector<std::string>{"r::f"}) GTEST_SKIP() << "c++filt does not know Rust's v0";
  }

  /// The program's symbols that rustc has mangled, without what LLVM puts behind them, which `c++filt` drops.
  std::vector<std::string> symbols_of(const std::string& source, const std::string& options) {
    directory_.write("demo.rs", source);
    directory_.run("RUSTC_BOOTSTRAP=1 rustc --edition 2021 -A warnings -Z unstable-options " + options + " demo.rs");
    std::istringstream names(directory_.output_of("nm -f just-symbols --defined-only demo"));
    std::set<std::string> symbols;
    for (std::string name; names >> name;) {
      if (name.starts_with("_R")) symbols.insert(name.substr(0, name.find('.')));
      if (name.starts_with("_ZN") && name.ends_with("E") && name.find("17h") != std::string::npos) symbols.insert(name);
    }
    return {symbols.begin(), symbols.end()};
  }

  std::vector<std::string> filtered(const std::vector<std::string>& symbols) {
    std::string text;
    for (const std::string& symbol : symbols) text += symbol + "\n";
    directory_.write("symbols.txt", text);
    std::istringstream lines(directory_.output_of("ulimit -v 1000000; timeout 100 c++filt -i < symbols.txt"));
    std::vector<std::string> names;
    for (std::string line; std::getline(lines, line);) names.push_back(line);
    return names;
  }

  /// Some characters and large integers are not compared: `c++filt` leaves them as they are, or gets them wrong.
  void expect_as_filtered(const std::vector<std::string>& symbols) {
    const std::vector<std::string> names = filtered(symbols);
    ASSERT_EQ(names.size(), symbols.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto has = [&](const char* text) { return names[i].find(text) != std::string::npos; };
      if (has("$u") || has("\\u{") || has("0x")) continue;
      EXPECT_EQ(demangled(symbols[i]), names[i]) << symbols[i];
    }
  }

  std::set<std::string> demangled_names(const std::vector<std::string>& symbols) {
    std::set<std::string> names;
    for (const std::string& symbol : symbols) names.insert(demangled(symbol));
    return names;
  }

  TemporaryDirectory directory_;
};

TEST_F(RustProgramTest, V0) {
  const std::vector<std::string> symbols = symbols_of(kProgram, "-C symbol-mangling-version=v0");
  EXPECT_GT(symbols.size(), 200u);
  expect_as_filtered(symbols);
  const std::set<std::string> names = demangled_names(symbols);
  for (const char* name :
       {"demo::main", "demo::größe::東京::f", "demo::shown::<demo::main::{closure#0}::{closure#0}>",
        "<demo::Grid<f32, 3>>::sum", "<demo::Grid<f32, 3> as demo::Walk>::twice", "demo::show::<(u8, (i8, char))>",
        "demo::show::<demo::Tagged<-128, true, 'x'>>", "demo::show::<unsafe extern \"system\" fn()>"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

TEST_F(RustProgramTest, Legacy) {
  const std::vector<std::string> symbols = symbols_of(kProgram, "-C symbol-mangling-version=legacy");
  EXPECT_GT(std::count_if(symbols.begin(), symbols.end(), [](const auto& s) { return s.starts_with("_ZN"); }), 100);
  expect_as_filtered(symbols);
  EXPECT_TRUE(demangled_names(symbols).contains("demo::größe::μέτρο"));
}

TEST_F(RustProgramTest, Optimised) {
  const std::vector<std::string> symbols = symbols_of("fn main() { println!(\"hello\"); }", "-g -O");
  EXPECT_GT(symbols.size(), 200u);
  expect_as_filtered(symbols);
}

/// Damaged names that both understand are the same. `c++filt` is not given names that may keep it busy for hours.
TEST_F(RustProgramTest, Damaged) {
  const std::vector<std::string> symbols = symbols_of(kProgram, "-C symbol-mangling-version=v0");
  ASSERT_FALSE(symbols.empty());
  std::mt19937 random(2);
  std::vector<std::string> damaged;
  for (int i = 0; i < 20000; ++i) {
    const std::string symbol = mutated(symbols[random() % symbols.size()], random);
    if (rust_name(symbol).value_or(std::string(4000, ' ')).size() < 4000) damaged.push_back(symbol);
  }
  EXPECT_GT(damaged.size(), 2000u);
  expect_as_filtered(damaged);
}

}  // namespace
}  // namespace loopfold::symbols
