// One lane of the exponential: e^(x - top) = mantissa * 2^-15 * 2^-shift, three cycles after `en`. Names are those of
// the table in models/arith/softmax.h.
module vec_exp (
    input  logic               clk,
    input  logic        [ 2:0] en,        // stage i takes the value of stage i - 1
    input  logic        [15:0] x,
    input  logic signed [31:0] top,       // fixed point
    input  logic               none,      // forces 32 nats below, which rounds to zero
    output logic        [15:0] mantissa,
    output logic        [ 5:0] shift
);
  localparam LOG2E = 22'd3025551;

  // Stage 1: saturated difference.
  logic signed [31:0] fixed;
  logic [31:0] wide;
  logic [18:0] difference;
  vec_fixed to_fixed (
      .x(x),
      .fixed(fixed)
  );
  assign wide = top - fixed;

  // Stage 2: difference in units of log2.
  logic [40:0] product;
  logic [21:0] t;
  assign product = {22'd0, difference} * {19'd0, LOG2E} + 41'd262144;
  logic unused_product;
  assign unused_product = ^product[18:0];

  // Stage 3: 2^-t.
  logic [5:0] whole;
  logic [15:0] fraction;
  logic [31:0] segment;
  logic [27:0] sum;
  assign whole = t[21:16] + {5'd0, t[15:0] != 0};  // t rounded up
  assign fraction = -t[15:0];
  vec_exp2_table table_of_segments (
      .index(fraction[15:10]),
      .segment(segment)
  );
  logic unused_sum;
  assign unused_sum = ^sum[11:0];
  assign sum = {segment[31:12], 8'd0} + {16'd0, segment[11:0]} * {18'd0, fraction[9:0]};

  always_ff @(posedge clk) begin
    if (en[0]) difference <= none || wide[31:19] != 0 ? 19'h7FFFF : wide[18:0];
    if (en[1]) t <= product[40:19];
    if (en[2]) begin
      mantissa <= sum[27:12];
      shift <= whole;
    end
  end
endmodule
