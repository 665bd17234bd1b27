// The truth about a loop, from reality: see kernels/verdicts/reality.h for what a program says, docs/kernels.md for
// why.
//
// When a studied loop is entered, a process is split off that keeps this moment. The program goes on and runs the loop
// as always, counting iterations. When the loop is left, the kept process splits off one process for each iteration k
// (the snapshot rule needs no copies then: fork makes them, of registers and libc's own state too). It repeats the
// head's step k times, runs the body once, and puts the bytes that it wrote into a shared image of memory, which began
// as memory was at entry. One more process finds out whether the head alone ends the loop after the same number of
// iterations, and leaves what the head then holds (an index that is a global variable). The loop is
//
//   parallel   if the image now equals memory, and no iteration left the loop or would not have been run;
//   reduction  if that is so once each iteration has its reduction variables start at the operator's identity, and the
//              image's variables take what it left there by the operator, instead of by a store;
//   no         otherwise, with what gave it away.
//
// Memory is the program's data and bss, with a heap in it that malloc hands out once. The j-th malloc of iteration k
// gives the block that it gave in the sequential run: which block is the allocator's business, not the program's.
//
// Stores are seen exactly, also those that change nothing: programs are compiled with -fsanitize=thread and linked with
// the functions below in place of that sanitizer's library. What libc writes is found by comparing bytes. Loads are not
// looked at, there is no model of dependence here. What that costs: flow that is carried but does not show in any value
// is not seen, so the programs are written for it to show, and run on several inputs.
//
// Cost: a fork per iteration, about 0.2 ms; of each loop's entries, the first two and those whose number is a power of
// two are studied, or all of them with REALITY_EVERY in the environment.
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define REALITY
#include "reality.h"
#undef malloc
#undef calloc
#undef free
#undef memcpy
#undef memmove
#undef memset
#undef printf
#undef putchar

#include "reality_numbers.h"

enum { kSites = 256, kIterations = 4096, kReductions = 32, kBlocks = 65536, kHeapBytes = 1 << 16, kLogBytes = 1 << 14 };

enum verdict { kParallel, kReduction, kNo };
enum pass { kPlainPass, kReductionPass, kPasses };

struct site {
  int line, entries;
  long longest;
  enum verdict verdict;
  const char* why;
  char operators[64];
};

struct reduction {
  enum reality_operator op;
  enum reality_type type;
  size_t offset;
  long count;
};

/// What the processes that study one entry of a loop share. The images follow it.
struct reality_study {
  int requests[2];
  pid_t keeper;
  long iterations;
  const char* why[kPasses];
  int reduction_count;
  struct reduction reductions[kReductions];
  uint32_t first_block[kIterations + 1];
  unsigned char images[];
};

/// The blocks that malloc gave, in the order of the sequential run, and how far the heap is used.
struct heap {
  uint32_t block_count;
  size_t used;
  uint32_t offset[kBlocks];
};

/// What each process has of its own. Not in the memory that is studied.
struct own {
  int alone;
  enum pass pass;
  uint32_t next_block, end_of_blocks;
  size_t heap_used;
  unsigned char* written;
  struct heap* heap;
  int pending_count, rotate, every;
  struct reduction pending[kReductions];
  struct site sites[kSites];
};

extern unsigned char __data_start[], _end[];

// The program's state that is kept here: studied like its own.
static unsigned char heap_bytes[kHeapBytes] __attribute__((aligned(16)));
static char output_log[kLogBytes];
static size_t output_used;

static struct own* own;

static size_t memory_bytes(void) { return (size_t)(_end - __data_start); }

static unsigned char* image(struct reality_study* study, int number) {
  return study->images + (size_t)number * memory_bytes();
}

/// Memory at entry is image 0, pass p's is image 1 + p.
static unsigned char* entry_image(struct reality_study* study) { return image(study, 0); }
static unsigned char* pass_image(struct reality_study* study, enum pass pass) { return image(study, 1 + (int)pass); }

static size_t study_bytes(void) { return sizeof(struct reality_study) + (1 + kPasses) * memory_bytes(); }

static void* map(size_t bytes, int sharing) {
  void* const block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) {
    perror("mmap");
    _exit(3);
  }
  return block;
}

static void fail(const char* what) {
  fprintf(stderr, "reality: %s\n", what);
  _exit(3);
}

