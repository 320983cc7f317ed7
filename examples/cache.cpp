// A cache of computed values: many read it at the same time, one at a time adds to it.
#include <cassert>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <thread>

class Cache {
public:
    const int &square_of(int n) {
        {
            std::shared_lock reading(mutex);
            if (auto known = squares.find(n); known != squares.end())
                return known->second;
        }
        int square = n * n;
        std::unique_lock writing(mutex);
        return squares[n] = square;
    }

private:
    std::shared_mutex mutex;
    std::map<int, int> squares;
};

int main() {
    Cache cache;
    auto use = [&] { assert(cache.square_of(12) == 144); };
    std::thread first(use), second(use);
    first.join();
    second.join();
}
