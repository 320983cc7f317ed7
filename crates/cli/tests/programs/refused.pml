/* The client waits for one answer, and the server has two. */
mtype = { request, granted, refused };
chan to_server = [1] of { mtype, byte };
chan to_client = [1] of { mtype };

active proctype client() {
  to_server!request(3);
  to_client?granted
}

active proctype server() {
  byte n;
  to_server?request(n);
  if
  :: n > 5 -> to_client!granted
  :: else -> to_client!refused
  fi
}
