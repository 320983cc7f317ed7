// Parts of static variables: the argument is which of them two threads race on.
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <pthread.h>

struct Base {
    long owner;
    int balance;
};

struct Account : Base {
    std::mutex lock;
    struct {
        short day, month;
    } opened;
    struct Entry {
        int amount;
        long when;
    } entries[3];
    unsigned is_open : 1, is_blocked : 1;
    union {
        int number;
        char letters[8];
    };
    std::atomic<int> uses;
};

static Account account, accounts[2][2];
static int what;

static int *place() {
    switch (what) {
    case 0: return &account.balance;
    case 1: return reinterpret_cast<int *>(&account.opened);
    case 2: return &account.entries[2].amount;
    case 3: return &accounts[1][0].entries[1].amount;
    case 4: return &account.number;
    default: return reinterpret_cast<int *>(&account.number) - 1;
    }
}

static void *change(void *unused) {
    std::lock_guard<std::mutex> guard(accounts[0][1].lock);
    account.uses++;
    return unused;
}

static void *work(void *unused) {
    (*place())++;
    return change(unused);
}

int main(int, char **arguments) {
    what = atoi(arguments[1]);
    pthread_t one, two;
    pthread_create(&one, nullptr, work, nullptr);
    pthread_create(&two, nullptr, what < 6 ? work : change, nullptr);
    pthread_join(one, nullptr);
    pthread_join(two, nullptr);
    // Whoever unlocks what somebody else holds, or leaves it locked, is told of it by name.
    accounts[0][1].lock.lock();
}
