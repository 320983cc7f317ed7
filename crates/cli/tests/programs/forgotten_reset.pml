/* The total is not cleared between two rounds. */
#define ROUNDS 2
byte total;
chan queue = [2] of { byte };

active proctype producer()
{
	byte i;
	do
	:: i < ROUNDS -> i++; queue!i
	:: else -> break
	od
}

active proctype consumer()
{
	byte n;
	do
	:: queue?n -> d_step { total = total + n; n = 0 }; assert(total <= ROUNDS)
	od
}
