// FP32 adder: x + y, four cycles after `en`; every NaN is 0x7FC00000.
module fp32_add (
    input  logic        clk,
    input  logic [ 3:0] en,
    input  logic [31:0] x,
    input  logic [31:0] y,
    output logic [31:0] sum
);
  // Stage 1: orders the operands by magnitude and computes the distance of their exponents.
  logic swap;
  logic [31:0] a, b;
  logic a_sign, a_infinity, a_nan, b_sign, b_zero, b_infinity, b_nan, a_zero;
  logic [7:0] a_exponent, b_exponent;
  logic [23:0] a_m, b_m;
  assign swap = x[30:0] < y[30:0];
  assign a = swap ? y : x;
  assign b = swap ? x : y;
  fp32_unpack unpack_a (a, a_sign, a_exponent, a_m, a_zero, a_infinity, a_nan);
  fp32_unpack unpack_b (b, b_sign, b_exponent, b_m, b_zero, b_infinity, b_nan);
  logic nan;
  assign nan = a_nan || b_nan || (a_infinity && b_infinity && a_sign != b_sign);

  logic sign1, minus1, is_special1, is_special2, sign2;
  logic [7:0] exponent1, exponent2, distance1;
  logic [23:0] a1, b1;
  logic [31:0] special1, special2;

  // Stage 2: aligns and adds, with three extra bits, the last one sticky.
  logic [26:0] far, aligned;
  logic [27:0] total, total2;
  logic [4:0] shift;
  logic sticky;
  assign shift = distance1 > 27 ? 5'd27 : distance1[4:0];
  assign far = {b1, 3'd0} >> shift;
  assign sticky = ({b1, 3'd0} & ~({27{1'b1}} << shift)) != 0;
  assign aligned = {far[26:1], far[0] | sticky};
  assign total = minus1 ? {1'b0, a1, 3'd0} - {1'b0, aligned} : {1'b0, a1, 3'd0} + {1'b0, aligned};

  always_ff @(posedge clk) begin
    if (en[0]) begin
      sign1 <= a_sign;
      minus1 <= a_sign != b_sign;
      exponent1 <= a_exponent;
      distance1 <= a_exponent - b_exponent;
      a1 <= a_m;
      b1 <= b_m;
      is_special1 <= nan || a_infinity || (a_zero && b_zero);
      special1 <= nan ? 32'h7FC0_0000 : a_infinity ? a : {a_sign && b_sign, 31'd0};
    end
    if (en[1]) begin
      // A result of exact cancellation is +0.
      sign2 <= sign1;
      is_special2 <= is_special1 || total == 0;
      special2 <= is_special1 ? special1 : 0;
      exponent2 <= exponent1;
      total2 <= total;
    end
  end
  fp32_round #(
      .WIDTH(28)
  ) rounding (
      .clk(clk),
      .en(en[3:2]),
      .sign(sign2),
      .m(total2),
      .exponent($signed({3'd0, exponent2}) - 11'sd3),
      .is_special(is_special2),
      .special(special2),
      .value(sum)
  );
  logic unused_parts;
  assign unused_parts = b_infinity;
endmodule
