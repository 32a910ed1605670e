// Third pass: multiplies the terms by the reciprocal of the row's sum (online: by one) and outputs FP16.
module vec_output #(
    parameter LANES = 8,
    parameter LENGTH_BITS = 24,
    parameter LOG_DEPTH = 3  // beats that may wait at the output
) (
    input logic clk,
    input logic rst,

    input  logic                    meta_valid,
    input  logic [LENGTH_BITS+21:0] meta,              // {nan, top 16, flags 5, length}
    input  logic                    term_valid,
    input  logic [    LANES*22-1:0] terms,
    output logic                    term_pop,
    input  logic                    reciprocal_valid,
    input  logic [            21:0] reciprocal,        // {L 5, R 17}
    output logic                    reciprocal_pop,
    input  logic                    side_valid,
    input  logic [            63:0] side,              // {sum, scale}
    output logic                    row_done,

    output logic                out_valid,
    input  logic                out_ready,
    output logic [LANES*16-1:0] out_data,
    output logic                out_last,
    output logic [        15:0] out_max,    // valid with the last beat: the row's maximum,
    output logic [        31:0] out_sum,    // the sum of its exponentials (FP32),
    output logic [        31:0] out_scale   // and e^(maximum before - maximum)
);
  localparam WIDTH = LANES * 16 + 81;

  logic [LENGTH_BITS-1:0] length, done, left;
  logic [4:0] flags;
  logic [15:0] top;
  logic nan, online, last, issue;
  logic [16:0] value;
  logic [4:0] exponent;
  logic [LOG_DEPTH:0] room;
  logic unused_flags;
  assign {nan, top, flags, length} = meta;
  assign online = flags[2];
  assign unused_flags = ^{flags[4:3], flags[1:0]};
  assign left = length - done;
  assign last = left <= LENGTH_BITS'(LANES);
  assign issue = meta_valid && term_valid && (online || reciprocal_valid) && (!last || side_valid) && room != 0;
  assign term_pop = issue;
  assign row_done = issue && last;
  assign reciprocal_pop = row_done && !online;
  assign {exponent, value} = online ? 22'h1_0000 : reciprocal;

  always_ff @(posedge clk) begin
    if (rst) begin
      done <= 0;
      room <= 1 << LOG_DEPTH;
    end else begin
      if (issue) done <= last ? 0 : done + LENGTH_BITS'(LANES);
      room <= room - {{LOG_DEPTH{1'b0}}, issue} + {{LOG_DEPTH{1'b0}}, out_valid && out_ready};
    end
  end

  logic [2:1] held;
  logic [2:0] v;
  logic [WIDTH-1:0] result, head;
  assign v = {held, issue};
  always_ff @(posedge clk) held <= rst ? 0 : v[1:0];
  for (genvar i = 0; i < LANES; i++) begin : lane
    vec_normalise normalise (
        .clk(clk),
        .en(v[1:0]),
        .nan(nan),
        .mantissa(terms[i*22+:16]),
        .shift(terms[i*22+16+:6]),
        .value(value),
        .exponent(exponent),
        .half(result[i*16+:16])
    );
  end
  vec_delay #(
      .WIDTH (81),
      .STAGES(2)
  ) beside (
      .clk(clk),
      .en (v[1:0]),
      .in ({last, top, side}),
      .out(result[WIDTH-1:LANES*16])
  );

  logic unused_full;
  vec_fifo #(
      .WIDTH(WIDTH),
      .LOG_DEPTH(LOG_DEPTH)
  ) results (
      .clk(clk),
      .rst(rst),
      .push(v[2]),
      .push_data(result),
      .pop(out_valid && out_ready),
      .valid(out_valid),
      .full(unused_full),
      .data(head)
  );
  assign {out_last, out_max, out_sum, out_scale, out_data} = head;
endmodule
