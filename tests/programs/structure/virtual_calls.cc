// A virtual function, called at one place for objects of three classes.
#include <cstdio>
#include <memory>
#include <vector>

namespace shapes {

volatile long sum;

struct Shape {
  virtual ~Shape() = default;
  virtual void draw(int n) const = 0;
};
struct Circle : Shape {
  void draw(int n) const override {
    for (int i = 0; i < n; i++) sum = sum + 1;  // @circle
  }
};
struct Square : Shape {
  void draw(int n) const override {
    for (int i = 0; i < n; i++) sum = sum + 4;  // @square
  }
};
struct Triangle : Square {
  void draw(int n) const override {
    for (int i = 0; i < n; i++) sum = sum + 3;  // @triangle
  }
};

}  // namespace shapes

int main() {
  std::vector<std::unique_ptr<shapes::Shape>> all;
  for (int i = 0; i < 12; i++) {
    if (i % 3 == 0) all.push_back(std::make_unique<shapes::Circle>());
    if (i % 3 == 1) all.push_back(std::make_unique<shapes::Square>());
    if (i % 3 == 2) all.push_back(std::make_unique<shapes::Triangle>());
  }
  for (int i = 0; i < 12; i++) all[static_cast<unsigned>(i)]->draw(7 + i % 3);  // @calls
  std::printf("sum %ld\ncalls 12\ncircle 28\nsquare 32\ntriangle 36\n", +shapes::sum);
}
