// What a view needs, and nothing that it would have to compute: the contents of profile.json, as plain data.
//
// Names in JSON are a contract (docs/profile.schema.json); fields here are called the same. Stages fill in their part:
// the structure stage the program, the tree and what is known about the quality of the recording; ddg, fold and poly
// statements, accesses, values, dependences, objects, and what was given up; and, per loop, what stands in the way of
// running its iterations in any order.
//
// Large programs have hundreds of thousands of statements and dependences, so what many of them share is said once: the
// instructions of a statement are in a table of code, and a dependence lists all operands by which it goes.
//
// No address of the run is in here: code is a file and an address in it, data an object and an offset. Two recordings
// of one deterministic program give the same profile, wherever the system put it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace loopfold::profile {

/// A place in the source. Views write null, or nothing, if it is not known.
struct Source {
  std::string file;  // as the debug information names it
  int line = 0;
  friend bool operator==(const Source&, const Source&) = default;
};

struct Program {
  std::vector<std::string> argv;
  std::optional<int> exit_status;  // as a shell would give it: 128+n for signal n; not known in a partial trace
  bool partial = false;
  std::uint64_t instructions = 0;  // that the tree accounts for
  std::uint64_t threads = 0;
};

/// Something that makes the results weaker than they could be.
struct Quality {
  std::string kind;    // a short word: "partial", "no debug info", ...
  std::string text;    // one sentence
  double share = 0.0;  // of the instructions that it concerns, 0..1
};

/// How often a loop went round, over its entries.
struct Counts {
  std::uint64_t min = 0;
  std::uint64_t max = 0;
  std::uint64_t total = 0;
  friend bool operator==(const Counts&, const Counts&) = default;
};

/// A node of the loop tree: a way of calls and loops to what ran.
struct TreeNode {
  enum class Kind : std::uint8_t { kRoot, kCall, kLoop, kRecursion };
  std::uint32_t id = 0;                 // its place in Profile::tree; parents come before children
  std::optional<std::uint32_t> parent;  // none for the root
  Kind kind = Kind::kRoot;
  std::string function;          // demangled, or symbol+offset, or module+offset: the callee, or where the loop is
  std::string module;            // base name of the file, empty for code in no file
  std::optional<Source> source;  // of a loop: its header in the source; of a call or recursion: where the function is
  std::optional<Source> call_site;   // of a call or recursion
  std::vector<std::string> inlined;  // functions that the loop's source is inlined from, outermost first
  std::string origin;                // "thread", "signal handler", "coroutine" below the root, else empty
  std::uint64_t address = 0;         // in the file: of the loop's header, or of the function's first instruction
  std::uint32_t depth_binary = 0;    // of a loop: loops around it in its function, itself included
  std::uint32_t depth_source = 0;    // of a loop: the same for loops of the source
  bool irreducible = false;          // of a loop
  bool hidden = false;               // of a loop: a level inside a loop that the binary has as one (its parent's)
  std::uint64_t period = 0;          // of a hidden level: iterations of an entry, if the loop does not end before
  std::uint64_t block = 0;           // of what has hidden levels inside: iterations of the binary's loop in each of it
  bool excluded = false;             // left out as asked: in no region
  std::uint32_t index = 0;           // static index among its siblings
  std::uint64_t ops = 0;             // guest instructions, inclusive
  std::uint64_t self_ops = 0;        // exclusive
  std::uint64_t mem_ops = 0;         // instructions that access memory, inclusive
  std::uint64_t self_mem_ops = 0;
  std::uint64_t fp_ops = 0;  // floating-point operations among them, inclusive
  std::uint64_t self_fp_ops = 0;
  std::uint64_t entries = 0;     // how often it was called or entered
  std::uint64_t iterations = 0;  // of a loop: executions of its header, over all entries; of a recursion: steps
  Counts iterations_per_entry;
  Counts trip;  // without iterations that left the loop from a test at its top
};

