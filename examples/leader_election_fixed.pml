/* Leader election in a ring: candidates go round, and the greatest comes back to its sender. */
#define N 3

chan ring[N] = [N] of { byte };
byte n_leaders;

proctype node(byte me; bool starts)
{
	byte candidate;
	bool stands = starts;

	if
	:: stands -> ring[(me + 1) % N]!me
	:: else
	fi;
end:	do
	:: ring[me]?candidate ->
		if
		:: candidate > me -> ring[(me + 1) % N]!candidate
		:: candidate == me -> n_leaders++
		:: candidate < me && !stands -> stands = true; ring[(me + 1) % N]!me
		:: candidate < me && stands /* will not win */
		fi
	od
}

init
{
	byte i, first;

	select(first : 0 .. N - 1);
	atomic {
		for (i : 0 .. N - 1) {
			run node(i, i == first)
		}
	}
}

ltl one_leader { [] (n_leaders <= 1) }
ltl elected { <> (n_leaders > 0) }
