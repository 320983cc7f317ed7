/* What a thread has said of signals that it does not want is what it is told, and its threads begin with that. */
#include <assert.h>
#include <pthread.h>
#include <signal.h>

static int blocks(int signal) {
    sigset_t now;
    assert(pthread_sigmask(SIG_BLOCK, 0, &now) == 0);
    return sigismember(&now, signal);
}

static void *inherits(void *unused) {
    sigset_t set;
    assert(blocks(SIGUSR1) && !blocks(SIGUSR2));
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_SETMASK, &set, 0);
    assert(!blocks(SIGUSR1) && blocks(SIGUSR2));
    return unused;
}

int main(void) {
    sigset_t set, old;
    pthread_t thread;
    assert(!blocks(SIGUSR1));
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGKILL);
    assert(sigprocmask(SIG_BLOCK, &set, &old) == 0 && !sigismember(&old, SIGUSR1));
    assert(blocks(SIGUSR1) && !blocks(SIGKILL));
    pthread_create(&thread, 0, inherits, 0);
    assert(blocks(SIGUSR1) && !blocks(SIGUSR2));
    pthread_join(thread, 0);
    pthread_sigmask(SIG_UNBLOCK, &set, &old);
    assert(sigismember(&old, SIGUSR1) && !blocks(SIGUSR1));
    return 0;
}
