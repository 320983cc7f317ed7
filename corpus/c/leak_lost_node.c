// A block is published in one word. Who takes out what was there frees it; who does not look, loses it.
// expect: holds
// expect --property=leak: holds
// expect -DSTORE: holds
// expect -DSTORE --property=leak: violated leak
// vm: blocks that are never freed are looked for by the machine alone
#include "threads.h"
#include <stdlib.h>
static _Atomic(int *) published;

static void *publish(void *unused) {
    int *mine = malloc(sizeof *mine);
    *mine = 1;
#ifdef STORE
    if (!atomic_load(&published))
        atomic_store(&published, mine);
    else
        free(mine);
#else
    free(atomic_exchange(&published, mine));
#endif
    return unused;
}
int main(void) {
    together(publish, publish);
    free(atomic_load(&published));
    return 0;
}
