// Pieces: one search after the other, until everything is explained. The essay is in reconstruct.h.
//
// When a search can go no further, the best complete nest that it had becomes a piece. What was explained beyond the
// end of that piece is generated again from the search's past, and goes to the next search before anything new does:
// a stack of such leftovers (the backlog) takes the place of a stored trace.
//
// Search needs *credit*. It is earned by addresses, more by those of the first piece and by those that a piece
// explains, and spent on candidates, so that a sequence without any structure is gone through in linear time, as single
// addresses and constant strides.
//
// Outliers. If a tolerance is given, a settled hypothesis (only the outermost bound unknown) that meets an unexpected
// address does not fail at once: the next few addresses are looked at, and if they continue as expected after leaving
// out, replacing or adding up to kMostEdits addresses, these become outliers of the piece.
#include "reconstruct/reconstruct.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "reconstruct/search.h"

namespace loopfold::reconstruct {

namespace {

constexpr std::int64_t kFirstCredit = 256;
constexpr std::int64_t kCreditPerAddress = 8;  // while all is one piece
constexpr std::int64_t kEarlyCredit = 24;      // more for each of its first addresses, where most is decided
constexpr std::uint64_t kEarly = 256;
constexpr std::int64_t kAddressesPerCredit = 8;  // later, for what a piece explains
constexpr std::int64_t kMostCredit = 1 << 16;
constexpr std::size_t kProbe = 12;
constexpr std::size_t kMostEdits = 3;
constexpr std::uint64_t kSettledAfter = 32;

/// Is a nest that explains everything more than a coincidence? A few loops always are taken for it.
bool is_plausible(const Nest& nest) {
  const auto count = static_cast<std::int64_t>(nest.count);
  return nest.levels() <= 2 || (nest.levels() == 3 && count >= 6) || count > cost_of(nest);
}

}  // namespace

struct Reconstructor::State {
  State(const Options& given, Sink to) : options(given), sink(std::move(to)), search(limits_of(given)) {}

  static SearchLimits limits_of(const Options& options) {
    SearchLimits limits;
    limits.max_levels = std::min(options.max_levels, kMaxLevels);
    limits.max_tries = options.max_tries;
    limits.gamma = options.gamma;
    return limits;
  }

  using Backlog = std::variant<WalkSource, std::vector<std::uint64_t>>;

  Options options;
  Sink sink;
  Search search;
  bool started = false;
  bool first_piece = true;
  bool finished = false;
  Tally tally;
  std::int64_t credit = kFirstCredit;
  std::uint64_t paid_for = 0;  // addresses of the first piece that have earned credit
  std::vector<Backlog> backlog;
  std::vector<Outlier> outliers;      // of the current piece; position in addresses of the nest
  std::vector<std::uint64_t> probed;  // addresses behind an unexpected one, and that one
  Summary summary;
  std::vector<Piece> pieces;

  template <class Source>
  void feed(Source& in);
  template <class Source>
  bool take(Source& in, Tally* counted);
  void earn();
  void drain();
  void drain_one();
  void end_piece();
  void end();
  void emit(Piece&& piece);
  void push_leftover(std::uint64_t from);

