// Rust: iterators, slices, closures and generics. What the programmer wrote as `for` are loops of this file.
use std::collections::BTreeMap;

#[inline(never)]
fn multiply(a: &[f64], b: &[f64], c: &mut [f64], n: usize) {
    for i in 0..n { // @product_i
        for j in 0..n { // @product_j
            let mut sum = 0.0;
            for k in 0..n { // @hot
                sum += a[i * n + k] * b[k * n + j];
            }
            c[i * n + j] = sum;
        }
    }
}

trait Shape {
    fn area(&self) -> f64;
}
struct Square(f64);
struct Strip(Vec<f64>);
impl Shape for Square {
    #[inline(never)]
    fn area(&self) -> f64 {
        self.0 * self.0
    }
}
impl Shape for Strip {
    #[inline(never)]
    fn area(&self) -> f64 {
        let mut sum = 0.0;
        for width in &self.0 { // @strip
            sum += width;
        }
        sum
    }
}

#[inline(never)]
fn total<T: Copy + std::ops::Add<Output = T>>(values: &[T], zero: T) -> T {
    values.iter().fold(zero, |sum, &value| sum + value)
}

#[inline(never)]
fn count(values: &[u64]) -> BTreeMap<u64, usize> {
    let mut counts = BTreeMap::new();
    for value in values { // @count
        *counts.entry(value % 29).or_insert(0) += 1;
    }
    counts
}

fn main() {
    let n = 36 + std::env::args().count();
    let a: Vec<f64> = (0..n * n).map(|i| (i % 17) as f64).collect();
    let b: Vec<f64> = (0..n * n).map(|i| (i % 13) as f64 - 6.0).collect();
    let mut c = vec![0.0; n * n];
    multiply(&a, &b, &mut c, n);
    let strip = Strip(a[..50].to_vec());
    let shapes: Vec<Box<dyn Shape>> = vec![Box::new(Square(3.0)), Box::new(strip), Box::new(Square(1.5))];
    let mut areas = 0.0;
    for shape in shapes.iter() { // @shapes
        areas += shape.area();
    }
    let values: Vec<u64> = (0..800u64).map(|i| i * 7919 % 1009).collect();
    println!("{} {} {} {}", total(&c, 0.0), areas, total(&values, 0), count(&values).len());
}
