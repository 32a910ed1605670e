// FP32 to FP16 converter, round to nearest even, subnormals kept; every NaN is 0x7E00. One cycle after `en`.
module fp32_to_half (
    input  logic        clk,
    input  logic        en,
    input  logic [31:0] x,
    output logic [15:0] half
);
  logic signed [9:0] field;
  logic [4:0] down;
  logic [49:0] wide;
  logic up;
  logic [15:0] bits;
  assign field = $signed({2'd0, x[30:23]}) - 10'sd112;
  assign down = field >= 1 ? 5'd0 : field < -11 ? 5'd13 : 5'(10'sd1 - field);
  // Subnormal FP32 numbers are far below the least FP16 number, so that their leading one may be wrong.
  assign wide = {1'b1, x[22:0], 26'd0} >> down;
  assign up = wide[38] && (wide[37:0] != 0 || wide[39]);
  assign bits = {1'b0, field < 1 ? 5'd0 : field[4:0] - 5'd1, 10'd0} + {5'd0, wide[49:39]} + {15'd0, up};
  always_ff @(posedge clk) begin
    if (en) half <= x[30:0] > 31'h7F80_0000 ? 16'h7E00 : {x[31], field > 30 ? 15'h7C00 : bits[14:0]};
  end
  logic unused_carry;
  assign unused_carry = bits[15];
endmodule
