#include "ddg/settler.h"

#include <emmintrin.h>

#include <algorithm>
#include <bit>
#include <type_traits>

#include "ddg/progression.h"

namespace loopfold::ddg {

namespace {

/// Numbers that may be touched behind the points of rows.
constexpr std::size_t kBeyond = 1;

constexpr std::size_t pairs_of(std::size_t dimensions) { return (dimensions + 1) / 2; }

/// The coordinates of a point, two at a time: what is behind it, one number at most, is written too.
inline void copy_point(std::int64_t* into, const std::int64_t* from, std::size_t pairs) {
  for (std::size_t i = 0; i < pairs; ++i)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(into + 2 * i),
                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 2 * i)));
}

/// Calls one that has the number of pairs as a constant, if it is usual; else with 0.
template <class Call>
inline auto for_pairs(std::size_t pairs, Call&& call) {
  switch (pairs) {
    case 1:
      return call(std::integral_constant<std::size_t, 1>{});
    case 2:
      return call(std::integral_constant<std::size_t, 2>{});
    case 3:
      return call(std::integral_constant<std::size_t, 3>{});
    default:
      return call(std::integral_constant<std::size_t, 0>{});
  }
}

std::uint64_t first_rows(std::size_t n) { return n == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1; }

}  // namespace

void Settler::settle(const JournalBatch& batch) {
  rows_.at = streams_.locate(batch.site);
  rows_.dimensions = streams_.dimensions(rows_.at);
  // Where an operand has nearly as many producers as are kept apart, all others share a stream: then rows go one by
  // one.
  const bool together = streams_.has_room_for_producers(rows_.at, batch.rows + batch.extras.size());
  for (const Journal::Segment& segment : batch.segments) {
    const std::uint64_t* const numbers = batch.numbers.get() + segment.first;
    if (together) {
      settle_rows(segment, numbers, batch.extras);
      continue;
    }
    for (std::uint32_t i = 0; i < segment.rows; ++i)
      settle_rows({segment.code, segment.first_row + i, 1, segment.first}, numbers + i * segment.code->row.words,
                  batch.extras);
  }
}

void Settler::settle_rows(const Journal::Segment& segment, const std::uint64_t* numbers,
                          std::span<const Journal::Extra> extras) {
  rows_.code = segment.code;
  rows_.numbers = numbers;
  set_points(segment);
  streams_.set_time(rows_.time(0));
  streams_.instances(rows_.at, rows_.all);
  const PartCode& code = *segment.code;
  std::size_t number = Journal::kHeader;
  for (const IntegerValue& value : code.values) settle_value(value, number++);
  for (const RegisterRead& read : code.reads) {
    Streams::Reader reader = reader_of(rows_.at.id, read);
    reader.lane = code.live_ins[read.first].lane;
    settle_operand(reader, number, false);
    number += RowCode::kCell;
  }
  for (const MemoryAccess& access : code.accesses) settle_access(access);
  for (const Journal::Extra& extra : extras)
    if (extra.row >= segment.first_row && extra.row - segment.first_row < segment.rows)
      settle_extra(extra, extra.row - segment.first_row);
}

/// Who made the cells that are here in each row; true if all are of one.
bool Settler::set_from(std::size_t number) {
  const std::uint64_t* at = rows_.numbers + number;
  const std::size_t words = rows_.code->row.words;
  const auto first = static_cast<DefinitionId>(*at);
  DefinitionId other = 0;
  for (std::size_t i = 0; i < rows_.all.n; ++i, at += words) {
    const auto from = static_cast<DefinitionId>(*at);
    rows_.from[i] = from;
    other |= from ^ first;
  }
  return other == 0;
}

