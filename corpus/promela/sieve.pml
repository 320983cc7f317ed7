/* The sieve of Eratosthenes: a line of processes, one for each prime, that grows at its end. */
#ifndef MAX
#define MAX 10
#endif
mtype = { number, eof };
chan root = [0] of { mtype, byte };

proctype sieve(chan in; byte prime)
{
	chan out = [0] of { mtype, byte };
	bool has_next;
	byte n;
	do
	:: in?number,n ->
		if
		:: n % prime != 0 ->
			if
			:: has_next -> out!number,n
			:: else -> has_next = true; run sieve(out, n)
			fi
		:: else
		fi
	:: in?eof,_ -> break
	od;
	if
	:: has_next -> out!eof,0
	:: else
	fi
}

init
{
	byte n = 3;
	run sieve(root, 2);
	do
	:: n < MAX -> root!number,n; n++
	:: n >= MAX -> root!eof,0; break
	od
}
