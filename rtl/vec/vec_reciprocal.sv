// R = 1 / S in a pipeline: S in units of 2^-40 and at least 1, 1 / S = R * 2^-16 * 2^-L. One quotient bit per stage, so
// that a row can start in every cycle; LATENCY cycles from `start` to `done`.
module vec_reciprocal #(
    parameter LATENCY = 18
) (
    input  logic        clk,
    input  logic        rst,
    input  logic        start,
    input  logic [63:0] sum,
    output logic        done,
    output logic [16:0] value,
    output logic [ 4:0] exponent
);
  localparam BITS = LATENCY - 1;

  // The position of the leading one, and the 24 bits from it on.
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

  // (2^39 + s / 2) / s: the low bits of the dividend make room for the quotient's.
  for (genvar i = 0; i <= BITS; i++) begin : stage
    logic valid;
    logic [23:0] divisor, remainder;
    logic [16:0] quotient;
    logic [4:0] scale;
    if (i == 0) begin : first
      always_ff @(posedge clk) begin
        valid <= start && !rst;
        if (start) begin
          divisor <= s;
          remainder <= 24'h40_0000 | {18'd0, s[23:18]};
          quotient <= s[17:1];
          scale <= leading;
        end
      end
    end else begin : step
      logic [24:0] next;
      logic [23:0] rest;
      logic fits;
      assign next = {stage[i-1].remainder, stage[i-1].quotient[16]};
      assign fits = next >= {1'b0, stage[i-1].divisor};
      assign rest = fits ? next[23:0] - stage[i-1].divisor : next[23:0];  // less than the divisor
      always_ff @(posedge clk) begin
        valid <= stage[i-1].valid && !rst;
        if (stage[i-1].valid) begin
          divisor <= stage[i-1].divisor;
          remainder <= rest;
          quotient <= {stage[i-1].quotient[15:0], fits};
          scale <= stage[i-1].scale;
        end
      end
    end
  end

  logic unused_last;
  assign unused_last = ^{stage[BITS].divisor, stage[BITS].remainder};
  assign done = stage[BITS].valid;
  assign value = stage[BITS].quotient;
  assign exponent = stage[BITS].scale;
endmodule
