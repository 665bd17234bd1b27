// Uses iostream, string, map, unordered_map, vector, sort and shared_ptr.
#include <algorithm>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

struct Shape {
  virtual ~Shape() = default;
  virtual double area() const = 0;
};
struct Square : Shape {
  explicit Square(double s) : side(s) {}
  double area() const override { return side * side; }
  double side;
};
struct Rectangle : Shape {
  Rectangle(double w, double h) : width(w), height(h) {}
  double area() const override { return width * height; }
  double width, height;
};

int main() {
  std::map<std::string, int> count;
  std::unordered_map<int, std::string> names;
  std::istringstream text("the quick brown fox jumps over the lazy dog and the quick cat over the fox");
  for (std::string word; text >> word;) count[word]++;
  for (int i = 0; i < 300; i++) names[i * 7919 % 1009] = "name" + std::to_string(i);
  for (const auto& [word, n] : count) std::cout << std::setw(8) << word << ' ' << n << '\n';
  std::vector<std::string> sorted;
  for (const auto& [key, name] : names) sorted.push_back(name + '/' + std::to_string(key));
  std::sort(sorted.begin(), sorted.end());
  std::cout << sorted.size() << ' ' << sorted.front() << ' ' << sorted.back() << '\n';
  std::vector<std::shared_ptr<Shape>> shapes;
  for (int i = 1; i <= 50; i++) {
    if (i % 2) {
      shapes.push_back(std::make_shared<Square>(i));
    } else {
      shapes.push_back(std::make_shared<Rectangle>(i, 0.5));
    }
  }
  double area = 0;
  for (const auto& shape : shapes) area += shape->area();
  std::cout << std::fixed << std::setprecision(2) << area << std::endl;
  return 0;
}