/// Points of all rows, their ends, and the entries that they are in.
void Settler::set_points(const Journal::Segment& segment) {
  const std::size_t n = segment.rows;
  const std::size_t dimensions = rows_.dimensions;
  const std::size_t inner = dimensions - 1;
  if (rows_.points.size() < Journal::kMostRows * dimensions + kBeyond) {
    rows_.points.resize(Journal::kMostRows * dimensions + kBeyond);
    rows_.around.resize(Journal::kMostRows * dimensions);
    rows_.ends.resize(dimensions);
  }
  fold::Ends* const ends = rows_.ends.data();
  std::fill_n(ends, dimensions, fold::Ends{});
  bool ordered = true;
  std::uint64_t follows = 0;
  for (std::size_t i = 0; i < n;) {
    const std::size_t first = i;
    i = set_points_of_entry(first, n, ordered, follows);
    const std::int64_t* const point = rows_.point(first);
    ordered =
        ordered && (first == 0 || std::lexicographical_compare(point - dimensions, point, point, point + dimensions));
    for (std::size_t k = 0; k < inner; ++k) ends[k].include(point[k]);
  }
  rows_.all = {rows_.points.data(), rows_.serials.data(), n, ordered, ends, follows, ends};
}

/// Those from this row on that are in one entry of the innermost loop. The row behind them.
std::size_t Settler::set_points_of_entry(std::size_t first, std::size_t n, bool& ordered, std::uint64_t& follows) {
  const std::size_t dimensions = rows_.dimensions;
  const std::size_t inner = dimensions - 1;
  const std::size_t pairs = pairs_of(inner);
  const std::size_t words = rows_.code->row.words;
  const std::uint64_t* row = rows_.row(first);
  const auto around = static_cast<std::uint32_t>(first * dimensions);
  const auto entry = static_cast<EntryId>(row[0]);
  std::int64_t* const begin = rows_.points.data() + around;
  entries_.vector(entry, row[1], begin, rows_.around.data() + around);
  rows_.serials[first] = row[2];
  rows_.around_row[first] = around;
  auto last = static_cast<std::int64_t>(row[1]);
  fold::Ends counters{last, last};
  bool grows = true;
  std::uint64_t next = 0;
  std::int64_t* point = begin + dimensions;
  std::size_t i = first + 1;
  for (row += words; i < n && static_cast<EntryId>(row[0]) == entry; ++i, row += words, point += dimensions) {
    const auto counter = static_cast<std::int64_t>(row[1]);
    copy_point(point, begin, pairs);
    point[inner] = counter;
    rows_.serials[i] = row[2];
    rows_.around_row[i] = around;
    grows = grows && counter > last;
    next |= std::uint64_t{counter == last + 1} << i;
    counters.include(counter);
    last = counter;
  }
  ordered = ordered && grows;
  follows |= next;
  rows_.ends[inner].include(counters.low);
  rows_.ends[inner].include(counters.high);
  return i;
}

void Settler::settle_value(const IntegerValue& value, std::size_t number) {
  std::int64_t* const labels = rows_.labels.data();
  const std::uint64_t* at = rows_.numbers + number;
  const std::size_t words = rows_.code->row.words;
  if (value.width == 8)
    for (std::size_t i = 0; i < rows_.all.n; ++i, at += words) labels[i] = static_cast<std::int64_t>(*at);
  else
    for (std::size_t i = 0; i < rows_.all.n; ++i, at += words) labels[i] = sign_extended(*at, value.width);
  streams_.set_time(rows_.time(0));
  streams_.values(rows_.at, value, rows_.all, labels);
}

/// Those of these rows alone; `entries`: with the entries that they are in.
Streams::Instances Settler::choose(std::uint64_t rows, bool entries) {
  static constexpr auto kAll = [] {
    std::array<std::uint8_t, Journal::kMostRows> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint8_t>(i);
    return all;
  }();
  if (rows == first_rows(rows_.all.n)) {
    rows_.chosen = kAll.data();
    return rows_.all;
  }
  const std::size_t dimensions = rows_.dimensions;
  const auto first = static_cast<std::size_t>(std::countr_zero(rows));
  const auto count = static_cast<std::size_t>(std::popcount(rows));
  const std::uint64_t follow = rows_.all.follows & rows & rows << 1;  // one that was chosen too
  if (rows >> first == first_rows(count)) {
    rows_.chosen = kAll.data() + first;
    return {rows_.point(first), rows_.serials.data() + first, count, rows_.all.ordered, nullptr, follow >> first,
            rows_.all.ends};
  }
  if (rows_.chosen_points.size() < Journal::kMostRows * dimensions + kBeyond)
    rows_.chosen_points.resize(Journal::kMostRows * dimensions + kBeyond);
  std::size_t n = 0;
  for (std::uint64_t rest = rows; rest != 0; rest &= rest - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(rest));
    rows_.chosen_rows[n++] = static_cast<std::uint8_t>(i);
  }
  if (entries)
    for (std::size_t k = 0; k < n; ++k) rows_.chosen_serials[k] = rows_.serials[rows_.chosen_rows[k]];
  std::uint64_t follows = 0;
  if (follow != 0)
    for (std::size_t k = 0; k < n; ++k) follows |= (follow >> rows_.chosen_rows[k] & 1) << k;
  const std::size_t pairs = pairs_of(dimensions);
  for_pairs(pairs, [&](auto constant) {
    const std::size_t each = constant != 0 ? constant : pairs;
    const std::int64_t* const points = rows_.points.data();
    std::int64_t* into = rows_.chosen_points.data();
    for (std::size_t k = 0; k < n; ++k, into += dimensions)
      copy_point(into, points + rows_.chosen_rows[k] * dimensions, each);
  });
  rows_.chosen = rows_.chosen_rows.data();
  return {
      rows_.chosen_points.data(), rows_.chosen_serials.data(), n, rows_.all.ordered, nullptr, follows, rows_.all.ends};
}

