// All streams of a run: statements with their domains, accesses, values and dependences, each with its folder.
//
// Streams are found without a search on the way that most points take: the streams of a statement are numbered like the
// accesses, results and operands of its code, and each of these remembers the stream that it used last
// (stream_links.h), with everything that a point needs in one place: its folder and what is counted beside it. So a
// point is a comparison, a few counters and the folder's own work. What a stream
// costs is accounted; when all of them together need more than they may, those that need most are given up first, and
// when even empty streams are too many, no new ones are made: what would have gone into them is counted, by statement.
//
// A stream whose domain is given up keeps none: the instances of its statement cover it. So irregular code costs the
// geometry of one stream per statement, and of the others only their labels.
//
// Statements are kept apart per stack where stacks run beside each other (threads, coroutines), because folding needs
// points in lexicographic order; finish() unites them.
//
// Two threads may use this at once (feed.h). One makes sites and asks what they are: site(), locate(), cold(),
// definition() and the like, begun(), known(). The other one does all the rest, with sites that it was told of; what it
// changes of a site is in other cache lines than what the first one reads. What it does depends only on the calls that
// it makes, and on their order: also limits, which are looked at when there are so many streams more than the last
// time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "ddg/graph.h"
#include "ddg/objects.h"
#include "ddg/part_code.h"
#include "ddg/stable_array.h"
#include "ddg/steady.h"
#include "ddg/stream_links.h"
#include "ddg/stream_sizes.h"
#include "fold/fold.h"
#include "structure/loop_tree.h"

namespace loopfold::ddg {

using DefinitionId = std::uint32_t;  // an instruction of a statement of a stack; 0 is none

/// Of one statement, on one stack.
using SiteId = std::uint32_t;

struct LoadRanks;
struct Ranks;

class Streams {
  struct DependenceDetails;
  struct Site;

 public:
  using Dependences = DependenceDetails*;

  /// With more than one job, folders are ended by several threads.
  Streams(const fold::Options& options, const structure::LoopTree& tree, unsigned jobs = 1, std::vector<bool> hot = {})
      : options_(options), tree_(tree), hot_(std::move(hot)), jobs_(jobs) {}

  struct SiteKey {
    Statement::Kind kind = Statement::Kind::kCode;
    structure::ContextId context = structure::kNoContext;
    structure::FunctionId function = structure::kNoFunction;
    structure::NodeId node = structure::kNoNode;
    std::uint32_t variant = 0;  // of the code at its place; kAllocator, kSystemCall: Statement::detail
    std::uint64_t stack = 0;    // number of the stack, if stacks may run beside each other
    friend bool operator==(const SiteKey&, const SiteKey&) = default;
  };
  /// The site, made if it is new: with so many instructions, and dimensions as its context has.
  SiteId site(const SiteKey& key, structure::PlaceId place, std::size_t instructions);

  /// A site with what is known of it: to be looked up once for all that happens in an instance.
  struct Located {
    SiteId id = 0;
    Site* site = nullptr;
  };
  Located locate(SiteId site) { return {site, &sites_[site]}; }
  static bool cold(const Located& at) { return at.site->cold; }
  static DefinitionId first_definition(const Located& at) { return at.site->first_definition; }

  std::uint16_t dimensions(SiteId site) const { return sites_[site].dimensions; }
  /// In a context that is not kept: it is a producer, and nothing else.
  bool cold(SiteId site) const { return sites_[site].cold; }
  DefinitionId definition(SiteId site, std::uint16_t instruction) const {
    return sites_[site].first_definition + instruction;
  }

  SiteId site_of(DefinitionId definition) const { return site_of_definition_[definition]; }
  std::uint16_t instruction_of(DefinitionId definition) const {
    return static_cast<std::uint16_t>(definition - sites_[site_of_definition_[definition]].first_definition);
  }
  structure::ContextId context_of(SiteId site) const { return sites_[site].key.context; }
  /// When it is finished.
  StatementId statement_of(SiteId site) const { return statement_of_[site]; }
  /// What this site made is known to be used: it gets a statement whatever happens.
  void keep(SiteId site) { sites_[site].produces = true; }

  /// Remembers what the site's code is: the longest that ran.
  void set_code(SiteId site, const PartCode* code);

