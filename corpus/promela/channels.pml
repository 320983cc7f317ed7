/* Every way to send and to receive. */
mtype = { low, mid, high };
mtype:colour = { red, green };
typedef pair { byte a; short b };
typedef nest { pair p[2]; bit flag; unsigned small : 3 };
chan sorted = [3] of { byte, byte };
chan structs = [2] of { mtype, pair };
chan names = [1] of { chan };
chan bits = [2] of { bool, mtype:colour };
nest n;
byte z;

active proctype writer()
{
	pair q;
	sorted!!2,1;
	sorted!!1,5;
	sorted!!1(4);
	q.a = 250; q.b = -3;
	structs!high(q);
	n.p[1].a = 9; n.small = 9; n.flag = 2;
	structs!!low,n.p[1];
	names!sorted;
	bits!3,green
}

active proctype reader()
{
	byte i, j;
	pair r;
	chan c;
	bool b;
	mtype:colour k;
	names?c;
	if
	:: c??1,i
	:: c?2,i
	:: c??[eval(z + 1),_] -> z = len(c)
	:: nfull(c) && c?[1,4] -> c?<i,j>
	fi;
	structs??low,r;
	assert(r.a == 9);
	{ structs?mid,r } unless { structs?[high,250] };
	structs?high(r.a,r.b);
	assert(r.b == -3 || z == 1);
	bits?b,k;
	do
	:: nempty(c) -> c?i,j
	:: empty(c) -> break
	od;
	assert(full(structs) || k == green && b);
	z = z + n.p[1].a
	for (j : 1 .. 3) { z++ }
	select (i : 3 .. z)
}