  bool may_probe() const;
  void probe(std::uint64_t address);
  void judge_probed();
  bool accept(Outlier::Kind kind, std::size_t edits, std::span<const std::uint64_t> expected);
  void restart_probed();
};

/// As long as all is one piece, there is credit for each address of it.
void Reconstructor::State::earn() {
  if (!first_piece) return;
  const std::uint64_t now = search.current().count;
  if (now <= paid_for) return;
  const std::uint64_t fresh = std::min<std::uint64_t>(now - paid_for, kMostCredit);
  const std::uint64_t early = std::min(now, kEarly) - std::min(paid_for, kEarly);
  credit += kCreditPerAddress * static_cast<std::int64_t>(fresh) + kEarlyCredit * static_cast<std::int64_t>(early);
  credit = std::min(kMostCredit, credit);
  paid_for = now;
}

/// Takes addresses until the source is empty or an unexpected one is being probed (true), or until the piece has ended
/// in front of the next address (false). `counted`: they are new, and how they were foreseen is counted.
template <class Source>
bool Reconstructor::State::take(Source& in, Tally* counted) {
  while (!in.empty()) {
    if (!started) {
      search.start(in.front());
      in.drop();
      started = true;
      continue;
    }
    if (search.advance(in, counted) == Outcome::kThrough) return true;
    if (counted != nullptr && may_probe()) {
      probe(in.front());
      in.drop();
      return true;
    }
    earn();
    if (!search.recover(in.front(), credit)) {
      end_piece();
      return false;
    }
    in.drop();
    summary.peak_bytes = std::max(summary.peak_bytes, search.bytes());
  }
  return true;
}

void Reconstructor::State::drain_one() {
  Backlog item = std::move(backlog.back());
  backlog.pop_back();
  const std::size_t below = backlog.size();
  if (WalkSource* walk = std::get_if<WalkSource>(&item)) {
    if (!take(*walk, nullptr)) backlog.insert(backlog.begin() + static_cast<std::ptrdiff_t>(below), *walk);
    return;
  }
  AddressSource in(std::get<std::vector<std::uint64_t>>(item));
  if (take(in, nullptr)) return;
  std::vector<std::uint64_t> left(in.left().begin(), in.left().end());
  backlog.insert(backlog.begin() + static_cast<std::ptrdiff_t>(below), std::move(left));
}

void Reconstructor::State::drain() {
  while (!backlog.empty()) drain_one();
}

template <class Source>
void Reconstructor::State::feed(Source& in) {
  while (!in.empty()) {
    drain();
    if (!probed.empty()) {
      probe(in.front());
      in.drop();
      continue;
    }
    take(in, &tally);
  }
}

// ---- pieces -----------------------------------------------------------------------------------------------------

void Reconstructor::State::emit(Piece&& piece) {
  const std::uint64_t count = piece.count();
  ++summary.pieces;
  summary.levels = std::max(summary.levels, piece.nest.levels());
  summary.outliers += piece.outliers.size();
  if (count >= kWorthwhile && piece.nest.levels() > 0) summary.covered += count - piece.outliers.size();
  const std::uint64_t earned = piece.nest.levels() == 0 ? 0 : count / kAddressesPerCredit;
  credit = std::min(kMostCredit, credit + static_cast<std::int64_t>(std::min<std::uint64_t>(earned, kMostCredit)));
  first_piece = false;
  if (sink)
    sink(std::move(piece));
  else
    pieces.push_back(std::move(piece));
}

/// What the search explained from address `from` of its nest on comes again, with the outliers there.
void Reconstructor::State::push_leftover(std::uint64_t from) {
  std::vector<Backlog> parts;
  const auto walk_to = [&](std::uint64_t to) {
    if (to <= from) return;
    WalkSource walk = search.past(from);
    walk.limit(to - from);
    parts.emplace_back(walk);
    from = to;
  };
  for (const Outlier& outlier : outliers) {
    if (outlier.position < from) continue;
    walk_to(outlier.position);
    if (outlier.kind != Outlier::Kind::kMissing) parts.emplace_back(std::vector<std::uint64_t>{outlier.address});
    if (outlier.kind != Outlier::Kind::kInserted) ++from;
  }
  walk_to(search.explained());
  backlog.insert(backlog.end(), std::make_move_iterator(parts.rbegin()), std::make_move_iterator(parts.rend()));
}

/// The best nest that the search has found becomes a piece; if none is worth it, its first address alone does.
void Reconstructor::State::end_piece() {
  search.keep_past();
  Piece piece;
  if (std::optional<Nest> best = search.best())
    piece.nest = std::move(*best);
  else
    piece.nest.base = search.current().shape.base;
  const std::uint64_t end = piece.nest.count;
  push_leftover(end);
  for (const Outlier& outlier : outliers)
    if (outlier.position < end) piece.outliers.push_back(outlier);
  outliers.clear();
  summary.tries += search.tries();
  summary.peak_bytes = std::max(summary.peak_bytes, search.bytes());
  started = false;
  emit(std::move(piece));
}

void Reconstructor::State::end() {
  while (started || !backlog.empty() || !probed.empty()) {
    if (!probed.empty()) judge_probed();
    drain();
    if (!started || !probed.empty()) continue;
    earn();
    const bool whole = search.current().complete() || search.recover_end(credit);
    const std::optional<Nest> nest = whole ? search.current().complete_nest() : std::nullopt;
    const bool worth_it = nest && (first_piece ? is_plausible(*nest) : value_of(*nest) > 0);
    if (!worth_it) {
      end_piece();
      continue;
    }
    started = false;
    summary.tries += search.tries();
    summary.peak_bytes = std::max(summary.peak_bytes, search.bytes());
    Piece piece{*nest, std::exchange(outliers, {})};
    emit(std::move(piece));
  }
}

// ---- outliers ---------------------------------------------------------------------------------------------------

bool Reconstructor::State::may_probe() const {
  if (options.tolerance <= 0) return false;
  const Hypothesis& h = search.current();
  if (h.levels() == 0 || h.open != 1 || h.count < kSettledAfter) return false;
  return static_cast<double>(outliers.size() + 1) <= options.tolerance * static_cast<double>(h.count);
}

void Reconstructor::State::probe(std::uint64_t address) {
  probed.push_back(address);
  if (probed.size() >= kProbe) judge_probed();
}

bool Reconstructor::State::accept(Outlier::Kind kind, std::size_t edits, std::span<const std::uint64_t> expected) {
  const bool drops = kind != Outlier::Kind::kMissing;   // the first `edits` addresses are not the nest's
  const bool fills = kind != Outlier::Kind::kInserted;  // the first `edits` expected ones did not come
  const std::size_t first = drops ? edits : 0;
  const std::size_t ahead = fills ? edits : 0;
  if (probed.size() < first + kProbe / 2) return false;
  for (std::size_t i = first; i < probed.size(); ++i)
    if (i - first + ahead >= expected.size() || probed[i] != expected[i - first + ahead]) return false;
  const std::uint64_t position = search.current().count;
  for (std::size_t i = 0; i < edits; ++i) outliers.push_back({kind, position + (fills ? i : 0), drops ? probed[i] : 0});
  AddressSource filled(expected.first(ahead));
  if (search.advance(filled, nullptr) != Outcome::kThrough) return false;
  probed.erase(probed.begin(), probed.begin() + static_cast<std::ptrdiff_t>(first));
  return true;
}

/// Decides what the unexpected address was; then all that was looked at goes on.
void Reconstructor::State::judge_probed() {
  std::uint64_t room[kProbe + kMostEdits];
  const std::span<const std::uint64_t> expected(room, reconstruct::predict(search.current(), room));
  constexpr Outlier::Kind kKinds[] = {Outlier::Kind::kReplaced, Outlier::Kind::kInserted, Outlier::Kind::kMissing};
  bool accepted = false;
  for (std::size_t edits = 1; edits <= kMostEdits && !accepted; ++edits)
    for (const Outlier::Kind kind : kKinds)
      if (!accepted) accepted = accept(kind, edits, expected);
  backlog.emplace_back(std::exchange(probed, {}));
}

// ---- the interface ----------------------------------------------------------------------------------------------

Reconstructor::Reconstructor(const Options& options, Sink sink)
    : state_(std::make_unique<State>(options, std::move(sink))) {}
Reconstructor::~Reconstructor() = default;
Reconstructor::Reconstructor(Reconstructor&&) noexcept = default;
Reconstructor& Reconstructor::operator=(Reconstructor&&) noexcept = default;

void Reconstructor::add(std::span<const std::uint64_t> addresses) {
  state_->summary.accesses += addresses.size();
  AddressSource in(addresses);
  state_->feed(in);
}

void Reconstructor::add_run(std::uint64_t start, std::int64_t stride, std::uint64_t count) {
  state_->summary.accesses += count;
  RunSource in(Run{start, stride, count});
  state_->feed(in);
}

std::size_t Reconstructor::predict(std::span<std::uint64_t> into) const {
  if (!state_->started || !state_->backlog.empty() || !state_->probed.empty()) return 0;
  return reconstruct::predict(state_->search.current(), into);
}

const Summary& Reconstructor::finish() {
  if (!state_->finished) state_->end();
  state_->finished = true;
  return summary();
}

const Summary& Reconstructor::summary() const {
  state_->summary.by_bounds = state_->tally.by_bounds;
  state_->summary.by_stride = state_->tally.by_stride;
  return state_->summary;
}

bool Reconstructor::one_nest_so_far() const { return state_->first_piece; }

const std::vector<Piece>& Reconstructor::pieces() const { return state_->pieces; }

// ---- pieces as addresses ----------------------------------------------------------------------------------------

std::uint64_t Piece::count() const {
  std::uint64_t sum = nest.count;
  for (const Outlier& outlier : outliers) {
    if (outlier.kind == Outlier::Kind::kInserted) ++sum;
    if (outlier.kind == Outlier::Kind::kMissing) --sum;
  }
  return sum;
}

void regenerate(const Piece& piece, const std::function<void(const Run&)>& visit) {
  NestWalk walk(piece.nest);
  std::uint64_t position = 0;
  const auto walk_to = [&](std::uint64_t end) {
    while (position < end && !walk.done()) {
      Run row = walk.row();
      row.count = std::min(row.count, end - position);
      visit(row);
      walk.advance(row.count);
      position += row.count;
    }
  };
  for (const Outlier& outlier : piece.outliers) {
    walk_to(outlier.position);
    if (outlier.kind != Outlier::Kind::kMissing) visit({outlier.address, 0, 1});
    if (outlier.kind == Outlier::Kind::kInserted) continue;
    walk.skip(1);
    ++position;
  }
  walk_to(piece.nest.count);
}

}  // namespace loopfold::reconstruct
