// Sum of exponentials as FP32: `sum` * 2^-40, rounded once to nearest even; two cycles after `en`.
module vec_to_float (
    input  logic        clk,
    input  logic [ 1:0] en,
    input  logic [63:0] sum,
    output logic [31:0] value
);
  logic [5:0] leading;
  logic [63:0] aligned;  // leading one at bit 63
  logic [5:0] exponent;
  logic up;
  always_comb begin
    leading = 0;
    for (int i = 0; i < 64; i++) if (sum[i]) leading = i[5:0];
  end
  assign up = aligned[39] && (aligned[38:0] != 0 || aligned[40]);

  always_ff @(posedge clk) begin
    if (en[0]) begin
      aligned <= sum << (6'd63 - leading);
      exponent <= leading;
    end
    // Bias of 127, minus 40, minus one for the leading one, which adds to the exponent field.
    if (en[1]) value <= aligned[63] ? {3'd0, exponent, 23'd0} + {2'd0, 7'd86, 23'd0} + {8'd0, aligned[63:40]} + {31'd0, up} : 0;
  end
endmodule
