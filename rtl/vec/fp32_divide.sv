// x / y in a pipeline, one quotient bit per stage: LATENCY cycles from `start` to `done`; every NaN is 0x7FC00000.
module fp32_divide #(
    parameter LATENCY = 30
) (
    input  logic        clk,
    input  logic        rst,
    input  logic        start,
    input  logic [31:0] x,
    input  logic [31:0] y,
    output logic        done,
    output logic [31:0] quotient
);
  localparam BITS = LATENCY - 3;  // 27: 24 of the result, guard bits, and one for a quotient below one

  logic x_sign, x_zero, x_infinity, x_nan, y_sign, y_zero, y_infinity, y_nan;
  logic [7:0] x_exponent, y_exponent;
  logic [23:0] x_m, y_m;
  fp32_unpack unpack_x (x, x_sign, x_exponent, x_m, x_zero, x_infinity, x_nan);
  fp32_unpack unpack_y (y, y_sign, y_exponent, y_m, y_zero, y_infinity, y_nan);

  // Subnormals are brought to a leading one too.
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

  for (genvar i = 0; i <= BITS; i++) begin : stage
    logic valid, is_special, negative;
    logic [31:0] special;
    logic signed [10:0] exponent;
    logic [23:0] divisor;
    logic [24:0] rest;  // below twice the divisor
    logic [26:0] bits;
    logic unused_bit;
    assign unused_bit = bits[26];
    if (i == 0) begin : first
      always_ff @(posedge clk) begin
        valid <= start && !rst;
        if (start) begin
          is_special <= nan || infinity || x_zero || y_infinity;
          special <= nan ? 32'h7FC0_0000 : {sign, infinity ? 31'h7F80_0000 : 31'd0};
          negative <= sign;
          exponent <= $signed({3'd0, x_exponent}) - $signed({6'd0, x_lead}) - $signed({3'd0, y_exponent}) + $signed({6'd0, y_lead}) + 11'sd122;
          divisor <= y_m << y_lead;
          rest <= {1'b0, x_m << x_lead};
          bits <= 0;
        end
      end
    end else begin : step
      logic fits;
      logic [23:0] next;
      assign fits = stage[i-1].rest >= {1'b0, stage[i-1].divisor};
      assign next = fits ? stage[i-1].rest[23:0] - stage[i-1].divisor : stage[i-1].rest[23:0];
      always_ff @(posedge clk) begin
        valid <= stage[i-1].valid && !rst;
        if (stage[i-1].valid) begin
          is_special <= stage[i-1].is_special;
          special <= stage[i-1].special;
          negative <= stage[i-1].negative;
          exponent <= stage[i-1].exponent;
          divisor <= stage[i-1].divisor;
          rest <= {next, 1'b0};
          bits <= {stage[i-1].bits[25:0], fits};
        end
      end
    end
  end

  logic [1:0] held;
  always_ff @(posedge clk) held <= rst ? 0 : {held[0], stage[BITS].valid};
  fp32_round #(
      .WIDTH(28)
  ) rounding (
      .clk(clk),
      .en({held[0], stage[BITS].valid}),
      .sign(stage[BITS].negative),
      .m({stage[BITS].bits, stage[BITS].rest != 0}),
      .exponent(stage[BITS].exponent),
      .is_special(stage[BITS].is_special),
      .special(stage[BITS].special),
      .value(quotient)
  );
  assign done = held[1];
  logic unused_divisor;
  assign unused_divisor = ^stage[BITS].divisor;
endmodule
