// A device may write what the program may not.
// expect: holds
const volatile int port;
struct pair {
    const int first;
    int second;
};
struct pair both = {1, 2};
static const char *const names[] = {"a", "b"};
int main(void) {
    *(int *)&port = 1;
    both.second = 3;
    const int local = both.first;
    return names[0][0] == 'a' && local == 1 ? 0 : 1;
}
