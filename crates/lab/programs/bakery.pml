/* Lamport's bakery. Tickets go up to MAX: who would need a larger one begins again. */
#define N 3
#define MAX 5
byte ticket[N];
bit choosing[N];
byte inside;

active [N] proctype customer()
{	byte j, most;

again:
	choosing[_pid] = 1;
	most = 0;
	j = 0;
	do
	:: j < N -> most = (ticket[j] > most -> ticket[j] : most); j++
	:: else -> break
	od;
	if
	:: most < MAX -> ticket[_pid] = most + 1
	:: else -> choosing[_pid] = 0; goto again
	fi;
	choosing[_pid] = 0;
	j = 0;
	do
	:: j < N ->
		choosing[j] == 0;
		(ticket[j] == 0 || ticket[_pid] < ticket[j] || (ticket[_pid] == ticket[j] && _pid <= j));
		j++
	:: else -> break
	od;
	inside++;
	assert(inside == 1);
	inside--;
	ticket[_pid] = 0;
	goto again
}
