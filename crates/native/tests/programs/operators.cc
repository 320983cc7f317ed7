// Operators of C++ that do not fit each other (how, the argument), and some that do.
#include <cstdlib>
#include <memory>
#include <new>
#include <pthread.h>
#include <string>
#include <vector>

static int how = -1;
static volatile int zero;
// Otherwise a compiler may leave out both.
static void *volatile kept;
template <typename T> static T *keep(T *pointer) {
    kept = pointer;
    return static_cast<T *>(kept);
}

struct alignas(64) Aligned {
    char bytes[64];
};
struct Widget {
    int number = 0;
    ~Widget() { number = 1; }
};

static void *work(void *unused) {
    if (how == 0)
        delete[] keep(new int(3));
    if (how == 1)
        delete keep(new int[3 + zero]);
    if (how == 2)
        free(keep(new int(3)));
    if (how == 3)
        delete keep(static_cast<int *>(malloc(sizeof(int))));
    if (how == 4) {
        int *numbers = keep(new int[3 + zero]);
        numbers[3 + zero] = 1;
    }
    if (how == 5) {
        Widget *widget = keep(new Widget);
        delete widget;
        *keep(&widget->number) = 2;
    }
    if (how == 6) {
        int *number = keep(new int(1));
        delete number;
        delete number;
    }
    if (how == 7) {
        std::vector<int> numbers(10);
        numbers.reserve(10);
        *keep(&numbers[10 + zero]) = 1;
    }
    if (how == 8) {
        std::vector<int> numbers(3);
        int *first = keep(&numbers[0]);
        numbers.resize(100);
        *first = 1;
    }
    if (how == 9) {
        std::unique_ptr<int> owner(keep(new int[2]));
    }
    if (how == 10)
        ::operator delete(keep(new Aligned));
    if (how == 11)
        ::operator delete[](keep(new char[3]), std::align_val_t(64));
    if (how == -1) {
        delete keep(new int(3));
        delete[] keep(new Widget[3]);
        delete keep(new Aligned);
        delete[] keep(new Aligned[2]);
        delete keep(new (std::nothrow) int);
        free(keep(malloc(3)));
        std::vector<std::string> texts(3, std::string(100, 'x'));
        texts.resize(20);
        auto shared = std::make_shared<Widget>();
        shared->number = 4;
        try {
            throw std::string("caught");
        } catch (const std::string &) {
        }
    }
    return unused;
}

int main(int argc, char **argv) {
    if (argc > 1)
        how = atoi(argv[1]);
    pthread_t thread;
    pthread_create(&thread, nullptr, work, nullptr);
    pthread_join(thread, nullptr);
}
