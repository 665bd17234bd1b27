// The folding algorithm as published (TACO 2019, section 5), in its four variants: exact (F), with label widening
// (F_W), with geometric give-up (F_GG), and with both (F_GG,W).
//
// Polyhedra grow dimension by dimension, from the inside. Take I2 of the paper's example, three points each way, labels
// 67 71 77, 68 72 78, 69 73 79, with widening. The first row is a polyhedron that grows along the innermost dimension
// while points continue it: 67, then 4 ck + 67, then TOP ck + 67. When the outer counter advances, the row is over: it
// is an *absorber* along the outer dimension. The second row, when it is over, waits *to be absorbed* along the outer
// dimension; the first absorbs it, being next to it and of fitting shape and labels, and becomes 1 cj + TOP ck + 67;
// the same with the third row, which makes the 3 x 3 square.
//
// In general (Algorithm 1), each dimension d has a list of absorbers and one of polyhedra that wait. When the loop
// inside d has ended, each absorber looks for a waiting polyhedron at its corner and absorbs it if it can (polyhedron.h
// says when the shape allows it, label.h when the labels do). An absorber that finds none will never grow along d again
// and waits along d + 1, or is retired if there is no such dimension; what was not absorbed becomes an absorber. At the
// end all loops have ended.
//
// Two readings of the paper's text that its pseudocode leaves open: loops that have ended are processed before the
// point that shows it is added (as in its Figure 5), and an absorber tries all waiting polyhedra within reach, in
// lexicographic order of their first points, not only the first that it finds.
//
// Innermost dimension: there is only ever one absorber, the row that the stream is at (row.h); a point that it does not
// take begins a new one.
//
// Geometric give-up: where a new polyhedron would make more than 4 d + 1 that are not retired, d being the number of
// dimensions of the stream, all is replaced by one box that contains all points seen and to come, with labels that are
// TOP along all dimensions. Retired pieces go into the box as well: a stream is either a set of disjoint exact pieces,
// or one box. All variants do the same when a point does not come after the one before it, when the stream has more
// than 10 dimensions (polyhedra have 2^d vertices), when a bound does not fit into 64 bits, and when they are told to.
//
// Exactness: that of fold.h. F and F_GG have no TOP but for constants that do not fit into 64 bits. Cost: a few ns per
// point of a regular row; per row an absorption; with irregular domains a binary search among the waiting polyhedra for
// each of the 3^(d-1) places within reach, or a scan of those between the first and the last of them if they are fewer.
// Memory: the polyhedra that are not retired, and some 100 to 200 bytes for each that is.
#pragma once

#include <memory>

#include "fold/fold.h"

namespace loopfold::fold {

/// `options.variant` is not kAuto.
std::unique_ptr<Folder> make_published(const Options& options, Shape shape);

}  // namespace loopfold::fold
