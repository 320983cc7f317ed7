/* A lift between three floors: it turns round where nobody calls from further on. */
#define above ((floor < 2 && called[2]) || (floor < 1 && called[1]))
#define below ((floor > 0 && called[0]) || (floor > 1 && called[1]))

bool called[3];
byte floor;
bool moving, open;

active proctype lift()
{
	bool up = true;

	do
	:: called[0] || called[1] || called[2];
		if
		:: called[floor] ->
			open = true;
			called[floor] = false;
			open = false
		:: else
		fi;
		up = (up -> above : !below);
		moving = true;
		if
		:: up && above -> floor++
		:: !up && below -> floor--
		:: else
		fi;
		moving = false
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
