/* Escapes: nested, into blocks and loops, with messages, and out of atomic sequences. */
byte x, y;
chan alarm = [0] of { byte };
chan mail = [1] of { byte };

active proctype worker()
{
	byte n;
	{
		{
			do
			:: n < 3 -> n++; x = n
			:: n == 3 -> break
			od;
			y = 1
		} unless {
			x == 2 -> x = 7; y = 2
		}
	} unless {
		alarm?n -> y = 3
	};
	atomic { x = 0; y == 3 -> x = 4 } unless { y == 1 -> x = 5 };
	if
	:: mail?n
	:: mail?<n> -> skip
	:: else
	fi unless { y == 2 };
	d_step { x = 9; y = 9 } unless { x == 5 }
}

active proctype bell()
{
	if
	:: alarm!1
	:: mail!3
	:: skip
	fi
}
