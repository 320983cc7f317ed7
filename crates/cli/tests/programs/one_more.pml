/* The sender has one message more than the receiver takes. */
chan line = [0] of { byte };

active proctype sender() {
  line!1;
  line!2
}

active proctype receiver() {
  byte value;
  line?value
}
