// Names have all characters that the compiler allows.
// expect: holds
#include "verifier.h"
struct $s {
    int $;
};
enum {
    $A = 2
};
typedef int $t;
$t $f($t $p) {
    $t $l=$p;
    $again:if ($l<$A) {
        $l++;
        goto $again;
    }
    return $l;
}
int main(void) {
    struct $s $v = {.$=1};
    struct $s*$q = &$v;
    assert($f($q->$) == 2);
}
