// Two bits of a restoring division: {remainder, next} / divisor, for a remainder less than the divisor.
module vec_divide_step #(
    parameter WIDTH = 24
) (
    input  logic [WIDTH-1:0] remainder,
    input  logic [      1:0] next,       // of the dividend
    input  logic [WIDTH-1:0] divisor,
    output logic [      1:0] bits,
    output logic [WIDTH-1:0] rest
);
  logic [WIDTH:0] first, second;
  logic [WIDTH-1:0] between;
  logic high, low;
  assign first = {remainder, next[1]};
  assign high = first >= {1'b0, divisor};
  assign between = high ? first[WIDTH-1:0] - divisor : first[WIDTH-1:0];
  assign second = {between, next[0]};
  assign low = second >= {1'b0, divisor};
  assign rest = low ? second[WIDTH-1:0] - divisor : second[WIDTH-1:0];
  assign bits = {high, low};
endmodule
