/* A lift between three floors: it goes to the lowest floor from which it was called. */
bool called[3];
byte floor;
bool moving, open;

active proctype lift()
{
	byte target;

	do
	:: if
		:: called[0] -> target = 0
		:: !called[0] && called[1] -> target = 1
		:: !called[0] && !called[1] && called[2] -> target = 2
		fi;
		moving = true;
		do
		:: floor < target -> floor++
		:: floor > target -> floor--
		:: floor == target -> break
		od;
		moving = false;
		open = true;
		called[floor] = false;
		open = false
	od
}

active proctype passengers()
{
	do
	:: called[0] = true
	:: called[1] = true
	:: called[2] = true
	od
}

ltl doors { [] !(moving && open) }
ltl ground { [] (called[0] -> <> (floor == 0 && open)) }
ltl top { [] (called[2] -> <> (floor == 2 && open)) }
