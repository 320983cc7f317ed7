/* Blocks, jumps, loops and inlines: which places are states. */
#define twice(a) a; a
byte x;

inline step(v, k)
{
	byte t;
	t = v;
	do
	:: t > k -> t--
	:: t <= k -> break
	od;
	v = t
}

inline both(v) { step(v, 1); if :: v > 0 -> v-- :: else -> goto skip_it fi; skip_it: skip }

active proctype p()
{
	byte i = 3, j;
	{ do :: i > 0 -> i-- :: i == 1 -> break :: i == 0 -> goto mid od };
	x = 1;
mid:	twice(x++);
	step(x, 1);
	{ { x = 3 } ; { j = 2; j = 3 } };
	both(x);
	do
	:: x < 3 ->
		byte w = x;
		if
		:: w == 1 -> break
		:: w == 2 -> skip; skip; skip; x = 1
		:: else -> x++; printf("w %d\n", w); skip
		fi
	:: x >= 3 -> goto end_it
	od;
	for (j : 1 .. 2) { if :: j == 1 -> skip :: j == 2 -> break fi };
	select (j : 0 .. 2);
	select (x : j .. 4);
	int late;
	late = j; assert(late >= 0);
	if :: goto end_it :: true -> skip :: skip fi;
end_it:
	skip
}

active proctype q() { do :: x == 1 -> x = 2 :: timeout -> break od }
