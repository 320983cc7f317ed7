/* A server that may serve the other client for ever. */
bool asked[2];
byte served;

active [2] proctype client()
{
	do
	:: !asked[_pid] -> asked[_pid] = true
	od
}

active proctype server()
{
	do
	:: asked[0] -> served = 1; asked[0] = false
	:: asked[1] -> served = 2; asked[1] = false
	od
}

ltl response { [] (asked[0] -> <> !asked[0]) }
