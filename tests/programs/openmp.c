// OpenMP: a parallel sum (integer, so that the order does not matter), a critical section and a task loop.
#include <omp.h>
#include <stdio.h>

int main(void) {
  static int data[20000];
  long sum = 0, critical = 0, tasks = 0;
  omp_set_num_threads(4);
#pragma omp parallel for schedule(static)
  for (int i = 0; i < 20000; i++) data[i] = i * 3 % 101;
#pragma omp parallel for reduction(+ : sum) schedule(dynamic, 500)
  for (int i = 0; i < 20000; i++) sum += data[i];
#pragma omp parallel for
  for (int i = 0; i < 64; i++) {
#pragma omp critical
    critical += i;
  }
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 20; i++) {
#pragma omp task firstprivate(i) shared(tasks)
    {
#pragma omp atomic
      tasks += i * i;
    }
  }
  printf("sum %ld, critical %ld, tasks %ld\n", sum, critical, tasks);
  return 0;
}
