/* Orders of messages: one that is kept, for two channels; whatever else is sent does not count. */
mtype = { req, ack };
chan c = [2] of { mtype, byte };
chan d = [1] of { mtype };
chan other = [1] of { byte };

trace {
	do
	:: c!req,_ ; c?req,_
	:: d!ack ; d?ack -> break
	od;
	c!ack,3
}

active proctype a()
{
	byte n;
	do
	:: n < 2 -> c!req,n; n++; len(c) == 0; other!n
	:: d!ack -> len(d) == 0 -> break
	od;
	c!ack,3
}

active proctype b()
{
	byte n;
	do
	:: c?req,n
	:: d?ack -> break
	:: other?n -> skip
	od
}
