/* Two processes read a counter and write it back, each once more than it was. */
byte counter;
byte done;

active [2] proctype worker()
{
	byte seen;
	seen = counter;
	counter = seen + 1;
	done++
}

active proctype checker()
{
	done == 2;
	assert(counter == 2)
}
