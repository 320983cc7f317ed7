/* What waits for others: timeout, else, provided, end labels, and conditions with messages. */
byte x, ticks;
bool ready;
chan q = [1] of { byte };
chan rv = [0] of { byte };

active proctype clock() provided (!ready || ticks > 1)
{
end_idle:
	do
	:: timeout && ticks < 3 -> ticks++
	:: q?_ -> if :: ready -> skip :: else -> x++ fi
	:: ticks == 3 -> break
	od
}

active proctype user()
{
	byte n;
	do
	:: n < 2 -> if :: q!n -> n++ :: full(q) -> skip fi
	:: else -> break
	od;
	ready = true;
	if
	:: rv!1 -> x = 20
	:: else -> x = 21
	fi;
	(ticks == 2) -> ready = false;
progress_here:
	goto end_far;
	skip;
end_far:
	goto accept_last;
accept_last:
	ticks == 9
}

active proctype helper()
{
	byte m;
	if
	:: rv?m
	:: x > 1 -> skip
	fi
}