static size_t bytes_of(const struct reduction* reduction) {
  return kNumbers[reduction->type].size * (size_t)reduction->count;
}

static void start_reductions(struct reality_study* study) {
  for (int r = 0; r < study->reduction_count; r++) {
    const struct reduction* const reduction = &study->reductions[r];
    const struct number* const number = &kNumbers[reduction->type];
    for (size_t at = 0; at < bytes_of(reduction); at += number->size)
      number->identity(reduction->op, __data_start + reduction->offset + at);
  }
}

static void combine_reductions(struct reality_study* study, unsigned char* into) {
  for (int r = 0; r < study->reduction_count; r++) {
    const struct reduction* const reduction = &study->reductions[r];
    const struct number* const number = &kNumbers[reduction->type];
    for (size_t at = reduction->offset; at < reduction->offset + bytes_of(reduction); at += number->size)
      number->combine(reduction->op, into + at, __data_start + at);
  }
}

/// Whether each byte belongs to a reduction variable of this pass: these are combined, not stored.
static void mark_reductions(struct reality_study* study, unsigned char* marks) {
  for (int r = 0; r < study->reduction_count; r++)
    memset(marks + study->reductions[r].offset, 1, bytes_of(&study->reductions[r]));
}

/// Ends the process of one iteration, with its writes applied.
static void commit(struct reality_study* study) {
  unsigned char* const into = pass_image(study, own->pass);
  unsigned char* const combined = map(memory_bytes(), MAP_PRIVATE);
  if (own->pass == kReductionPass) mark_reductions(study, combined);
  const unsigned char* const before = entry_image(study);
  for (size_t at = 0; at < memory_bytes(); at++) {
    const int wrote = own->written[at] || __data_start[at] != before[at];
    if (wrote && !combined[at]) into[at] = __data_start[at];
  }
  if (own->pass == kReductionPass) combine_reductions(study, into);
  _exit(0);
}

static void give_up(struct reality_study* study, const char* why) {
  study->why[own->pass] = why;
  _exit(0);
}

/// One second of CPU time is far more than an iteration needs; on a wrong state it may never end.
static void limit_time(void) {
  const struct itimerval limit = {{0, 0}, {1, 0}};
  setitimer(ITIMER_VIRTUAL, &limit, NULL);
}

static void become_alone(struct reality_loop* loop, enum pass pass, long iteration) {
  struct reality_study* const study = loop->study;
  limit_time();
  own->alone = 1;
  own->pass = pass;
  own->written = map(memory_bytes(), MAP_PRIVATE);
  own->next_block = study->first_block[iteration];
  own->end_of_blocks = study->first_block[iteration < study->iterations ? iteration + 1 : iteration];
  own->heap_used = own->heap->used;
  loop->role = REALITY_ALONE;
  loop->iteration = loop->skip = iteration;
  if (pass == kReductionPass) start_reductions(study);
}

/// Runs the iterations of a pass one by one. Returns 1 in each of their processes, 0 in the keeper.
static int run_pass(struct reality_loop* loop, enum pass pass) {
  struct reality_study* const study = loop->study;
  for (long iteration = 0; iteration <= study->iterations && study->why[pass] == NULL; iteration++) {
    const pid_t child = fork();
    if (child < 0) fail("fork");
    if (child == 0) {
      become_alone(loop, pass, iteration);
      return 1;
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) study->why[pass] = "an iteration alone does not end well";
  }
  return 0;
}

/// The process that keeps the moment of entry. Returns only in the processes of iterations.
static void keep(struct reality_loop* loop) {
  struct reality_study* const study = loop->study;
  char request;
  close(study->requests[1]);
  if (read(study->requests[0], &request, 1) != 1) _exit(0);
  if (run_pass(loop, kPlainPass)) return;
  if (study->reduction_count > 0 && run_pass(loop, kReductionPass)) return;
  _exit(0);
}

static void start_study(struct reality_loop* loop) {
  struct reality_study* const study = map(study_bytes(), MAP_SHARED);
  loop->study = study;
  study->reduction_count = own->pending_count;
  memcpy(study->reductions, own->pending, sizeof own->pending);
  own->pending_count = 0;
  for (int number = 0; number <= kPasses; number++) memcpy(image(study, number), __data_start, memory_bytes());
  if (pipe(study->requests) != 0) fail("pipe");
  const pid_t keeper = fork();
  if (keeper < 0) fail("fork");
  if (keeper == 0) {
    keep(loop);
  } else {
    study->keeper = keeper;
    close(study->requests[0]);
  }
}

