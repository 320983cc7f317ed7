// What the programs here use.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
extern void __VERIFIER_assume(int);
extern void __VERIFIER_error(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern int __VERIFIER_nondet_int(void);
