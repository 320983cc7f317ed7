/* The numbers of processes, and what inlines return, as parts of expressions. */
byte x, y;

proctype a() { y++; y-- }

inline twice(v) { y = v; return y * 2 }

init
{
	x = run a() + 1;
	assert(run a() != 0);
	x = twice(3);
	assert(x >= 0);
	printf("%d\n", run a() + x)
}
