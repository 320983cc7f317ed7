/* Structs as parameters: a copy, which belongs to the process. */
typedef Inner { byte n; bool b }
typedef Pair { short a; Inner in }
Pair g, h[2];
byte n_done;

proctype worker(byte k; Pair p; Inner q) {
	assert(p.in.n == k);
	p.a = p.a + 1;
	g.in.n = 7;
	q.b = !q.b;
	if
	:: p.a == 1 && q.b -> n_done++
	:: else -> n_done = 0
	fi
}

init {
	g.in.n = 3;
	h[1].in.b = 1;
	run worker(3, g, h[1].in);
	run worker(0, h[0], h[0].in)
}
