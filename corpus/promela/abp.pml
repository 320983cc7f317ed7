/* The alternating bit protocol: what is lost is sent again, and what comes twice is taken once. */
#ifndef MAX
#define MAX 3
#endif
mtype = { data, ack };
chan to_receiver = [1] of { mtype, byte, bit };
chan to_sender = [1] of { mtype, bit };

active proctype sender()
{
	byte n;
	bit mine, theirs;
	do
	:: to_receiver!data,n,mine ->
		if
		:: to_sender?ack,theirs ->
			if
			:: theirs == mine -> n = (n + 1) % MAX; mine = 1 - mine
			:: else
			fi
		:: timeout
		fi
	od
}

active proctype line()
{
	end: do
	:: to_receiver?data,_,_
	:: to_sender?ack,_
	od
}

active proctype receiver()
{
	byte n, wanted;
	bit theirs, mine;
	end: do
	:: to_receiver?data,n,theirs ->
		if
		:: theirs == mine ->
			assert(n == wanted);
			wanted = (wanted + 1) % MAX;
			mine = 1 - mine
		:: else
		fi;
		to_sender!ack,theirs
	od
}
