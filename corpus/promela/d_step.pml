/* Indivisible steps: with loops and choices in them, as guards, and taking a message from another. */
byte x, y;
hidden byte spare;
chan rv = [0] of { byte, byte };

active [2] proctype p()
{
	byte i, s;
	d_step {
		i = 0; s = 0;
		do
		:: i < 5 -> s = s + i; i++
		:: i >= 3 -> break
		:: else -> break
		od;
		spare = x; x = y; y = spare
	}
	if
	:: d_step { x > y -> s = 1; x-- }
	:: d_step { x <= y -> if :: x == 0 -> s = 2 :: x == y -> s = 3 :: else -> s = 4 fi; y++ }
	:: d_step { rv?i,s; x = i + s }
	:: rv!_pid + 1,3
	fi;
	atomic { d_step { s = 0; i = 0 }; x++; d_step { y++; y-- } }
}
