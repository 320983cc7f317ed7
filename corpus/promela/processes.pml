/* Processes come and go: numbers are used again, and they die youngest first. */
byte alive, last_born;
chan up[2] = [1] of { chan, byte };

proctype child(byte depth; chan back)
{
	chan mine = [1] of { byte };
	byte got;
	bool odd = depth;
	alive++;
	if
	:: depth > 0 -> last_born = run child(depth - 1, mine); mine?got
	:: else -> got = _pid
	fi;
	back!got;
	alive--
}

init
{
	chan mine = [2] of { byte };
	byte n;
	pid p;
	atomic { p = run child(2, mine); run child(0, mine) };
	mine?n;
	(_nr_pr == 1) -> mine?n;
	assert(alive == 0);
	run child(0, mine);
	up[1]!mine,n
}
