/* Each process looks at the other's flag before it raises its own. */
bool flag[2];
byte inside;

active [2] proctype user()
{
	!flag[1 - _pid];
	flag[_pid] = true;
	inside++;
	assert(inside == 1);
	inside--;
	flag[_pid] = false
}
