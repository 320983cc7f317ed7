// What is `const` is not written, whatever a pointer to it says.
// expect: violated memory
static const int k[2] = {1, 2};
int main(void) {
    *(int *)&k[1] = 4;
    return 0;
}
