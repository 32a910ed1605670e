// Fields of an FP32 number: (-1)^sign * m * 2^(exponent - 149), exponent 0 to 253.
module fp32_unpack (
    input  logic [31:0] x,
    output logic        sign,
    output logic [ 7:0] exponent,
    output logic [23:0] m,
    output logic        zero,
    output logic        infinity,
    output logic        nan
);
  logic [7:0] field;
  assign {sign, field} = x[31:23];
  assign m = {field != 0, x[22:0]};
  assign exponent = field == 0 ? 8'd0 : field - 8'd1;
  assign zero = x[30:0] == 0;
  assign infinity = x[30:0] == 31'h7F80_0000;
  assign nan = x[30:0] > 31'h7F80_0000;
endmodule