// ---- The folded program ----------------------------------------------------------------------------------------
//
// Vectors have one entry per coordinate of a statement's iteration vector, outermost first: its loops and recursions;
// in front of them the number of the thread (or handler, or coroutine), where several started the same way. An entry
// is missing (null in JSON) where something is not affine along that coordinate, or not known.

using Coefficient = std::optional<std::int64_t>;

/// Something that could not be kept as exactly as asked.
struct GaveUp {
  std::string what;    // "address of the load at hist.c:12"
  std::string why;     // a short phrase
  double share = 0.0;  // of the program's instructions that it concerns
};

/// The instructions of a statement. Statements that are the same code in several nodes of the tree share them.
struct Code {
  std::string module;                    // the file it is in, its base name; empty for code in no file
  std::string function;                  // as in the tree
  std::vector<std::uint64_t> addresses;  // in the file, as objdump shows them; 0 for code in no file
};

/// A straight piece of code in one node of the tree, or something that the run did outside of the program's code.
struct Statement {
  enum class Kind : std::uint8_t { kCode, kAllocator, kHidden, kSystemCall };
  std::uint32_t id = 0;  // its place in Profile::statements, in the order of first execution
  std::string name;      // "S" and the id
  Kind kind = Kind::kCode;
  std::string call;  // kAllocator: "malloc", ...; kSystemCall: "write", ...; else empty
  std::uint32_t node = 0;
  std::vector<std::optional<std::uint32_t>> loops;  // by coordinate: the node it counts; null for the thread's number
  std::vector<Source> source;                       // distinct lines of its instructions, in the order of addresses
  std::vector<std::uint32_t> source_instructions;   // by line: instructions; empty if all of them are of one line
  std::optional<std::uint32_t> code;                // its instructions; of a call: the one that calls
  std::string domain;                               // isl
  bool exact = false;                               // the domain is
  std::uint64_t count = 0;                          // instances
  std::uint64_t ops = 0;                            // instructions executed; none for kinds other than code
  std::uint64_t pieces = 1;                         // of the domain
  std::uint64_t edges = 0;  // register flows between instructions of one instance; they are the same in all
};

/// One polyhedron of an access: within `domain`, offset = (constant + coefficients * vector) / divisor, which is an
/// integer there; with a modulus, base + ((that - base) mod modulus). The same for the ordinal of the block.
struct AccessPiece {
  std::string domain;
  std::uint64_t count = 0;
  bool exact = true;
  std::vector<Coefficient> coefficients;
  Coefficient constant;
  std::int64_t divisor = 1;
  std::int64_t modulus = 0;  // 0: none
  Coefficient base;
  std::vector<Coefficient> block_coefficients;
  Coefficient block_constant;
  std::int64_t block_divisor = 1;
  std::int64_t block_modulus = 0;
  Coefficient block_base;
  friend bool operator==(const AccessPiece&, const AccessPiece&) = default;
};

/// A load or store of an instruction in one object.
struct Access {
  enum class Kind : std::uint8_t { kLoad, kStore };
  std::uint32_t statement = 0;
  Kind kind = Kind::kLoad;
  std::uint64_t size = 0;
  std::uint32_t object = 0;
  std::vector<Coefficient> coefficients;  // bytes within the block; null also where pieces differ
  Coefficient constant;                   // null where pieces differ, and in objects without a known start
  std::vector<Coefficient> block_coefficients;
  Coefficient block_constant;
  bool affine = false;  // none of the coefficients is null
  bool exact = false;   // every address can be computed from what is here
  bool guarded = false;
  std::uint64_t count = 1;
  std::uint32_t instruction = 0;  // of the statement's code
  std::optional<Source> source;
  std::optional<std::string> domain;  // null: that of the statement
  Coefficient minimum;                // of the offset
  Coefficient maximum;
  Coefficient block_minimum;
  Coefficient block_maximum;
  std::vector<AccessPiece> pieces;  // where one function does not say it all: several pieces, a divisor or a modulus
};

