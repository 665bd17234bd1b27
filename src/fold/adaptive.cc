#include "fold/adaptive.h"

#include <string>

#include "fold/box.h"

namespace loopfold::fold {

namespace {

class BoxFolder : public Folder {
 public:
  explicit BoxFolder(Shape shape) : box_(shape) {}
  void add(const std::int64_t* point, const std::int64_t* labels) override { box_.add(point, labels); }
  void give_up(std::string_view why) override { why_ = why; }
  std::size_t bytes() const override { return box_.bytes(); }
  Folded finish() override { return box_.finish(why_); }

 private:
  Box box_;
  std::string why_ = "not folded";
};

}  // namespace

std::unique_ptr<Folder> make_adaptive(const Options&, Shape shape) { return std::make_unique<BoxFolder>(shape); }

}  // namespace loopfold::fold
