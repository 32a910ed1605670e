// FP32 multiplier: x * y, three cycles after `en`; every NaN is 0x7FC00000.
module fp32_multiply (
    input  logic        clk,
    input  logic [ 2:0] en,
    input  logic [31:0] x,
    input  logic [31:0] y,
    output logic [31:0] product
);
  logic x_sign, x_zero, x_infinity, x_nan, y_sign, y_zero, y_infinity, y_nan;
  logic [7:0] x_exponent, y_exponent;
  logic [23:0] x_m, y_m;
  fp32_unpack unpack_x (x, x_sign, x_exponent, x_m, x_zero, x_infinity, x_nan);
  fp32_unpack unpack_y (y, y_sign, y_exponent, y_m, y_zero, y_infinity, y_nan);

  logic nan, infinity, sign, is_special;
  assign nan = x_nan || y_nan || (x_infinity && y_zero) || (y_infinity && x_zero);
  assign infinity = x_infinity || y_infinity;
  assign sign = x_sign ^ y_sign;
  assign is_special = nan || infinity || x_zero || y_zero;

  logic held_sign, held_is_special;
  logic [47:0] m;
  logic signed [10:0] exponent;
  logic [31:0] special;
  always_ff @(posedge clk) begin
    if (en[0]) begin
      held_sign <= sign;
      held_is_special <= is_special;
      special <= nan ? 32'h7FC0_0000 : {sign, infinity ? 31'h7F80_0000 : 31'd0};
      m <= {24'd0, x_m} * {24'd0, y_m};
      exponent <= $signed({3'd0, x_exponent}) + $signed({3'd0, y_exponent}) - 11'sd149;
    end
  end
  fp32_round #(
      .WIDTH(48)
  ) rounding (
      .clk(clk),
      .en(en[2:1]),
      .sign(held_sign),
      .m(m),
      .exponent(exponent),
      .is_special(held_is_special),
      .special(special),
      .value(product)
  );
endmodule
