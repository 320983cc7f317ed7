// One facility of the C++ library after the other: the first argument names it, and a second one
// plants a mistake.
#include <atomic>
#include <barrier>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>
using namespace std::chrono_literals;

static bool BUG;

namespace mutex_ {
std::mutex m; int n;
void work() { if (BUG) { n++; } else { std::lock_guard<std::mutex> g(m); n++; } }
void run() { std::thread a(work), b(work); a.join(); b.join(); assert(n == 2); }
}

namespace recursive_ {
std::recursive_mutex m; int n;
void twice() { std::lock_guard<std::recursive_mutex> g(m); std::lock_guard<std::recursive_mutex> h(m); n++; if (BUG) m.lock(); }
void run() { std::thread a(twice), b(twice); a.join(); b.join(); assert(n == 2); }
}

namespace shared_ {
std::shared_mutex m; int n;
void run() {
  std::thread r([] { std::shared_lock<std::shared_mutex> g(m); int x = n; if (BUG) n = x + 1; });
  std::thread s([] { std::shared_lock<std::shared_mutex> g(m); int x = n; if (BUG) n = x + 1; });
  { std::unique_lock<std::shared_mutex> g(m); n++; }
  r.join(); s.join(); assert(n == 1); }
}

namespace condition_ {
std::mutex m; std::condition_variable c; bool ready; int data;
void run() {
  std::thread a([] { std::unique_lock<std::mutex> g(m); if (BUG) { if (!ready) c.wait(g); } else c.wait(g, [] { return ready; }); assert(data == 7); });
  { std::lock_guard<std::mutex> g(m); data = 7; if (!BUG) ready = true; }
  c.notify_one(); a.join(); }
}

namespace condition_any_ {
std::shared_mutex m; std::condition_variable_any c; bool ready;
void run() {
  std::thread a([] { std::shared_lock<std::shared_mutex> g(m); c.wait(g, [] { return ready; }); });
  { std::unique_lock<std::shared_mutex> g(m); ready = true; }
  if (!BUG) c.notify_all();
  a.join(); }
}

namespace scoped_ {
std::mutex l, r;
void run() {
  std::thread a([] { if (BUG) { l.lock(); r.lock(); } else std::lock(l, r); l.unlock(); r.unlock(); });
  if (BUG) { r.lock(); l.lock(); l.unlock(); r.unlock(); } else { std::scoped_lock g(r, l); }
  a.join(); }
}

namespace once_ {
std::once_flag f; int n; 
void init() { if (BUG) { if (n == 0) n++; } else std::call_once(f, [] { n++; }); }
void run() { std::thread a(init), b(init); a.join(); b.join(); assert(n == 1); }
}

namespace promise_ {
void run() {
  std::promise<int> p; std::future<int> f = p.get_future();
  std::thread a([&] { if (BUG) return; p.set_value(4); });
  assert(f.get() == 4); a.join(); }
}

namespace async_ {
void run() {
  auto f = std::async(std::launch::async, []() -> int { throw std::runtime_error("lost"); });
  if (BUG) f.get();
  try { f.get(); assert(false); } catch (const std::runtime_error &e) { assert(std::string(e.what()) == "lost"); } }
}

namespace task_ {
int shared;
void run() {
  std::packaged_task<int()> t([] { shared = 1; return 5; }); auto f = t.get_future();
  std::thread a(std::move(t)); if (BUG) shared = 2; assert(f.get() == 5); a.join(); assert(shared > 0); }
}

namespace atomics_ {
struct Wide { long a, b; bool operator==(const Wide &o) const { return a == o.a && b == o.b; } };
std::atomic<char> c; std::atomic<short> s; std::atomic<int> i; std::atomic<long> l; std::atomic<Wide> w; std::atomic<void *> p;
void work() { c++; s++; i++; l++; Wide e = w.load(); if (BUG) { w.store({e.a + 1, e.b}); return; }
  while (!w.compare_exchange_strong(e, {e.a + 1, e.b - 1})) ; }
void run() { std::thread a(work); work(); a.join(); assert(c == 2 && s == 2 && i == 2 && l == 2); assert(w.load().a == 2); if (!BUG) assert(w.load().b == -2); }
}

namespace pointers_ {
struct S { int v = 3; ~S() { v = 0; } };
void run() {
  auto p = std::make_shared<S>(); std::weak_ptr<S> w = p;
  std::thread a([p] { assert(p->v == 3); });
  std::thread b([w] { if (auto q = w.lock()) assert(q->v == 3); else assert(!BUG); });
  p.reset(); a.join(); b.join(); assert(w.expired()); }
}

namespace statics_ {
struct S { int v; S() { v = 3; } };
S *unguarded;
S &get() { if (BUG) { if (!unguarded) unguarded = new S; return *unguarded; } static S s; return s; }
void run() { std::thread a([] { assert(get().v == 3); }); assert(get().v == 3); a.join(); }
}

