// FP16 to fixed point in units of 2^-14, rounded to nearest even; an infinity or NaN gives the lowest number.
module vec_fixed (
    input  logic        [15:0] x,
    output logic signed [31:0] fixed
);
  logic [4:0] shift;
  logic [39:0] wide;  // units of 2^-24
  logic up;
  logic [30:0] magnitude;

  assign shift = x[14:10] == 0 ? 5'd0 : x[14:10] - 5'd1;
  assign wide = {29'd0, x[14:10] != 0, x[9:0]} << shift;
  assign up = wide[9] && (wide[8:0] != 0 || wide[10]);
  assign magnitude = {1'b0, wide[39:10]} + {30'd0, up};
  assign fixed = x[14:10] == 31 ? 32'sh8000_0000 : x[15] ? -$signed({1'b0, magnitude}) : $signed({1'b0, magnitude});
endmodule
