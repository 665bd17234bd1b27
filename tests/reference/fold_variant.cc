// What a variant may approximate, and what it may not.
//
// F is exact, FW keeps domains exact, FGG has no TOP unless it gave up, kAuto has a limit of pieces. This holds where
// the points are in order, nobody asked for giving up, and no number is so large that arithmetic on it may overflow.
#include <fmt/format.h>

#include <algorithm>

#include "reference/fold_reference.h"
#include "support/wide.h"

namespace loopfold::fold::reference {

std::vector<Complaint> check_variant(const Stream& stream, const Folded& folded, const Options& options, bool asked) {
  std::vector<Complaint> complaints;
  const auto complain = [&](std::string_view what) {
    complaints.push_back({Complaint::Kind::kVariant, fmt::format("{} {}", variant_name(options.variant), what)});
  };
  if (options.variant == Variant::kAuto && folded.pieces.size() > options.max_pieces) complain("has too many pieces");
  for (const Piece& piece : folded.pieces)
    for (const Output& output : piece.outputs)
      if (options.variant != Variant::kAuto && output.divisor != 1) complain("has a fraction");
  if (stream.points.empty()) return complaints;
  if (asked && !folded.gave_up) complain("did not give up when asked to");
  if (!in_order(stream) && !folded.gave_up) complain("did not give up on points out of order");
  if (asked || !in_order(stream) || is_extreme(stream) || stream.shape.dimensions > 10) return complaints;
  if (options.variant == Variant::kF && folded.widened) complain("widened");
  if (options.variant == Variant::kF && folded.gave_up) complain("gave up");
  if (options.variant == Variant::kFW && folded.gave_up) complain("gave up");
  if (options.variant == Variant::kFGG && folded.widened && !folded.gave_up) complain("widened");
  return complaints;
}

bool in_order(const Stream& stream) {
  for (std::size_t i = 1; i < stream.points.size(); ++i)
    if (stream.points[i - 1].point >= stream.points[i].point) return false;
  return true;
}

bool is_extreme(const Stream& stream) {
  Wide coordinate = 1;
  Wide label = 1;
  for (const Labelled& labelled : stream.points) {
    for (const Wide x : labelled.point) coordinate = std::max(coordinate, x < 0 ? -x : x);
    for (const Wide x : labelled.labels) label = std::max(label, x < 0 ? -x : x);
  }
  constexpr Wide kLimit = static_cast<Wide>(1) << 60;
  return coordinate > kLimit / std::max(label, coordinate) / (stream.shape.dimensions + 1);
}

Folded fold_stream(const Stream& stream, const Options& options, std::size_t give_up_at) {
  const std::unique_ptr<Folder> folder = make_folder(options, stream.shape);
  for (std::size_t i = 0; i < stream.points.size(); ++i) {
    if (i == give_up_at) folder->give_up("asked to");
    folder->add(stream.points[i].point.data(), stream.points[i].labels.data());
  }
  return folder->finish();
}

bool same(const Folded& a, const Folded& b) {
  return a.pieces == b.pieces && a.points == b.points && a.max_intermediate == b.max_intermediate &&
         a.widened == b.widened && a.gave_up == b.gave_up && a.why == b.why;
}

}  // namespace loopfold::fold::reference
