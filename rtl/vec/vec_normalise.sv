// One lane of the normalisation: mantissa * R * 2^-31 * 2^-(shift + L), rounded once to FP16; two cycles after `en`.
module vec_normalise (
    input  logic        clk,
    input  logic [ 1:0] en,
    input  logic        nan,       // the whole row is 0x7E00
    input  logic [15:0] mantissa,
    input  logic [ 5:0] shift,
    input  logic [16:0] value,     // R
    input  logic [ 4:0] exponent,  // L
    output logic [15:0] half
);
  logic [31:0] product;
  logic [6:0] scale;
  logic bad;

  logic [4:0] k, cut;
  logic [31:0] sticky, ulp, rounded;
  logic odd;
  logic [4:0] field;
  assign k = scale > 25 ? 5'd25 : scale[4:0];
  assign sticky = {1'b0, product[31:2], product[1] | product[0]};
  // A normal result keeps 11 bits, a subnormal one fewer.
  assign cut = 5'd6 + k > {4'b1001, product[31]} + 5'd1 ? 5'd6 + k : {4'b1001, product[31]} + 5'd1;
  assign ulp = 32'd1 << cut;
  assign odd = (sticky & ulp) != 0;
  assign rounded = (sticky + (ulp >> 1) - 32'd1 + {31'd0, odd}) >> cut;
  logic unused_rounded;
  assign unused_rounded = ^rounded[31:16];
  assign field = cut - 5'd6 - k;  // exponent field minus one; the leading bit and any carry add to it

  always_ff @(posedge clk) begin
    if (en[0]) begin
      product <= {16'd0, mantissa} * {15'd0, value};
      scale <= {1'b0, shift} + {2'd0, exponent};
      bad <= nan;
    end
    if (en[1]) half <= bad ? 16'h7E00 : scale > 25 ? 16'd0 : {1'b0, field, 10'd0} + rounded[15:0];
  end
endmodule
