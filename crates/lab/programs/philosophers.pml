/* Dining philosophers. The last one reaches for the other fork first, so that they never all wait. */
#define N 8
bit fork[N];

active [N] proctype philosopher()
{	byte first = (_pid == N - 1 -> 0 : _pid);
	byte second = (_pid == N - 1 -> N - 1 : _pid + 1);

	do
	:: atomic { fork[first] == 0 -> fork[first] = 1 };
	   atomic { fork[second] == 0 -> fork[second] = 1 };
	   fork[second] = 0;
	   fork[first] = 0
	od
}
