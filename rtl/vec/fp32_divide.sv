// FP32 divider: x / y, pipelined with two quotient bits per stage. LATENCY cycles from `start` to `done`; every NaN is
// 0x7FC00000.
module fp32_divide #(
    parameter LATENCY = 17
) (
    input  logic        clk,
    input  logic        rst,
    input  logic        start,
    input  logic [31:0] x,
    input  logic [31:0] y,
    output logic        done,
    output logic [31:0] quotient
);
  // 27 bits: 24 of the result, guard bits, and one for a quotient below one. The first step gives one bit, the others
  // two.
  localparam STEPS = LATENCY - 3;

  logic x_sign, x_zero, x_infinity, x_nan, y_sign, y_zero, y_infinity, y_nan;
  logic [7:0] x_exponent, y_exponent;
  logic [23:0] x_m, y_m;
  fp32_unpack unpack_x (x, x_sign, x_exponent, x_m, x_zero, x_infinity, x_nan);
  fp32_unpack unpack_y (y, y_sign, y_exponent, y_m, y_zero, y_infinity, y_nan);

  // Subnormals are normalised as well.
  logic [4:0] x_lead, y_lead;
  always_comb begin
    x_lead = 0;
    y_lead = 0;
    for (int i = 0; i < 24; i++) begin
      if (x_m[i]) x_lead = 5'd23 - i[4:0];
      if (y_m[i]) y_lead = 5'd23 - i[4:0];
    end
  end
  logic nan, infinity, sign;
  assign nan = x_nan || y_nan || (x_infinity && y_infinity) || (x_zero && y_zero);
  assign infinity = x_infinity || y_zero;
  assign sign = x_sign ^ y_sign;

  for (genvar i = 0; i <= STEPS; i++) begin : stage
    logic valid, is_special, negative;
    logic [31:0] special;
    logic signed [10:0] exponent;
    logic [23:0] divisor;
    logic [23:0] rest;
    logic [26:0] bits;
    if (i == 0) begin : first
      always_ff @(posedge clk) begin
        valid <= start && !rst;
        if (start) begin
          is_special <= nan || infinity || x_zero || y_infinity;
          special <= nan ? 32'h7FC0_0000 : {sign, infinity ? 31'h7F80_0000 : 31'd0};
          negative <= sign;
          exponent <= $signed({3'd0, x_exponent}) - $signed({6'd0, x_lead}) - $signed({3'd0, y_exponent}) + $signed({6'd0, y_lead}) + 11'sd122;
          divisor <= y_m << y_lead;
          rest <= x_m << x_lead;
          bits <= 0;
        end
      end
    end else begin : step
      logic [26:0] more;
      logic [23:0] left;
      if (i == 1) begin : one
        logic fits;
        assign fits = stage[0].rest >= stage[0].divisor;
        assign more = {26'd0, fits};
        assign left = fits ? stage[0].rest - stage[0].divisor : stage[0].rest;
        logic unused_bits;
        assign unused_bits = ^stage[0].bits;
      end else begin : two
        logic [1:0] next;
        logic unused_bits;
        assign unused_bits = ^stage[i-1].bits[26:25];
        assign more = {stage[i-1].bits[24:0], next};
        vec_divide_step #(
            .WIDTH(24)
        ) two_bits (
            .remainder(stage[i-1].rest),
            .next(2'b00),
            .divisor(stage[i-1].divisor),
            .bits(next),
            .rest(left)
        );
      end
      always_ff @(posedge clk) begin
        valid <= stage[i-1].valid && !rst;
        if (stage[i-1].valid) begin
          is_special <= stage[i-1].is_special;
          special <= stage[i-1].special;
          negative <= stage[i-1].negative;
          exponent <= stage[i-1].exponent;
          divisor <= stage[i-1].divisor;
          rest <= left;
          bits <= more;
        end
      end
    end
  end

  logic [1:0] held;
  always_ff @(posedge clk) held <= rst ? 0 : {held[0], stage[STEPS].valid};
  fp32_round #(
      .WIDTH(28)
  ) rounding (
      .clk(clk),
      .en({held[0], stage[STEPS].valid}),
      .sign(stage[STEPS].negative),
      .m({stage[STEPS].bits, stage[STEPS].rest != 0}),
      .exponent(stage[STEPS].exponent),
      .is_special(stage[STEPS].is_special),
      .special(stage[STEPS].special),
      .value(quotient)
  );
  assign done = held[1];
  logic unused_divisor;
  assign unused_divisor = ^stage[STEPS].divisor;
endmodule
