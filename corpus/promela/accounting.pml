/* Two clerks share a ledger through a server; each booking is a request and an answer. */
#ifndef N
#define N 2
#endif
mtype = { book, read, done, sum };
chan request = [N] of { mtype, byte, byte };
chan answer[N] = [1] of { mtype, byte };
byte booked;

proctype server()
{
	byte total, who, what;
end:	do
	:: request?book,who,what -> total = total + what; answer[who]!done,0
	:: request?read,who,_ -> answer[who]!sum,total
	od
}

proctype clerk(byte me)
{
	byte value;
	request!book,me,me + 1;
	answer[me]?done,_;
	booked = booked + me + 1;
	request!read,me,0;
	answer[me]?sum,value;
	assert(value >= me + 1 && value <= N * (N + 1) / 2)
}

init
{
	byte i;
	atomic { run server(); for (i : 0 .. N - 1) { run clerk(i) } }
}
