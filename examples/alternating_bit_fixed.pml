/* The alternating bit protocol: messages and acknowledgements may be lost, and are sent again. */
#define N 3 /* messages are numbered modulo this */

mtype = { data, ack };

chan to_receiver = [1] of { mtype, byte, bit };
chan to_sender = [1] of { mtype, bit };

byte next_sent, next_received;
bool reliable;

active proctype sender()
{
	bit mine, theirs;

	do
	:: to_receiver!data(next_sent, mine);
		if
		:: to_sender?ack(theirs) ->
			if
			:: theirs == mine ->
				next_sent = (next_sent + 1) % N;
				mine = 1 - mine
			:: else /* of an earlier message */
			fi
		:: empty(to_sender) /* waited long enough: send it again */
		fi
	od
}

active proctype line()
{
	do
	:: to_receiver?data(_, _) /* lost */
	:: to_sender?ack(_) /* lost */
	:: reliable = true; break
	od
}

active proctype receiver()
{
	byte number;
	bit theirs, expected;

	do
	:: to_receiver?data(number, theirs);
		if
		:: theirs == expected ->
			assert(number == next_received);
			next_received = (next_received + 1) % N;
			expected = 1 - expected
		:: else /* received before */
		fi;
		to_sender!ack(theirs)
	od
}

ltl in_order { [] (next_received == next_sent || next_received == (next_sent + 1) % N) }
ltl delivered { <> reliable -> [] <> (next_received == 0) }
