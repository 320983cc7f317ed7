// Appending asks the other buffer for its length and then for its characters; each of the two is
// atomic, both together are not.
// expect: violated assertion
// expect -DFIXED: holds
#include <assert.h>
#include <pthread.h>
#include <string.h>

struct buffer {
    pthread_mutex_t mutex;
    int length;
    char text[16];
};

static struct buffer source = {PTHREAD_MUTEX_INITIALIZER, 3, "abc"};
static struct buffer target = {PTHREAD_MUTEX_INITIALIZER, 0, ""};

static int length_of(struct buffer *buffer) {
    pthread_mutex_lock(&buffer->mutex);
    int length = buffer->length;
    pthread_mutex_unlock(&buffer->mutex);
    return length;
}

static void copy_from(struct buffer *buffer, int length, char *to) {
    pthread_mutex_lock(&buffer->mutex);
#ifdef FIXED
    if (length > buffer->length) length = buffer->length;
#endif
    assert(length <= buffer->length);
    memcpy(to, buffer->text, length);
    pthread_mutex_unlock(&buffer->mutex);
}

static void *append(void *unused) {
    pthread_mutex_lock(&target.mutex);
    int length = length_of(&source);
    copy_from(&source, length, target.text + target.length);
    target.length += length;
    pthread_mutex_unlock(&target.mutex);
    return unused;
}

static void *erase(void *unused) {
    pthread_mutex_lock(&source.mutex);
    source.length = 0;
    pthread_mutex_unlock(&source.mutex);
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, append, 0);
    pthread_create(&two, 0, erase, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