/// An integer result of an instruction that is not the same in all instances. Its constant is left out: it may be an
/// address.
struct Value {
  std::uint32_t statement = 0;
  std::uint32_t instruction = 0;  // of the statement's code
  std::optional<Source> source;
  std::string reg;  // "rax", "eax", "ax", "al", "ah"
  std::uint64_t count = 0;
  std::uint64_t pieces = 1;
  std::vector<Coefficient> coefficients;  // common to all pieces
  bool affine = true;
  bool exact = true;
};

/// How many instances of a dependence are carried by a node: its coordinate is the first that differs. No node: none
/// differs.
struct Carried {
  std::optional<std::uint32_t> node;
  std::uint64_t count = 0;
  friend bool operator==(const Carried&, const Carried&) = default;
};

/// One way for a value from producer to consumer: an instruction of each one's code, and an operand of the latter.
struct Use {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::string operand = "register 0";  // or "memory 0", "flags", "environment"
  std::uint32_t lane = 0;              // first byte within it
  bool address = false;                // the operand only forms an address
  friend bool operator==(const Use&, const Use&) = default;
};

/// Flow from the instances of one statement to those of another. Several values that flow in the same way are one
/// dependence with several uses.
struct Dependence {
  enum class Kind : std::uint8_t { kRegister, kMemory, kControl, kEnvironment };
  std::optional<std::uint32_t> from;  // statement; null where the producer is not known any more (memory limit)
  std::uint32_t to = 0;               // statement
  Kind kind = Kind::kRegister;
  std::uint64_t count = 0;  // instances of each use
  std::string map;          // isl, from producer to consumer
  bool affine = false;
  bool exact = true;
  std::optional<Source> source_from;
  std::optional<Source> source_to;
  std::optional<std::uint32_t> object;               // kMemory, kEnvironment
  bool more_objects = false;                         // some instances were in others
  std::optional<std::vector<Coefficient>> distance;  // by shared coordinate; null if none is shared
  std::vector<std::int64_t> distance_minimum;        // the same; empty if none is shared
  std::vector<std::int64_t> distance_maximum;
  std::vector<Carried> carried;
  std::vector<Use> uses;
  std::uint64_t pieces = 1;
};

/// What accesses fall into.
struct Object {
  enum class Kind : std::uint8_t { kHeap, kGlobal, kStack, kEnvironment, kUnknown };
  std::uint32_t id = 0;  // its place in Profile::objects
  Kind kind = Kind::kUnknown;
  std::string name;
  std::string type;          // of a global, if known
  std::uint64_t size = 0;    // of the largest block
  std::uint64_t blocks = 0;  // of a heap object: allocations
  std::optional<Source> source;
};

// ---- Loops and what can be said of them ------------------------------------------------------------------------

/// How often a loop goes round each time it is entered. Of a loop in several copies: min and max are bounds, the mean
/// is that of all copies together.
struct Trip {
  std::uint64_t min = 0;
  std::uint64_t max = 0;
  double mean = 0;
  friend bool operator==(const Trip&, const Trip&) = default;
};

/// A chain of one associative operation that a loop carries.
struct Reduction {
  std::string operation;      // "+", "*", "min", "max", "&", "|", "^"
  std::string variable;       // the object it is in; empty for a register
  bool reassociates = false;  // another order may give another result: floating point
  bool array = false;         // many variables: bins[x] += w
  std::optional<Source> source;
  bool partly = false;  // the loop uses other parts of `variable`, too: no copies of all of it
  friend bool operator==(const Reduction&, const Reduction&) = default;
};

/// Something in memory, named by an instruction that accesses it; or a variable, wherever it is kept.
struct Touched {
  Touched() = default;
  Touched(std::optional<Source> at, std::optional<std::uint32_t> in) : source(std::move(at)), object(in) {}

