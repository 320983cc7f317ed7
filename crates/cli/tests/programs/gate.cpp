// Between the look at the flag and the wait, the lock is given up.
#include <condition_variable>
#include <mutex>
#include <thread>

struct Gate {
    std::mutex lock;
    std::condition_variable opened;
    bool is_open = false;

    void pass() {
        std::unique_lock<std::mutex> held(lock);
        if (!is_open) {
            held.unlock();
            held.lock();
            opened.wait(held);
        }
    }

    void open() {
        {
            std::lock_guard<std::mutex> held(lock);
            is_open = true;
        }
        opened.notify_one();
    }
};

int main() {
    Gate gate;
    std::thread visitor([&] { gate.pass(); });
    gate.open();
    visitor.join();
}
