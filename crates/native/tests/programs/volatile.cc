// Volatile variables in C++: they order nothing, and what another thread sees of them is not said.
#include <thread>

static volatile int x, y;
static int seen_x, seen_y;

int main() {
    volatile int own = 1;
    std::thread other([] {
        x = 1;
        seen_y = y;
    });
    y = own;
    seen_x = x;
    other.join();
    return 0;
}