/// Those of `left` that have what the first of them has.
std::uint64_t Settler::alike(std::uint64_t left, const std::uint32_t* keys) const {
  const std::uint32_t first = keys[std::countr_zero(left)];
  const __m128i wanted = _mm_set1_epi32(static_cast<int>(first));
  const auto four = [&](std::size_t i) {
    return _mm_cmpeq_epi32(wanted, _mm_loadu_si128(reinterpret_cast<const __m128i*>(keys + i)));
  };
  std::uint64_t same = 0;
  for (std::size_t i = 0; i < rows_.all.n; i += 16) {
    const __m128i low = _mm_packs_epi32(four(i), four(i + 4));
    const __m128i high = _mm_packs_epi32(four(i + 8), four(i + 12));
    same |= static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(low, high)))) << i;
  }
  return same & left;
}

/// What rows_ has of the objects of an access. The rows in which it happened, as bits.
std::uint64_t Settler::note_objects(const MemoryAccess& access) {
  const std::size_t n = rows_.all.n;
  const std::size_t words = rows_.code->row.words;
  const std::uint64_t* const noted = rows_.numbers + access.in_row;
  const std::uint64_t first = *noted;
  std::uint64_t other = 0;
  for (std::size_t i = 0; i < n; ++i) other |= noted[i * words] ^ first;
  rows_.one_object = other == 0;
  if (other == 0) {
    rows_.copies = (first & Journal::kCopy) != 0 ? first_rows(n) : 0;
    return (first & Journal::kHappened) != 0 ? first_rows(n) : 0;
  }
  std::uint64_t happened = 0;
  rows_.copies = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t what = noted[i * words];
    rows_.objects[i] = static_cast<ObjectId>(what);
    rows_.copies |= ((what & Journal::kCopy) != 0 ? std::uint64_t{1} : 0) << i;
    happened |= ((what & Journal::kHappened) != 0 ? std::uint64_t{1} : 0) << i;
  }
  return happened;
}

void Settler::settle_access(const MemoryAccess& access) {
  const std::uint64_t happened = note_objects(access);
  if (happened == 0) return;
  if (rows_.one_object) {
    settle_object(access, happened, static_cast<ObjectId>(rows_.numbers[access.in_row]));
  } else {
    std::size_t objects = 0;
    for (std::uint64_t rest = happened; rest != 0; rest &= ~alike(rest, rows_.objects.data())) ++objects;
    const bool together = streams_.has_room_for_objects(rows_.at, access, objects);
    for (std::uint64_t left = happened; left != 0;) {
      const std::uint64_t same = together ? alike(left, rows_.objects.data()) : left & (~left + 1);
      settle_object(access, same, rows_.objects[static_cast<std::size_t>(std::countr_zero(left))]);
      left &= ~same;
    }
  }
  if (access.store) return;
  Streams::Reader reader = reader_of(rows_.at.id, access);
  settle_operand(reader, access.in_row + Journal::kPlace, true);
}

