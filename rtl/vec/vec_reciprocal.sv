// Reciprocal R of S, pipelined: S >= 1 in units of 2^-40, 1 / S = R * 2^-16 * 2^-L. Two quotient bits per stage; a row
// can start in every cycle. LATENCY cycles from `start` to `done`.
module vec_reciprocal #(
    parameter LATENCY = 10
) (
    input  logic        clk,
    input  logic        rst,
    input  logic        start,
    input  logic [63:0] sum,
    output logic        done,
    output logic [16:0] value,
    output logic [ 4:0] exponent
);
  localparam STEPS = LATENCY - 1;  // 9: the quotient's 17 bits and a leading zero

  // Position of the leading one, and the 24 bits from it on.
  logic [4:0] leading;
  logic [23:0] s;
  logic [63:0] aligned;
  always_comb begin
    leading = 0;
    for (int i = 1; i < 24; i++) if (sum[40+i]) leading = i[4:0];
  end
  assign aligned = sum >> leading;
  assign s = aligned[40:17];
  logic unused_aligned;
  assign unused_aligned = ^{aligned[63:41], aligned[16:0]};

  // (2^39 + s / 2) / s: the low bits of the dividend make room for quotient bits.
  for (genvar i = 0; i <= STEPS; i++) begin : stage
    logic valid;
    logic [23:0] divisor, remainder;
    logic [17:0] quotient;
    logic [4:0] scale;
    if (i == 0) begin : first
      always_ff @(posedge clk) begin
        valid <= start && !rst;
        if (start) begin
          divisor <= s;
          remainder <= 24'h20_0000 | {19'd0, s[23:19]};
          quotient <= s[18:1];
          scale <= leading;
        end
      end
    end else begin : step
      logic [1:0] bits;
      logic [23:0] rest;  // less than the divisor
      vec_divide_step #(
          .WIDTH(24)
      ) two_bits (
          .remainder(stage[i-1].remainder),
          .next(stage[i-1].quotient[17:16]),
          .divisor(stage[i-1].divisor),
          .bits(bits),
          .rest(rest)
      );
      always_ff @(posedge clk) begin
        valid <= stage[i-1].valid && !rst;
        if (stage[i-1].valid) begin
          divisor <= stage[i-1].divisor;
          remainder <= rest;
          quotient <= {stage[i-1].quotient[15:0], bits};
          scale <= stage[i-1].scale;
        end
      end
    end
  end

  logic unused_last;
  assign unused_last = ^{stage[STEPS].divisor, stage[STEPS].remainder, stage[STEPS].quotient[17]};
  assign done = stage[STEPS].valid;
  assign value = stage[STEPS].quotient[16:0];
  assign exponent = stage[STEPS].scale;
endmodule
