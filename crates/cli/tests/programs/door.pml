/* The lift moves before its door is shut. */
mtype = { open, shut };
mtype door = shut;
bool moves;

active proctype lift()
{
	do
	:: door = open; moves = true; door = shut; moves = false
	od
}

ltl safe { [] !(moves && door == open) }