/// The places of these rows, all in one object.
void Settler::settle_object(const MemoryAccess& access, std::uint64_t rows, ObjectId object) {
  const Streams::Instances some = choose(rows, true);
  const std::size_t words = rows_.code->row.words;
  const std::uint64_t* const noted = rows_.numbers + access.in_row + 1;
  std::int64_t* label = rows_.labels.data();
  for (std::size_t k = 0; k < some.n; ++k, label += 2) {
    const std::uint64_t* const place = noted + rows_.chosen[k] * words;
    _mm_storeu_si128(reinterpret_cast<__m128i*>(label), _mm_loadu_si128(reinterpret_cast<const __m128i*>(place)));
  }
  streams_.set_time(rows_.time(rows_.chosen[0]));
  streams_.accesses(rows_.at, access, some, object, rows_.labels.data(),
                    static_cast<std::uint64_t>(std::popcount(rows_.copies & rows)));
}

/// The vector of an instance that a row refers to, and how many of its first coordinates are known to be the row's.
std::size_t Settler::producer_of(std::size_t row, const Cell& cell, std::int64_t* into) const {
  const EntryId* const around = rows_.around.data() + rows_.around_row[row];
  return entries_.vector_near(
      cell.entry, cell.counter, rows_.point(row), rows_.dimensions, [&](std::size_t k) { return around[k]; }, into);
}

/// The same for the cells that are here in these rows, of one producer. `depth` may be a constant; the least of the
/// numbers is the result. Most producers are in the row's own entry of their loop, or in one of the loop around it.
template <std::size_t kDepth>
std::size_t Settler::set_producers(const Streams::Instances& some, std::size_t number, std::size_t deep) {
  const std::size_t depth = kDepth != 0 ? kDepth : deep;
  const std::size_t dimensions = rows_.dimensions;
  const std::size_t words = rows_.code->row.words;
  const std::uint64_t* const cells = rows_.numbers + number;
  const std::uint8_t* const chosen = rows_.chosen;
  std::uint16_t* const equals = rows_.equal.data();
  std::size_t all_equal = depth;
  std::int64_t* into = rows_.producers.data();
  if (depth > dimensions) {
    for (std::size_t k = 0; k < some.n; ++k, into += depth) {
      const std::size_t equal = producer_of(chosen[k], Journal::cell(cells + chosen[k] * words), into);
      equals[k] = static_cast<std::uint16_t>(equal);
      all_equal = std::min(all_equal, equal);
    }
    return all_equal;
  }
  const EntryId* const around = rows_.around.data();
  const std::int64_t* point = some.points;
  for (std::size_t k = 0; k < some.n; ++k, into += depth, point += dimensions) {
    const std::size_t i = chosen[k];
    const std::uint64_t* const cell = cells + i * words;
    const EntryId* const around_row = around + rows_.around_row[i];
    copy_point(into, point, pairs_of(depth));
    std::size_t equal = depth - 1;
    Entries::Around at{static_cast<EntryId>(cell[0] >> 32), cell[1]};
    into[equal] = static_cast<std::int64_t>(at.counter);
    while (around_row[equal] != at.entry && equal != 0) {
      at = entries_.around(at.entry);
      into[--equal] = static_cast<std::int64_t>(at.counter);
    }
    equals[k] = static_cast<std::uint16_t>(equal);
    all_equal = std::min(all_equal, equal);
  }
  return all_equal;
}

/// What all rows got from the cells that are here in each of them; `memory`: of a load.
void Settler::settle_operand(Streams::Reader& reader, std::size_t number, bool memory) {
  const std::uint64_t all = first_rows(rows_.all.n);
  if (set_from(number)) return settle_producer(reader, number, memory, rows_.from[0], all);
  for (std::uint64_t left = all; left != 0;) {
    const DefinitionId from = rows_.from[static_cast<std::size_t>(std::countr_zero(left))];
    const std::uint64_t same = alike(left, rows_.from.data());
    left &= ~same;
    settle_producer(reader, number, memory, from, same);
  }
}