  std::optional<Source> source;
  std::optional<std::uint32_t> object;
  std::string variable;                // as the source calls it; empty if that is not known
  std::string clause;                  // of OpenMP, if one says it: "private(t)"
  std::optional<std::uint64_t> bytes;  // of the copies that an expansion needs
  friend bool operator==(const Touched&, const Touched&) = default;
};

/// A branch on data that always went one way.
struct Assumption {
  std::optional<Source> source;
  friend bool operator==(const Assumption&, const Assumption&) = default;
};

/// A dependence that a loop carries and that keeps its iterations in order.
struct Blocking {
  enum class Kind : std::uint8_t { kRegister, kMemory, kEnvironment, kControl };
  std::optional<Source> source_from;  // what produces
  std::optional<Source> source_to;    // what consumes
  std::optional<std::uint32_t> object;
  std::optional<std::int64_t> distance;  // in iterations of the loop, if it is always the same
  std::uint64_t count = 0;               // instances
  Kind kind = Kind::kRegister;
  std::string direction = "<";        // the producer's iteration comes before the consumer's
  std::optional<std::int64_t> least;  // of the distance, if it varies
  std::optional<std::int64_t> greatest;
  std::string text;  // one phrase
};

/// Why a loop cannot be judged.
struct Doubt {
  std::string why;
  std::optional<Source> source;
  std::uint64_t count = 0;
};

/// A loop of the source in one place of the tree: one or more loops of the binary.
struct Loop {
  enum class Parallel : std::uint8_t { kYes, kNo, kReduction, kUnknown };
  enum class Reuse : std::uint8_t { kNone, kPrivate, kExpand, kUnknown };
  std::uint32_t node = 0;            // the first of nodes
  std::vector<std::uint32_t> nodes;  // of the tree, increasing
  std::optional<Source> source;
  std::string function;
  std::uint32_t depth = 0;  // loops of the source around it in the region
  double ops_percent = 0;   // of the program
  Trip trip;
  Parallel parallel = Parallel::kUnknown;
  Reuse reuse = Reuse::kUnknown;
  std::string reuse_why;  // if that is not known: because
  std::vector<Reduction> reductions;
  std::vector<Touched> privates;  // "private"
  std::vector<Touched> expand;
  std::vector<Touched> reload;
  std::vector<Assumption> assumes;
  std::vector<Blocking> blocking;  // most instances first
  std::vector<Doubt> unknown;
  double stride01_percent = 0;     // of its accesses
  bool hidden = false;             // a level that the binary hides in the loop around it
  std::uint64_t period = 0;        // if so: its iterations
  std::uint64_t block = 0;         // of a loop with hidden levels: its coordinate counts blocks of so many iterations
  std::optional<Parallel> blocks;  // if so: the verdict for these blocks; `parallel` is that of single iterations
};

/// One loop of a new order: it goes over a sum of counters of the loops as written.
struct BandMember {
  struct Term {
    std::uint32_t node = 0;  // of the tree: the loop as written
    std::int64_t factor = 1;
    friend bool operator==(const Term&, const Term&) = default;
  };
  std::vector<Term> terms;  // the loop that it stands for first; none: it only puts statements in order
  Loop::Parallel parallel = Loop::Parallel::kUnknown;
  friend bool operator==(const BandMember&, const BandMember&) = default;
};

/// Loops of a new order that may change places with each other and be tiled together: consecutive dimensions of the
/// schedule, for some of its statements. Of instances whose dimensions before the band are equal, no consumer comes
/// before its producer in any dimension of the band; and with equal dimensions before a parallel member, none comes
/// behind it in that member either.
struct Band {
  std::uint32_t first = 0;                // dimension of the schedule
  std::vector<std::uint32_t> statements;  // increasing
  std::vector<BandMember> members;        // outermost first
  friend bool operator==(const Band&, const Band&) = default;
};