  /// An instance comes soon: fetches what is known of the site's streams, then, some time later, their folders. Those
  /// of hundreds of sites do not fit into the cache next to the processor. Inline in any case: a call of something that
  /// only prefetches counts as one without effect, and is left out.
  [[gnu::always_inline]] static void prefetch(const Located& at) {
    __builtin_prefetch(at.site->domain.folder);
    for_each_last(
        *at.site, [](const auto* details) __attribute__((always_inline)) { __builtin_prefetch(details); });
  }
  [[gnu::always_inline]] static void prefetch_folders(const Located& at) {
    for_each_last(
        *at.site, [](const auto* details) __attribute__((always_inline)) { __builtin_prefetch(details->sink.folder); });
  }

  void instance(const Located& at, const std::int64_t* point);
  void instance(SiteId site, const std::int64_t* point) { instance(locate(site), point); }
  /// `copy`: it is a spill or a reload.
  void access(const Located& at, const MemoryAccess& access, const std::int64_t* point, ObjectId object,
              std::int64_t block, std::int64_t offset, std::uint64_t entry, bool copy = false);
  void access(SiteId site, const MemoryAccess& access, const std::int64_t* point, ObjectId object, std::int64_t block,
              std::int64_t offset, std::uint64_t entry, bool copy = false) {
    this->access(locate(site), access, point, object, block, offset, entry, copy);
  }
  /// `entry` tells one entry of the innermost loop from the next.
  void value(const Located& at, const IntegerValue& value, const std::int64_t* point, std::int64_t label,
             std::uint64_t entry);
  void value(SiteId site, const IntegerValue& value, const std::int64_t* point, std::int64_t label,
             std::uint64_t entry) {
    this->value(locate(site), value, point, label, entry);
  }

  /// Who reads.
  struct Reader {
    SiteId site = 0;
    std::uint16_t instruction = 0;
    std::uint8_t operand = 0;
    std::uint16_t lane = 0;
    std::uint32_t dense = 0;  // number of the operand in the site's code
    Dependence::Kind kind = Dependence::Kind::kRegister;
    bool address = false;
    bool chunks = false;  // the point has one more coordinate
    ObjectId object = kUnknownObject;
    bool reload = false;
  };
  /// `producer` has as many coordinates as the definition's site has dimensions; the first `equal` of them are known to
  /// be those of the point. True if it is on another stack: then late(k) says that it produced this after the loop of
  /// the reader's coordinate k was entered.
  bool dependence(const Located& at, const Reader& reader, DefinitionId from, const std::int64_t* point,
                  const std::int64_t* producer, std::size_t equal);
  bool dependence(const Reader& reader, DefinitionId from, const std::int64_t* point, const std::int64_t* producer,
                  std::size_t equal = 0) {
    return dependence(locate(reader.site), reader, from, point, producer, equal);
  }
  void late(std::size_t coordinate, std::uint64_t times = 1);
  /// A producer that is not known any more.
  void lost_dependence(const Reader& reader, const std::int64_t* point);

  // ---- Several iterations of the innermost loop at once ------------------------------------------------------------
  // As n calls of the above, the point's last coordinate being one more each time.