static const char* difference(struct reality_study* study, enum pass pass) {
  if (study->why[pass] != NULL) return study->why[pass];
  return memcmp(pass_image(study, pass), __data_start, memory_bytes()) == 0 ? NULL : "memory differs";
}

static void name_operators(const struct reality_study* study, char* text) {
  text[0] = 0;
  for (int r = 0; r < study->reduction_count; r++) {
    const char* const name = operator_name(study->reductions[r].op);
    if (strstr(text, name) == NULL) sprintf(text + strlen(text), "%s%s", r > 0 ? "," : "", name);
  }
}

static void note(struct site* site, enum verdict verdict, const char* why) {
  if (verdict < site->verdict) return;
  site->verdict = verdict;
  site->why = why;
}

static void judge(struct reality_study* study, struct site* site) {
  const char* const why = difference(study, kPlainPass);
  if (why == NULL)
    note(site, kParallel, "");
  else if (study->reduction_count == 0)
    note(site, kNo, why);
  else if (difference(study, kReductionPass) == NULL)
    note(site, kReduction, why);
  else
    note(site, kNo, difference(study, kReductionPass));
  if (study->reduction_count > 0) name_operators(study, site->operators);
}

/// The sequential run has left the loop: let the iterations run alone, and compare.
static void conclude(struct reality_loop* loop) {
  struct reality_study* const study = loop->study;
  struct site* const site = &own->sites[loop->site];
  if (loop->concluded || study == NULL) return;
  loop->concluded = 1;
  study->iterations = loop->iteration;
  if (loop->iteration <= kIterations) study->first_block[loop->iteration] = own->heap->block_count;
  if (loop->ended && write(study->requests[1], "", 1) != 1) fail("write");
  close(study->requests[1]);
  int status = 0;
  if (waitpid(study->keeper, &status, 0) != study->keeper || status != 0) fail("the keeper of an entry died");
  if (loop->iteration > site->longest) site->longest = loop->iteration;
  if (!loop->ended)
    note(site, kNo, "left from inside");
  else if (loop->stale)
    note(site, kNo, "a reload finds another value");
  else
    judge(study, site);
  munmap(study, study_bytes());
}

struct reality_loop reality_enter(int number, int line) {
  if (number >= kSites) fail("too many loops");
  struct reality_loop loop = {REALITY_PLAIN, number, line, 0, 0, 0, 0, 0, 0, 0, NULL};
  struct site* const site = &own->sites[number];
  site->line = line;
  const int entry = site->entries++;
  if (!own->alone && (own->every || (entry & (entry - 1)) == 0)) {
    loop.role = REALITY_SEQUENTIAL;
  } else {
    own->pending_count = 0;
  }
  return loop;
}

/// True once, before the loop. Then the loop has been left, by its condition or by break.
int reality_once(struct reality_loop* loop) {
  if (loop->passes++ == 0) return 1;
  reality_leave(loop);
  return 0;
}

void reality_begin(struct reality_loop* loop) {
  if (loop->begun) return;
  loop->begun = 1;
  if (loop->role == REALITY_SEQUENTIAL) start_study(loop);
}

int reality_test(struct reality_loop* loop, int condition) {
  struct reality_study* const study = loop->study;
  if (loop->role == REALITY_SEQUENTIAL) {
    loop->ended = !condition;
    if (condition && loop->iteration >= kIterations) fail("too many iterations");
    if (condition) study->first_block[loop->iteration++] = own->heap->block_count;
  } else if (loop->role == REALITY_ALONE) {
    if (condition != (loop->iteration < study->iterations)) give_up(study, "the head alone ends elsewhere");
    if (!condition) commit(study);
  }
  return condition;
}

void reality_body_done(struct reality_loop* loop) {
  if (loop->role == REALITY_ALONE) commit(loop->study);
}

void reality_leave(struct reality_loop* loop) {
  if (loop->role == REALITY_SEQUENTIAL) conclude(loop);
  if (loop->role == REALITY_ALONE) give_up(loop->study, "an iteration alone leaves");
}

