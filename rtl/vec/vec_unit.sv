// Datapath of the VEC engine for softmax: rows in, rows out, over valid/ready streams.
//
// One command per row. The row's elements follow in words of WORD elements, the last one padded with any values.
// Results leave in beats of LANES elements.
module vec_unit #(
    parameter LANES = 8,
    parameter WORD = 32,
    parameter LENGTH_BITS = 24,
    parameter LOG_WORDS = 7
) (
    input logic clk,
    input logic rst,

    input  logic                   cmd_valid,
    output logic                   cmd_ready,
    input  logic [            5:0] cmd_flags,   // {given, scalar, first, online, feed[1:0]}
    input  logic [LENGTH_BITS-1:0] cmd_length,  // elements, at least 1
    input  logic [           15:0] cmd_max,     // online: the running maximum so far

    input  logic               in_valid,
    output logic               in_ready,
    input  logic [WORD*16-1:0] in_data,

    output logic                out_valid,
    input  logic                out_ready,
    output logic [LANES*16-1:0] out_data,
    output logic                out_last,
    output logic [        15:0] out_max,
    output logic [        31:0] out_sum,
    output logic [        31:0] out_scale,

    output logic row_taken
);
  vec_softmax #(
      .LANES(LANES),
      .WORD(WORD),
      .LENGTH_BITS(LENGTH_BITS),
      .LOG_WORDS(LOG_WORDS)
  ) softmax (
      .clk(clk),
      .rst(rst),
      .cmd_valid(cmd_valid),
      .cmd_ready(cmd_ready),
      .cmd_flags(cmd_flags),
      .cmd_length(cmd_length),
      .cmd_max(cmd_max),
      .in_valid(in_valid),
      .in_ready(in_ready),
      .in_data(in_data),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(out_data),
      .out_last(out_last),
      .out_max(out_max),
      .out_sum(out_sum),
      .out_scale(out_scale),
      .row_taken(row_taken)
  );

  vec_stream_rules #(
      .WIDTH(LENGTH_BITS + 22)
  ) cmd_rules (
      .clk(clk),
      .rst(rst),
      .valid(cmd_valid),
      .ready(cmd_ready),
      .data({cmd_max, cmd_flags, cmd_length})
  );
  vec_stream_rules #(
      .WIDTH(WORD * 16)
  ) in_rules (
      .clk(clk),
      .rst(rst),
      .valid(in_valid),
      .ready(in_ready),
      .data(in_data)
  );
  vec_stream_rules #(
      .WIDTH(LANES * 16 + 81)
  ) out_rules (
      .clk(clk),
      .rst(rst),
      .valid(out_valid),
      .ready(out_ready),
      .data({out_data, out_last, out_max, out_sum, out_scale})
  );
endmodule
