// Atomics with weak orders: a static one, one on a stack and one on the heap, through the functions of the
// library, which are called without optimisation; and one that is accessed while there is no other thread.
#include <atomic>
#include <thread>

static std::atomic<int> alone, strong, total;

static bool look(std::atomic<bool> &flag) {
    bool first = flag.load(std::memory_order_relaxed);
    bool second = flag.load(std::memory_order_relaxed);
    return first || second;
}

int main() {
    std::atomic<bool> done{false};
    auto *count = new std::atomic<int>{0};
    alone.store(1, std::memory_order_relaxed);
    std::thread other([&] {
        done.store(true, std::memory_order_release);
        total.exchange(1, std::memory_order_acq_rel);
        strong.store(1);
        *count += 1;
    });
    look(done);
    count->fetch_add(1, std::memory_order_acquire);
    strong.load();
    other.join();
    alone.load(std::memory_order_acquire);
    delete count;
    return 0;
}
