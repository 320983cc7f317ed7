/* Branches that keep accounts of their own: each pays its neighbour in a ring, or does not, and is paid by the
 * other one. Again and again an auditor adds up what they report, and nothing may be lost. */
#ifndef N
#define N 2
#endif
#define START 1
chan transfer[N] = [1] of { byte };
chan report[N] = [1] of { byte };

proctype branch(byte me)
{
	byte balance = START, amount;
end:	do
	:: if
	   :: balance > 0 -> amount = 1
	   :: amount = 0
	   fi;
	   balance = balance - amount;
	   transfer[(me + 1) % N]!amount;
	   transfer[me]?amount;
	   balance = balance + amount;
	   report[me]!balance
	od
}

proctype auditor()
{
	byte i, part, total;
end:	do
	:: i < N -> report[i]?part; total = total + part; i++
	:: i == N -> assert(total == N * START); total = 0; i = 0
	od
}

init
{
	byte i;
	atomic { run auditor(); for (i : 0 .. N - 1) { run branch(i) } }
}