  void instance_run(SiteId site, const std::int64_t* point, std::uint64_t n);
  /// How a place changes each time.
  struct PlaceStep {
    std::int64_t block = 0;
    std::int64_t offset = 0;
  };
  /// `copies` of them are spills or reloads.
  void access_run(SiteId site, const MemoryAccess& access, const std::int64_t* point, const Objects::Place& place,
                  PlaceStep step, std::uint64_t n, std::uint64_t copies, std::uint64_t entry);
  void value_run(SiteId site, const IntegerValue& value, const std::int64_t* point, std::int64_t label,
                 std::int64_t step, std::uint64_t n, std::uint64_t entry);
  /// Some values that are listed, at most 64.
  void value_list(SiteId site, const IntegerValue& value, const std::int64_t* point, const std::int64_t* labels,
                  std::size_t n, std::uint64_t entry);
  /// The same of accesses to one block; `place` has the offset of none of them. `copies` of them are spills or reloads.
  void access_list(SiteId site, const MemoryAccess& access, const std::int64_t* point, const Objects::Place& place,
                   const std::int64_t* offsets, std::size_t n, std::uint64_t copies, std::uint64_t entry);
  /// The stream of the dependences of an operand on a definition. Null: there is none, and the points must come one by
  /// one.
  Dependences dependences(const Reader& reader, DefinitionId from);
  /// Only the producer's last coordinate changes, by `step` each time; `reloads` of the consumers are reloads, and the
  /// point's last coordinate is `stride` more each time. The first `equal` coordinates of the producer, without its
  /// last one, are known to be those of the point. The result is as for dependence(), of all.
  bool dependence_run(Dependences to, const Reader& reader, const std::int64_t* point, const std::int64_t* producer,
                      std::size_t equal, std::int64_t step, std::uint64_t n, std::uint64_t reloads,
                      std::int64_t stride = 1);
  /// The same whether there is such a stream or not, with the coordinates that late() is for, if it is on another
  /// stack.
  struct DependenceRun {
    const std::int64_t* point = nullptr;
    const std::int64_t* producer = nullptr;
    std::size_t equal = 0;
    std::int64_t step = 0;
    std::uint64_t n = 0;
    std::uint64_t reloads = 0;
    std::int64_t stride = 1;
    std::span<const std::uint16_t> late;
    /// What coordinates of the producer before the last one grow by, the last of them first: then there is no `late`.
    std::span<const std::int64_t> outer = {};
  };
  void dependence_run(Dependences to, const Reader& reader, DefinitionId from, const DependenceRun& run) {
    if (to == nullptr) to = dependences(reader, from);
    if (to == nullptr) return one_by_one(reader, from, run);
    if (!run.outer.empty()) return dependence_column(*to, reader, run);
    if (dependence_run(to, reader, run.point, run.producer, run.equal, run.step, run.n, run.reloads, run.stride))
      for (const std::uint16_t k : run.late) late(k, run.n);
  }
  /// The same for a register. What it used the last time is remembered.
  struct Used {
    DefinitionId from = 0;
    std::uint16_t lane = 0;
    Dependences to = nullptr;
  };
  void register_run(Used& used, SiteId site, const RegisterRead& read, DefinitionId from, std::uint16_t lane,
                    const DependenceRun& run) {
    if (used.to == nullptr || used.from != from || used.lane != lane) [[unlikely]]
      if (!find_used(used, site, read, from, lane, run)) return;
    if (dependence_run(*used.to, run.point, run.producer, run.equal, run.step, run.n, 1))
      for (const std::uint16_t k : run.late) late(k, run.n);
  }

  /// All of what stretches that repeat give, but for what memory gave (streams_ranks.cc).
  void ranks(const Ranks& ranks);
  /// What memory gave one load of them, in some of these stretches.
  void load_ranks(const LoadRanks& ranks);

  // ---- Several instances of a site at once (streams_rows.cc) --------------------------------------------------------
  // As calls of the above, one for each of them.

  struct Instances {
    const std::int64_t* points = nullptr;    // as fold::Rows
    const std::uint64_t* entries = nullptr;  // of the innermost loop: tell one from the next
    std::size_t n = 0;
    bool ordered = false;
    const fold::Ends* ends = nullptr;
    std::uint64_t follows = 0;
    const fold::Ends* around = nullptr;
    fold::Rows rows(const std::int64_t* labels, std::size_t same = 0) const {
      return {points, labels, n, ordered, ends, same, follows, around};
    }
  };
  void instances(const Located& at, const Instances& all);
  void values(const Located& at, const IntegerValue& value, const Instances& all, const std::int64_t* labels);
  /// All in one object; `places` are block and offset of each.
  void accesses(const Located& at, const MemoryAccess& access, const Instances& all, ObjectId object,
                const std::int64_t* places, std::uint64_t copies);
  /// All of one definition. `equal`: as in dependence(), of each. The least of them is `same`. `reader` has the object
  /// of the first; `more_objects`: there are others among them. True if one of them is on another stack; then `equal`
  /// has become the level that carries it, of each.
  bool dependences(const Located& at, const Reader& reader, DefinitionId from, const Instances& all,
                   const std::int64_t* producers, std::uint16_t* equal, std::size_t same, std::uint64_t reloads,
                   bool more_objects);
  /// Whether all operands of the site have room for so many producers more, and an access for so many objects: beyond
  /// that, several share a stream, whose points must come in order.
  bool has_room_for_producers(const Located& at, std::size_t more) const;
  bool has_room_for_objects(const Located& at, const MemoryAccess& access, std::size_t more) const;

