/* Only the most urgent process that can move moves. */
byte order, n;
bool go;

proctype task(byte me) priority 3
{
	go -> order = order * 3 + me;
	set_priority(_pid, 1);
	n++;
	assert(get_priority(_pid) == 1 && _priority == 1)
}

init priority 2
{
	pid p;
	run task(1);
	p = run task(2) priority 5;
	go = true;
	if
	:: n > 0 -> _priority = 4
	:: n == 0
	fi;
	n++
}
