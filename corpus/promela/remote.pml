/* What processes may know of each other. */
byte count;

active [2] proctype worker()
{
	byte steps;
	byte log[3];
again:
	if
	:: steps < 2 -> steps++; log[steps] = _pid; goto again
	:: steps == 2 -> goto done
	fi;
done:	count++
}

active proctype watcher()
{
	do
	:: worker[0]@done && worker[1]:steps == 2 -> break
	:: worker[1]:log[2] == 1 && count < 3 -> count++
	:: worker@again -> skip
	:: else -> break
	od;
	assert(_last <= 2)
}
