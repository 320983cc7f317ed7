/* What goes wrong, and goes on. */
byte a[3];
byte i;

active [2] proctype p()
{
	do
	:: atomic { i < 3 -> a[i] = i }; d_step { i < 3 -> i++ }; assert(i != 2)
	:: i >= 3 -> break
	od;
	atomic { assert(a[1] == 2); a[0] = 1; assert(a[0] == 0) };
	d_step { assert(a[2] == 0); a[2] = 5 };
	(a[0] == 7)
}
