// A latch: threads wait until others have counted down to zero.
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>

class Latch {
public:
    explicit Latch(int count) : count(count) {}

    void count_down() {
        std::scoped_lock lock(mutex);
        if (--count == 0)
            reached_zero.notify_all();
    }

    void wait() {
        std::unique_lock lock(mutex);
        reached_zero.wait(lock, [this] { return count == 0; });
    }

private:
    std::mutex mutex;
    std::condition_variable reached_zero;
    int count;
};

int main() {
    int parts[2] = {};
    Latch done(2);
    auto total = [&] {
        done.wait();
        assert(parts[0] + parts[1] == 3);
    };
    std::thread reader(total);
    std::thread first([&] { parts[0] = 1; done.count_down(); });
    parts[1] = 2;
    done.count_down();
    total();
    first.join();
    reader.join();
}