void reality_reduction(enum reality_operator op, volatile void* variable, enum reality_type type, long count) {
  if (own->pending_count == kReductions) fail("too many reductions");
  const size_t offset = (size_t)((volatile unsigned char*)variable - __data_start);
  if (offset >= memory_bytes()) fail("a reduction variable that is not in studied memory");
  own->pending[own->pending_count++] = (struct reduction){own->rotate ? rotated(op) : op, type, offset, count};
}

static void mark(const volatile void* address, size_t size) {
  const size_t offset = (size_t)((const volatile unsigned char*)address - __data_start);
  if (own != NULL && own->written != NULL && offset < memory_bytes()) memset(own->written + offset, 1, size);
}

/// A fresh block of the heap, from `*used` on.
static void* fresh_block(size_t size, size_t* used) {
  void* const block = heap_bytes + *used;
  *used += (size + 31) / 16 * 16;
  if (*used > kHeapBytes) fail("the heap is full");
  return block;
}

void* reality_malloc(size_t size) {
  if (own->alone) {
    if (own->next_block < own->end_of_blocks) return heap_bytes + own->heap->offset[own->next_block++];
    return fresh_block(size, &own->heap_used);
  }
  if (own->heap->block_count == kBlocks) fail("too many blocks");
  void* const block = fresh_block(size, &own->heap->used);
  own->heap->offset[own->heap->block_count++] = (uint32_t)((unsigned char*)block - heap_bytes);
  return block;
}

void* reality_calloc(size_t count, size_t size) {
  return reality_memset(reality_malloc(count * size), 0, count * size);
}

void reality_free(void* block) { (void)block; }

void* reality_memcpy(void* to, const void* from, size_t size) {
  mark(to, size);
  return memcpy(to, from, size);
}

void* reality_memmove(void* to, const void* from, size_t size) {
  mark(to, size);
  return memmove(to, from, size);
}

void* reality_memset(void* to, int byte, size_t size) {
  mark(to, size);
  return memset(to, byte, size);
}

int reality_printf(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(output_log + output_used, kLogBytes - output_used, format, arguments);
  va_end(arguments);
  output_used += (size_t)length;
  if (output_used >= kLogBytes) fail("the log is full");
  return length;
}

int reality_putchar(int character) {
  reality_printf("%c", character);
  return character;
}

/// A line for each loop: its line, its number among all of the program, entries, the longest studied, the verdict.
static void print_verdicts(void) {
  if (own->alone) return;
  static const char* const kNames[] = {"parallel", "reduction", "no"};
  for (int number = 0; number < kSites; number++) {
    const struct site* const site = &own->sites[number];
    if (site->entries == 0) continue;
    printf("%d\t%d\t%d\t%ld\t%s", site->line, number, site->entries, site->longest, kNames[site->verdict]);
    if (site->verdict == kReduction) printf("(%s)", site->operators);
    printf("\t%s\n", site->why);
  }
}

__attribute__((constructor)) static void start(void) {
  own = map(sizeof *own, MAP_PRIVATE);
  own->heap = map(sizeof *own->heap, MAP_SHARED);
  own->rotate = getenv("REALITY_ROTATE") != NULL;
  own->every = getenv("REALITY_EVERY") != NULL;
  for (int number = 0; number < kSites; number++) own->sites[number].why = "";
  atexit(print_verdicts);
}

// What -fsanitize=thread calls. Loads and calls are of no interest.
#define DEFINE_ACCESS(size)                                          \
  void __tsan_read##size(void* address) { (void)address; }           \
  void __tsan_write##size(void* address) { mark(address, size); }    \
  void __tsan_unaligned_read##size(void* address) { (void)address; } \
  void __tsan_unaligned_write##size(void* address) { mark(address, size); }
DEFINE_ACCESS(1)
DEFINE_ACCESS(2)
DEFINE_ACCESS(4)
DEFINE_ACCESS(8)
DEFINE_ACCESS(16)
void __tsan_read_range(void* address, size_t size) { (void)address, (void)size; }
void __tsan_write_range(void* address, size_t size) { mark(address, size); }
void __tsan_vptr_read(void** address) { (void)address; }
void __tsan_vptr_update(void** address, void* value) { mark(address, sizeof value); }
void __tsan_init(void) {}
void __tsan_func_entry(void* caller) { (void)caller; }
void __tsan_func_exit(void) {}
