// Rounding step of all FP32 operations: (-1)^sign * m * 2^(exponent - 149) to nearest even, subnormals kept. The last
// bit of an inexact m is sticky. Two cycles after `en`. `special` bypasses the rounding.
module fp32_round #(
    parameter WIDTH = 48  // of m
) (
    input  logic                     clk,
    input  logic        [       1:0] en,
    input  logic                     sign,
    input  logic        [ WIDTH-1:0] m,
    input  logic signed [      10:0] exponent,
    input  logic                     is_special,
    input  logic        [      31:0] special,
    output logic        [      31:0] value
);
  // Stage 1: shifts the leading one to the top.
  logic [5:0] leading;
  logic negative, past;
  logic [WIDTH-1:0] top;
  logic signed [10:0] field;  // exponent field of a normal number
  logic [31:0] other;
  always_comb begin
    leading = 0;
    for (int i = 0; i < WIDTH; i++) if (m[i]) leading = i[5:0];
  end

  // Stage 2: denormalises subnormal results, then rounds.
  logic [4:0] down;
  logic [WIDTH+25:0] wide;
  logic up;
  logic [31:0] bits;
  assign down = field >= 1 ? 5'd0 : field < -24 ? 5'd26 : 5'(11'sd1 - field);
  assign wide = {top, 26'd0} >> down;
  assign up = wide[WIDTH+1] && (wide[WIDTH:0] != 0 || wide[WIDTH+2]);
  // The leading one and a carry add to the exponent field minus one.
  assign bits = {1'b0, field < 1 ? 8'd0 : field[7:0] - 8'd1, 23'd0} + {8'd0, wide[WIDTH+25:WIDTH+2]} + {31'd0, up};

  always_ff @(posedge clk) begin
    if (en[0]) begin
      negative <= sign;
      past <= is_special;
      other <= special;
      top <= m << (6'(WIDTH - 1) - leading);
      field <= exponent + $signed({5'd0, leading}) - 11'sd22;
    end
    if (en[1]) value <= past ? other : {negative, field > 254 ? 31'h7F80_0000 : bits[30:0]};
  end

  logic unused_carry;
  assign unused_carry = bits[31];
endmodule