/// Those rows of it that have this producer.
void Settler::settle_producer(Streams::Reader& reader, std::size_t number, bool memory, DefinitionId from,
                              std::uint64_t rows) {
  if (from == 0) return;
  const Streams::Instances some = choose(rows, false);
  streams_.set_time(rows_.time(rows_.chosen[0]));
  bool more_objects = false;
  std::uint64_t reloads = 0;
  if (memory) {
    reader.object = static_cast<ObjectId>(rows_.row(rows_.chosen[0])[number - Journal::kPlace]);
    reloads = static_cast<std::uint64_t>(std::popcount(rows_.copies & rows));
    more_objects = !rows_.one_object && alike(rows, rows_.objects.data()) != rows;
  }
  if (from == kLostProducer) {
    for (std::size_t k = 0; k < some.n; ++k) streams_.lost_dependence(reader, rows_.point(rows_.chosen[k]));
    return;
  }
  const std::size_t depth = streams_.dimensions_of_definition(from);
  if (depth == rows_.dimensions && are_of_same_iteration(some, number)) {
    const bool elsewhere = streams_.dependences(rows_.at, reader, from, some, some.points, rows_.equal.data(), depth,
                                                reloads, more_objects);
    if (elsewhere) note_late_rows(some, number);
    return;
  }
  rows_.producers.resize(std::max(rows_.producers.size(), Journal::kMostRows * depth + kBeyond));
  std::size_t all_equal = 0;
  switch (depth) {
    case 1:
      all_equal = set_producers<1>(some, number, depth);
      break;
    case 2:
      all_equal = set_producers<2>(some, number, depth);
      break;
    case 3:
      all_equal = set_producers<3>(some, number, depth);
      break;
    case 4:
      all_equal = set_producers<4>(some, number, depth);
      break;
    default:
      all_equal = set_producers<0>(some, number, depth);
  }
  if (!streams_.dependences(rows_.at, reader, from, some, rows_.producers.data(), rows_.equal.data(), all_equal,
                            reloads, more_objects))
    return;
  note_late_rows(some, number);
}

/// Of these rows, those whose producer is on another stack.
void Settler::note_late_rows(const Streams::Instances& some, std::size_t number) {
  for (std::size_t k = 0; k < some.n; ++k) {
    const std::size_t i = rows_.chosen[k];
    if (rows_.equal[k] == 0) note_late_then(Journal::cell(rows_.row(i) + number), rows_.since(i), rows_.dimensions);
  }
}

/// Whether the cells that are here in these rows are all of the row's own iteration: then producers are where the rows
/// are.
bool Settler::are_of_same_iteration(const Streams::Instances& some, std::size_t number) const {
  const std::size_t words = rows_.code->row.words;
  std::uint64_t differ = 0;
  for (std::size_t k = 0; k < some.n; ++k) {
    const std::uint64_t* const row = rows_.numbers + rows_.chosen[k] * words;
    differ |= (row[number] >> 32 ^ static_cast<std::uint32_t>(row[0])) | (row[number + 1] ^ row[1]);
    if (differ != 0) return false;
  }
  return true;
}

void Settler::settle_extra(const Journal::Extra& extra, std::uint32_t row) {
  const PartCode& code = *rows_.code;
  streams_.set_time(rows_.time(row));
  Streams::Reader reader = extra.memory ? reader_of(rows_.at.id, code.accesses[extra.index])
                                        : reader_of(rows_.at.id, code.reads[extra.index]);
  reader.lane = extra.lane;
  if (extra.memory) {
    const std::uint64_t what = rows_.row(row)[code.accesses[extra.index].in_row];
    reader.object = static_cast<ObjectId>(what);
    reader.reload = (what & Journal::kCopy) != 0;
  }
  if (extra.cell.producer == kLostProducer) return streams_.lost_dependence(reader, rows_.point(row));
  const std::size_t depth = streams_.dimensions_of_definition(extra.cell.producer);
  rows_.producers.resize(std::max(rows_.producers.size(), depth));
  const std::size_t equal = producer_of(row, extra.cell, rows_.producers.data());
  if (streams_.dependence(rows_.at, reader, extra.cell.producer, rows_.point(row), rows_.producers.data(), equal))
    note_late_then(extra.cell, rows_.since(row), rows_.dimensions);
}

/// note_late() with the levels that a row had.
void Settler::note_late_then(const Cell& cell, std::uint32_t since, std::size_t dimensions) {
  if (since == 0) return;
  const std::uint64_t slice = entries_.slice(cell.entry);
  for (std::size_t k = 0; k < dimensions; ++k)
    if (sinces_[since + k] < slice) streams_.late(k);
}

}  // namespace loopfold::ddg