/// What a legal schedule can make of a region. Percentages are of the region's operations, but those of reuse, which
/// are of its accesses.
struct Transformed {
  enum class Status : std::uint8_t {
    kFound,     // another order is better
    kOriginal,  // nothing better than the order as written was found
    kGaveUp,    // no order was found within the budget, or something about the region is not known: see `why`
  };
  enum class Fusion : std::uint8_t { kMax, kSmart, kNone };
  Status status = Status::kGaveUp;
  std::string why;
  double parallel_ops_percent = 0;
  double simd_ops_percent = 0;
  double reuse_percent = 0;            // accesses of stride 0 or 1 in the innermost loops as written
  double potential_reuse_percent = 0;  // the same in the best order of the loops
  std::uint32_t tile_depth = 0;
  double tilable_ops_percent = 0;
  std::vector<std::vector<std::int64_t>> skew;          // node, node, factor: the first becomes first + factor * second
  std::vector<std::vector<std::uint32_t>> interchange;  // pairs of nodes of the tree: the outer one as written first
  Fusion fusion = Fusion::kNone;
  std::uint64_t components_before = 0;  // outermost loops
  std::uint64_t components_after = 0;
  std::string schedule;            // isl: { S3[i0, i1] -> [t0, t1, ...]; ... }, all of one length
  std::vector<Band> bands;         // outermost first
  std::vector<std::string> steps;  // the transformation in words, one step each
  std::string ast_before;          // simplified, annotated
  std::string ast;
  friend bool operator==(const Transformed&, const Transformed&) = default;
};

/// What must change first.
struct Requirement {
  /// "private", "expand", "reduction", "reload", "copy" (of a function), "assume" (that a branch goes the way of this
  /// run), "unknown"
  std::string kind;
  std::string variable;  // empty if it has no name
  std::optional<std::uint32_t> loop;
  std::string clause;  // of OpenMP
  std::optional<std::uint64_t> bytes;
  friend bool operator==(const Requirement&, const Requirement&) = default;
};

struct Suggestion {
  enum class Legal : std::uint8_t { kYes, kNo, kUnknown };
  std::string rule;   // "LF-PAR", ...
  std::string title;  // one sentence
  std::vector<Source> where;
  Legal legal = Legal::kUnknown;
  std::vector<Requirement> requirements;  // "requires"
  double gain = 1;                        // of the whole program's speed
  std::string estimate;                   // how the gain was found
  std::vector<std::string> evidence;
  std::vector<std::uint32_t> loops;  // nodes of the tree that it is about
  friend bool operator==(const Suggestion&, const Suggestion&) = default;
};

/// An outermost loop, with all that runs inside it.
struct Region {
  std::uint32_t id = 0;    // its place in Profile::regions
  std::uint32_t node = 0;  // of its outermost loop
  std::optional<Source> source;
  std::string function;
  double ops_percent = 0;  // of the program
  double mem_percent = 0;  // of the region, like the next two
  double fp_percent = 0;
  double affine_percent = 0;   // instructions of statements of which all is exact
  std::uint64_t vertices = 0;  // statements
  std::uint64_t edges = 0;     // dependences between them
  bool interprocedural = false;
  std::uint32_t depth_binary = 0;  // of the deepest nest
  std::uint32_t depth_source = 0;
  std::vector<std::string> static_obstacles;
  std::vector<Loop> loops;  // in the order of the tree
  std::optional<Transformed> transformed;
  std::vector<Suggestion> suggestions;  // the greatest gain first
};

struct Profile {
  Program program;
  std::vector<Quality> quality;
  std::vector<TreeNode> tree;  // the root first, then depth first: a node's children in the order of their index

  bool folded = false;  // what follows is there
  std::vector<GaveUp> gave_up;
  std::vector<Code> code;
  std::vector<Statement> statements;
  std::vector<Access> accesses;
  std::vector<Value> values;
  std::vector<Dependence> dependences;
  std::vector<Object> objects;

  bool judged = false;             // what follows is there
  double regions_min_percent = 0;  // smaller outermost loops are not regions
  std::vector<Region> regions;     // most operations first
};

}  // namespace loopfold::profile
