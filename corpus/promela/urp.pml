/* A universal receiver: a sender with a window of two, over a line that loses, and a receiver that
 * asks for what it has not got. */
#ifndef W
#define W 2
#endif
#define M 4
mtype = { data, ack, rej };
chan there = [W] of { mtype, byte };
chan back = [W] of { mtype, byte };
byte expected;

active proctype sender()
{
	byte low, next, n;
end:	do
	:: (next + M - low) % M < W -> there!data,next; next = (next + 1) % M
	:: back?ack,n ->
		if
		:: (n + M - low) % M < W -> low = (n + 1) % M
		:: else
		fi
	:: back?rej,n -> next = n
	:: timeout -> next = low
	od
}

active proctype line()
{
end:	do
	:: there?data,_
	:: back?_,_
	od
}

active proctype receiver()
{
	byte n;
end:	do
	:: there?data,n ->
		if
		:: n == expected -> back!ack,n; expected = (expected + 1) % M
		:: else -> back!rej,expected
		fi
	od
}
