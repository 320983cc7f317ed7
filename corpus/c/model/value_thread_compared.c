// expect: holds
// says: before it has a value
#include <pthread.h>
int main(void) { pthread_t one; return pthread_equal(one, pthread_self()) * 0; }