  /// When what comes next happened: grows with the run. Streams that are joined in the end are so in the order of their
  /// first points, whenever these came here.
  void set_time(std::uint64_t time) { time_ = time; }

  /// Instances that have begun, as whoever makes sites counts them.
  static std::uint64_t& begun(const Located& at) { return at.site->begun; }
  static std::uint16_t dimensions(const Located& at) { return at.site->dimensions; }

  std::uint16_t dimensions_of_definition(DefinitionId definition) const {
    return sites_[site_of_definition_[definition]].dimensions;
  }

  /// What there is of sites, which limits count.
  struct Known {
    std::size_t sites = 1;
    std::size_t definitions = 1;
  };
  Known known() const { return {sites_.size(), site_of_definition_.size()}; }
  /// Gives up what needs most, so that all streams together need at most `bytes` until the next call, soon. What they
  /// need now. It is done again, with the same bytes, whenever there are many streams more.
  std::uint64_t limit(std::uint64_t bytes, Known known);
  std::uint64_t limit(std::uint64_t bytes) { return limit(bytes, known()); }
  std::uint64_t bytes();

  std::uint64_t points() const { return points_; }
  std::uint64_t count() const { return streams_.size(); }
  std::uint64_t most_bytes() const { return most_bytes_; }

  /// Fills in all but objects and costs. The streams are gone afterwards.
  void finish(Graph& graph, const structure::CodeMap& code,
              const std::vector<std::vector<trace::InstructionFacts>>& facts);

 private:
  using StreamId = std::uint32_t;
  static constexpr StreamId kNoStream = 0xffffffff;
  static constexpr std::size_t kMaxProducers = 4096;  // of one operand
  static constexpr std::size_t kMaxObjects = 64;      // of one access
  static constexpr std::size_t kMostListed = 64;
  static constexpr std::uint64_t kFewStreams = 256;

  struct Stream {
    enum class Kind : std::uint8_t { kDomain, kAccess, kValue, kDependence };
    Kind kind = Kind::kDomain;
    bool given_up = false;
    SiteId site = 0;
    fold::Shape shape;
    std::unique_ptr<fold::Folder> folder;
  };

  /// Where points go.
  struct Sink {
    fold::Folder* folder = nullptr;
    StreamId stream = kNoStream;
    fold::Shape shape;
  };

  struct alignas(64) AccessDetails {
    Sink sink;
    // The last time.
    std::uint64_t entry = ~std::uint64_t{0};
    std::int64_t block = 0;
    std::int64_t offset = 0;
    bool same_block = true;
    bool same_offset = true;
    bool store = false;
    bool guarded = false;
    std::uint8_t index = 0;
    std::uint16_t instruction = 0;
    std::uint64_t copies = 0;
    SiteId site = 0;
    std::uint32_t size = 0;
    ObjectId object = kUnknownObject;
    std::uint64_t first = 0;  // when the first point was

    void follow(std::uint64_t now, std::int64_t block_now, std::int64_t offset_now) {
      if (entry == now) {
        same_block = same_block && block == block_now;
        same_offset = same_offset && offset == offset_now;
      }
      entry = now;
      block = block_now;
      offset = offset_now;
    }
  };
  struct alignas(64) ValueDetails {
    Sink sink;
    Steady steady;
    SiteId site = 0;
    std::uint16_t instruction = 0;
    std::uint8_t index = 0;
    std::uint8_t reg = 0;
    std::uint8_t width = 0;
    std::uint64_t first = 0;
  };
  struct alignas(64) DependenceDetails {
    Sink sink;
    std::uint16_t shared = 0;
    std::uint16_t level = 0;  // that carried the last instances
    bool more_objects = false;
    std::uint64_t at_level = 0;  // so many of them, which `carried` does not count yet
    std::uint64_t reloads = 0;
    Reader reader;
    DefinitionId from = 0;
    std::uint64_t first = 0;
    std::vector<std::uint64_t> carried;
    std::vector<std::uint64_t> late;

    void count(std::size_t at, std::uint64_t times = 1) {
      if (at != level) {
        settle();
        level = static_cast<std::uint16_t>(at);
      }
      at_level += times;
    }
    void settle() {
      carried[level] += at_level;
      at_level = 0;
    }
  };