namespace locals_ {
std::atomic<int> alive;
struct T { T() { alive++; } ~T() { alive--; } int use = 0; };
thread_local T t;
void run() { std::thread a([] { t.use++; assert(t.use == 1); }); t.use++; a.join(); assert(alive == (BUG ? 2 : 1)); }
}

namespace timed_ {
std::timed_mutex m; int n; std::atomic<int> failed;
void work() { if (m.try_lock_for(10ms)) { n++; m.unlock(); } else failed++; }
void run() { std::thread a(work), b(work); a.join(); b.join(); assert(n + failed == 2); if (BUG) assert(n == 2); }
}

namespace wait_for_ {
std::mutex m; std::condition_variable c; bool ready;
void run() {
  std::thread a([] { std::lock_guard<std::mutex> g(m); ready = true; c.notify_one(); });
  { std::unique_lock<std::mutex> g(m); bool in_time = c.wait_for(g, 1s, [] { return ready; }); if (BUG) assert(in_time); }
  a.join(); assert(ready); }
}

namespace shared_timed_ {
std::shared_timed_mutex m; int n; void run() {
  std::thread a([] { if (m.try_lock_shared_for(1s)) { int x = n; (void)x; m.unlock_shared(); } });
  if (m.try_lock_for(1s)) { n = 1; m.unlock(); } else if (BUG) assert(false); a.join();
  std::promise<void> p; auto f = p.get_future(); std::thread b([&] { p.set_value(); }); auto s = f.wait_for(1s); assert(s == std::future_status::ready || s == std::future_status::timeout); b.join(); }
}

namespace stop_ {
std::mutex m; std::condition_variable_any c; bool seen;
void run() {
  { std::jthread a([](std::stop_token s) { std::unique_lock<std::mutex> g(m); c.wait(g, s, [] { return false; }); seen = true; });
    if (BUG) { std::lock_guard<std::mutex> g(m); assert(!seen || a.get_stop_token().stop_requested()); a.detach(); } }
  std::lock_guard<std::mutex> g(m); assert(seen); }
}

namespace latch_ {
std::latch l(2); int data;
void run() { std::thread a([] { data = 1; l.count_down(); }); if (BUG) l.count_down(); else l.arrive_and_wait(); assert(data == 1); a.join(); }
}

namespace barrier_ {
int sum;
void run() {
  std::barrier b(2, []() noexcept { sum++; });
  std::thread a([&] { b.arrive_and_wait(); if (BUG) b.arrive_and_wait(); });
  b.arrive_and_wait(); a.join(); assert(sum == 1); }
}

namespace semaphore_ {
std::binary_semaphore s(0); int data;
void run() { if (BUG) s.release(); std::thread a([] { data = 1; s.release(); }); s.acquire(); assert(data == 1); a.join(); }
}

namespace atomic_wait_ {
std::atomic<int> x; int data;
void run() { std::thread a([] { x.wait(0); assert(data == 5); }); data = 5; x = 1; if (!BUG) x.notify_one(); a.join(); }
}

int main(int argc, char **argv) {
  BUG = argc > 2;
  if (!strcmp(argv[1], "MUTEX")) mutex_::run();
  if (!strcmp(argv[1], "RECURSIVE")) recursive_::run();
  if (!strcmp(argv[1], "SHARED")) shared_::run();
  if (!strcmp(argv[1], "CONDITION")) condition_::run();
  if (!strcmp(argv[1], "CONDITION_ANY")) condition_any_::run();
  if (!strcmp(argv[1], "SCOPED")) scoped_::run();
  if (!strcmp(argv[1], "ONCE")) once_::run();
  if (!strcmp(argv[1], "PROMISE")) promise_::run();
  if (!strcmp(argv[1], "ASYNC")) async_::run();
  if (!strcmp(argv[1], "TASK")) task_::run();
  if (!strcmp(argv[1], "ATOMICS")) atomics_::run();
  if (!strcmp(argv[1], "POINTERS")) pointers_::run();
  if (!strcmp(argv[1], "STATICS")) statics_::run();
  if (!strcmp(argv[1], "LOCALS")) locals_::run();
  if (!strcmp(argv[1], "TIMED")) timed_::run();
  if (!strcmp(argv[1], "WAIT_FOR")) wait_for_::run();
  if (!strcmp(argv[1], "SHARED_TIMED")) shared_timed_::run();
  if (!strcmp(argv[1], "STOP")) stop_::run();
  if (!strcmp(argv[1], "LATCH")) latch_::run();
  if (!strcmp(argv[1], "BARRIER")) barrier_::run();
  if (!strcmp(argv[1], "SEMAPHORE")) semaphore_::run();
  if (!strcmp(argv[1], "ATOMIC_WAIT")) atomic_wait_::run();
}
