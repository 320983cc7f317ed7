/* Atomic sequences that wait, that are jumped into and out of, and that hand over control. */
byte x, y, turn;
chan hand = [0] of { byte };
chan box = [1] of { byte };

active proctype first()
{
	byte n;
again:
	atomic {
		x++;
		if
		:: x > 2 -> goto out
		:: x <= 2 -> hand!x; y = x
		:: box!x -> y = 10
		fi;
		(turn == 1) -> turn = 0
	}
	goto again;
out:
	atomic { do :: y > 0 -> y-- :: y == 0 -> break od; turn = 2 }
	goto inside;
	skip;
	atomic {
		x = 20;
inside:		x = 30;
		y = 1
	}
}

active proctype second()
{
	byte m;
	do
	:: atomic { hand?m; turn = 1; x = x + 0; (y != 200) -> y = y + 0 }
	:: box?m -> d_step { turn = 1; m = 0 }
	:: turn == 2 -> break
	od;
	{ m = 1; m = 2 };
	atomic { m = 3 };
	atomic { if :: m = 4 :: m = 5 fi }
}