  struct alignas(64) Site {
    // Of whoever makes sites.
    std::uint64_t begun = 0;
    DefinitionId first_definition = 0;
    std::uint16_t instructions = 0;
    std::uint16_t dimensions = 0;
    bool cold = false;
    SiteKey key;
    structure::PlaceId place = structure::kNoPlace;
    SiteId next = 0;  // of the same context and number of the node
    const PartCode* code = nullptr;
    // Of whoever gives points.
    alignas(64) std::uint64_t count = 0;
    Sink domain;
    std::vector<ValueDetails*> values;  // null: none yet
    std::vector<StreamLinks<AccessDetails>> accesses;
    std::vector<StreamLinks<DependenceDetails>> operands;
    std::vector<std::int64_t> box;   // cold: least coordinates, then greatest
    std::uint64_t dropped = 0;       // points of streams that were not made
    std::vector<fold::Range> cover;  // of all instances, when finishing
    bool produces = false;
  };
  /// What is to be known of a context: the tree may grow meanwhile.
  struct ContextFacts {
    structure::ContextId parent = structure::kNoContext;
    std::uint16_t dimensions = 0;
    bool known = false;
  };

  static std::uint64_t key_of(DefinitionId from, std::uint16_t lane) { return std::uint64_t{from} << 16 | lane; }
  static std::uint64_t key_of(ObjectId object) { return object + std::uint64_t{1}; }
  /// What an access or operand has, made longer if its number is new.
  template <class T>
  static T& at(std::vector<T>& all, std::size_t dense) {
    if (dense * sizeof(T) >= all.size() * sizeof(T)) [[unlikely]]  // in bytes: without a division
      all.resize(dense + 1);
    return all[dense];
  }

  /// The streams that values, accesses and operands used last.
  template <class Visit>
  [[gnu::always_inline]] static void for_each_last(const Site& site, Visit&& visit) {
    for (const ValueDetails* const value : site.values)
      if (value != nullptr) visit(value);
    for (const StreamLinks<AccessDetails>& access : site.accesses)
      if (access.last() != nullptr) visit(access.last());
    for (const StreamLinks<DependenceDetails>& operand : site.operands)
      if (operand.last() != nullptr) visit(operand.last());
  }

  Sink new_stream(Stream::Kind kind, SiteId site, fold::Shape shape);
  void add(const Sink& sink, const std::int64_t* point, const std::int64_t* labels) {
    ++points_;
    sizes_.touch(sink.stream);
    sink.folder->add(point, labels);
  }
  void add_run(const Sink& sink, const fold::Run& run) {
    points_ += run.n;
    sizes_.touch(sink.stream);
    sink.folder->add_run(run);
  }
  void add_ranks(const Sink& sink, const fold::Run& run, const fold::Ranks& ranks) {
    points_ += run.n * ranks.n;
    sizes_.touch(sink.stream);
    sink.folder->add_ranks(run, ranks);
  }
  /// The steps of labels of which only one changes; 0 again after the call.
  std::int64_t* steps_of(std::size_t outputs) {
    if (steps_.size() < outputs) [[unlikely]]
      steps_.resize(outputs);
    return steps_.data();
  }
  bool dependence_run(DependenceDetails& details, const std::int64_t* point, const std::int64_t* producer,
                      std::size_t equal, std::int64_t step, std::uint64_t n, std::int64_t stride);
  bool count_run(DependenceDetails& details, const std::int64_t* point, const std::int64_t* producer, std::size_t equal,
                 std::int64_t step, std::uint64_t n, std::int64_t stride, std::uint64_t times);
  /// How many of n iterations have equal coordinates, if they differ by `difference` in the first and by `slope` more
  /// in each one after it.
  static std::uint64_t meetings(std::int64_t difference, std::int64_t slope, std::uint64_t n) {
    if (slope == 0) return difference == 0 ? n : 0;
    if (difference == 0) return 1;
    return n == 1 ? 0 : later_meetings(difference, slope, n);
  }
  static std::uint64_t later_meetings(std::int64_t difference, std::int64_t slope, std::uint64_t n);
  void add_rows(const Sink& sink, const fold::Rows& rows) {
    points_ += rows.n;
    sizes_.touch(sink.stream);
    sink.folder->add_rows(rows);
  }
  static void extend_box(Site& site, const std::int64_t* point);
  AccessDetails* new_access(SiteId site, const MemoryAccess& access, ObjectId object);
  ValueDetails* new_value(SiteId site, const IntegerValue& value);
  DependenceDetails* new_dependence(const Reader& reader, DefinitionId from, fold::Shape shape);
  DependenceDetails* first_dependence(const Reader& reader, DefinitionId from, const std::int64_t* point);
  void one_by_one(Reader reader, DefinitionId from, const DependenceRun& run);
  void dependence_column(DependenceDetails& details, const Reader& reader, const DependenceRun& run);
  static void count_column(DependenceDetails& details, const DependenceRun& run, const std::int64_t* steps);
  void flow_ranks(const Ranks& ranks, std::size_t number);
  void value_ranks(const Ranks& ranks, std::size_t number);
  void access_ranks(const Ranks& ranks, std::size_t number);
  Instances listed(const Site& site, const std::int64_t* point, std::size_t n, std::uint64_t entry);
  bool find_used(Used& used, SiteId site, const RegisterRead& read, DefinitionId from, std::uint16_t lane,
                 const DependenceRun& run);
  void know_context(structure::ContextId context);
  std::uint16_t shared_dimensions(structure::ContextId a, structure::ContextId b) const;
  void finish_folders();
  fold::Folded folded_in_domain(StreamId stream);
  fold::Folded domain_of(const Site& site);
  void finish_cold(Graph& graph);
  void finish_statements(Graph& graph, const structure::CodeMap& code,
                         const std::vector<std::vector<trace::InstructionFacts>>& facts);
  void finish_accesses(Graph& graph);
  void finish_values(Graph& graph);
  void finish_dependences(Graph& graph);
  void finish_limits(Graph& graph);

