/* Both wait for an answer before they give one. */
mtype = { ask, answer };
chan left = [1] of { mtype, byte };
chan right = [1] of { mtype, byte };

proctype peer(chan from, to)
{
	byte n;
	to!ask(_pid);
	from?answer(n);
	from?ask(n);
	to!answer(n)
}

init {
	run peer(left, right);
	run peer(right, left)
}