  fold::Options options_;
  const structure::LoopTree& tree_;
  std::vector<bool> hot_;                        // by context; empty: all
  StableArray<Site, 8> sites_;                   // the first is none
  std::vector<std::vector<SiteId>> by_context_;  // by context and node: the last made
  StableArray<SiteId, 14> site_of_definition_;   // by definition
  StableArray<ContextFacts, 12> contexts_;       // by context
  std::vector<StatementId> statement_of_;        // by site, when finishing
  std::vector<Stream> streams_;
  std::deque<AccessDetails> accesses_;
  std::deque<ValueDetails> values_;
  std::deque<DependenceDetails> dependences_;
  std::vector<std::int64_t> steps_;  // of a producer's coordinates: 0 but during a call
  DependenceDetails* last_dependence_ = nullptr;
  // Of the last list.
  std::vector<std::int64_t> list_points_;
  std::vector<fold::Ends> list_ends_;
  std::vector<std::uint64_t> list_entries_;
  std::size_t list_count_ = 0;  // points that there are
  // Of one_by_one().
  std::vector<std::int64_t> one_point_;
  std::vector<std::int64_t> one_producer_;
  std::vector<DependenceDetails*> rank_streams_;  // by group of loads
  std::vector<std::int64_t> rank_steps_;          // of a producer's coordinates, from one stretch to the next
  unsigned jobs_;
  std::vector<fold::Folded> folded_;  // by stream, when finishing
  bool full_ = false;
  std::uint64_t allowed_ = ~std::uint64_t{0};  // bytes
  Known known_;                                // when limits were looked at last
  std::uint64_t next_limit_ = kFewStreams;     // streams
  std::uint64_t time_ = 0;
  std::uint64_t points_ = 0;
  std::uint64_t most_bytes_ = 0;
  StreamSizes sizes_;
};

inline void Streams::instance(const Located& at, const std::int64_t* point) {
  Site& site = *at.site;
  ++site.count;
  if (site.cold) return extend_box(site, point);
  if (site.domain.folder == nullptr) [[unlikely]]
    site.domain = new_stream(Stream::Kind::kDomain, at.id, {site.dimensions, 0, 0});
  add(site.domain, point, nullptr);
}

inline void Streams::access(const Located& at, const MemoryAccess& access, const std::int64_t* point, ObjectId object,
                            std::int64_t block, std::int64_t offset, std::uint64_t entry, bool copy) {
  if (at.site->cold) return;
  AccessDetails* details = Streams::at(at.site->accesses, access.dense).find(key_of(object));
  if (details == nullptr) [[unlikely]] {
    details = new_access(at.id, access, object);
    if (details == nullptr) return;
  }
  if (copy) ++details->copies;
  details->follow(entry, block, offset);
  const std::int64_t labels[2] = {block, offset};
  add(details->sink, point, labels);
}

inline void Streams::value(const Located& at, const IntegerValue& value, const std::int64_t* point, std::int64_t label,
                           std::uint64_t entry) {
  const Site& site = *at.site;
  if (site.cold) return;
  ValueDetails* details = Streams::at(at.site->values, value.dense);
  if (details == nullptr) [[unlikely]] {
    details = new_value(at.id, value);
    if (details == nullptr) return;
  }
  if (site.dimensions > 1) details->steady.add(entry, point[site.dimensions - 1], label);
  add(details->sink, point, &label);
}

/// Which level carries the dependences of a run, all of them so many times. True if it is the first.
[[gnu::always_inline]] inline bool Streams::count_run(DependenceDetails& details, const std::int64_t* point,
                                                      const std::int64_t* producer, std::size_t equal,
                                                      std::int64_t step, std::uint64_t n, std::int64_t stride,
                                                      std::uint64_t times) {
  last_dependence_ = &details;
  const std::size_t of_reader = details.sink.shape.dimensions - std::size_t{1};
  const std::size_t of_producer = details.sink.shape.outputs - std::size_t{1};
  const std::size_t changing = std::min(of_reader, of_producer);
  const std::size_t shared = details.shared;
  const std::size_t most = std::min(shared, changing);
  std::size_t level = std::min(equal, most);
  while (level < most && point[level] == producer[level]) ++level;
  if (level < shared && level == changing) {
    const std::int64_t slope = (changing == of_reader ? stride : 0) - (changing == of_producer ? step : 0);
    const std::uint64_t met = meetings(point[level] - producer[level], slope, n);
    if (met > 0) details.count(shared, met * times);
    if (n > met) details.count(level, (n - met) * times);
    if (met > 0) level = shared;
  } else {
    details.count(level, n * times);
  }
  return level == 0;
}

[[gnu::always_inline]] inline bool Streams::dependence_run(DependenceDetails& details, const std::int64_t* point,
                                                           const std::int64_t* producer, std::size_t equal,
                                                           std::int64_t step, std::uint64_t n, std::int64_t stride) {
  const bool elsewhere = count_run(details, point, producer, equal, step, n, stride, 1);
  const std::size_t last = details.sink.shape.outputs - std::size_t{1};
  std::int64_t* const steps = steps_of(last + 1);
  steps[last] = step;
  add_run(details.sink, {point, producer, steps, n, stride});
  steps[last] = 0;
  return elsewhere;
}

/// Whoever reads is copied for what is seldom called, so that it need not be in memory for what is not.
inline bool Streams::dependence(const Located& at, const Reader& reader, DefinitionId from, const std::int64_t* point,
                                const std::int64_t* producer, std::size_t equal) {
  if (at.site->cold) return false;
  DependenceDetails* details = Streams::at(at.site->operands, reader.dense).find(key_of(from, reader.lane));
  if (details == nullptr) [[unlikely]] {
    details = first_dependence(Reader(reader), from, point);
    if (details == nullptr) return false;
  }
  std::size_t level = std::min<std::size_t>(equal, details->shared);
  while (level < details->shared && point[level] == producer[level]) ++level;
  details->count(level);
  if (reader.kind == Dependence::Kind::kMemory) {
    if (reader.object != details->reader.object) details->more_objects = true;
    if (reader.reload) ++details->reloads;
  }
  last_dependence_ = details;
  add(details->sink, point, producer);
  return level == 0;
}

inline Streams::Reader reader_of(SiteId site, const RegisterRead& read) {
  Streams::Reader reader;
  reader.site = site;
  reader.instruction = read.instruction;
  reader.operand = read.operand;
  reader.dense = read.dense;
  reader.address = read.address;
  return reader;
}

inline Streams::Reader reader_of(SiteId site, const MemoryAccess& load) {
  Streams::Reader reader;
  reader.site = site;
  reader.instruction = load.instruction;
  reader.operand = static_cast<std::uint8_t>(kFirstMemoryOperand + load.index);
  reader.dense = load.operand;
  reader.kind = Dependence::Kind::kMemory;
  return reader;
}

}  // namespace loopfold::ddg
