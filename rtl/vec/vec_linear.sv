// FP32 row operations: x * a + z * b with every operation rounded, and x / a. The quotient is rounded to FP32, then to
// FP16 (low half of each result). LANES elements per cycle. Equals models/arith/online.h bit for bit.
//
// One command per matrix. Elements are packed over the lanes regardless of row length; every lane has the a and b of
// its own row. x * a + z: b = 1. x * a: z = -0. First tile of a row: x = a = 0.
module vec_linear #(
    parameter LANES = 8,
    parameter LENGTH_BITS = 32
) (
    input logic clk,
    input logic rst,

    input  logic                   cmd_valid,
    output logic                   cmd_ready,   // with the last beat
    input  logic                   cmd_divide,
    input  logic [LENGTH_BITS-1:0] cmd_length,  // elements, at least 1

    input  logic                in_valid,
    output logic                in_ready,
    input  logic [LANES*32-1:0] in_x,
    input  logic [LANES*32-1:0] in_z,
    input  logic [LANES*32-1:0] in_a,
    input  logic [LANES*32-1:0] in_b,

    output logic                out_valid,
    input  logic                out_ready,
    output logic [LANES*32-1:0] out_data,
    output logic                out_last
);
  localparam LOG_DEPTH = 6;  // 2^LOG_DEPTH beats exceed the stages of the longest pipeline
  localparam DIVIDE = 17;
  localparam WIDTH = LANES * 32 + 1;

  logic [LENGTH_BITS-1:0] done, left;
  logic [LOG_DEPTH:0] room, under_way;
  logic dividing, last, take, push;
  assign left = cmd_length - done;
  assign last = left <= LENGTH_BITS'(LANES);
  // The two operations have different latencies: one waits until the other has left the pipelines.
  assign in_ready = cmd_valid && room != 0 && (under_way == 0 || cmd_divide == dividing);
  assign take = in_valid && in_ready;
  assign cmd_ready = take && last;
  always_ff @(posedge clk) begin
    if (take) dividing <= cmd_divide;
    if (rst) begin
      done <= 0;
      room <= 1 << LOG_DEPTH;
      under_way <= 0;
    end else begin
      if (take) done <= last ? 0 : done + LENGTH_BITS'(LANES);
      room <= room - {{LOG_DEPTH{1'b0}}, take} + {{LOG_DEPTH{1'b0}}, out_valid && out_ready};
      under_way <= under_way + {{LOG_DEPTH{1'b0}}, take} - {{LOG_DEPTH{1'b0}}, push};
    end
  end

  // add[i], divide[i]: stage i of the pipeline is occupied.
  logic [7:0] add;
  logic [DIVIDE+1:0] divide;
  logic [7:1] add_held;
  logic [DIVIDE+1:1] divide_held;
  logic last_added, last_divided;
  assign add = {add_held, take && !cmd_divide};
  assign divide = {divide_held, take && cmd_divide};
  assign push = add[7] || divide[DIVIDE+1];
  always_ff @(posedge clk) begin
    add_held <= rst ? 0 : add[6:0];
    divide_held <= rst ? 0 : divide[DIVIDE:0];
  end
  vec_delay #(
      .STAGES(7)
  ) beside_add (
      .clk(clk),
      .en (add[6:0]),
      .in (last),
      .out(last_added)
  );
  vec_delay #(
      .STAGES(DIVIDE + 1)
  ) beside_divide (
      .clk(clk),
      .en (divide[DIVIDE:0]),
      .in (last),
      .out(last_divided)
  );

  logic [LANES*32-1:0] results;
  for (genvar i = 0; i < LANES; i++) begin : lane
    logic [31:0] xa, zb, sum, quotient;
    logic [15:0] half;
    logic unused_done;
    fp32_multiply multiply_x (
        .clk(clk),
        .en(add[2:0]),
        .x(in_x[i*32+:32]),
        .y(in_a[i*32+:32]),
        .product(xa)
    );
    fp32_multiply multiply_z (
        .clk(clk),
        .en(add[2:0]),
        .x(in_z[i*32+:32]),
        .y(in_b[i*32+:32]),
        .product(zb)
    );
    fp32_add adder (
        .clk(clk),
        .en(add[6:3]),
        .x(xa),
        .y(zb),
        .sum(sum)
    );
    fp32_divide #(
        .LATENCY(DIVIDE)
    ) divider (
        .clk(clk),
        .rst(rst),
        .start(divide[0]),
        .x(in_x[i*32+:32]),
        .y(in_a[i*32+:32]),
        .done(unused_done),
        .quotient(quotient)
    );
    fp32_to_half narrow (
        .clk(clk),
        .en(divide[DIVIDE]),
        .x(quotient),
        .half(half)
    );
    assign results[i*32+:32] = add[7] ? sum : {16'd0, half};
  end

  logic unused_full;
  logic [WIDTH-1:0] head;
  vec_fifo #(
      .WIDTH(WIDTH),
      .LOG_DEPTH(LOG_DEPTH)
  ) outputs (
      .clk(clk),
      .rst(rst),
      .push(push),
      .push_data({add[7] ? last_added : last_divided, results}),
      .pop(out_valid && out_ready),
      .valid(out_valid),
      .full(unused_full),
      .data(head)
  );
  assign {out_last, out_data} = head;

  vec_stream_rules #(
      .WIDTH(LENGTH_BITS + 1)
  ) cmd_rules (
      .clk(clk),
      .rst(rst),
      .valid(cmd_valid),
      .ready(cmd_ready),
      .data({cmd_divide, cmd_length})
  );
  vec_stream_rules #(
      .WIDTH(LANES * 32)
  ) x_rules (
      .clk(clk),
      .rst(rst),
      .valid(in_valid),
      .ready(in_ready),
      .data(in_x)
  );
  vec_stream_rules #(
      .WIDTH(LANES * 32)
  ) z_rules (
      .clk(clk),
      .rst(rst),
      .valid(in_valid),
      .ready(in_ready),
      .data(in_z)
  );
  vec_stream_rules #(
      .WIDTH(LANES * 32)
  ) a_rules (
      .clk(clk),
      .rst(rst),
      .valid(in_valid),
      .ready(in_ready),
      .data(in_a)
  );
  vec_stream_rules #(
      .WIDTH(LANES * 32)
  ) b_rules (
      .clk(clk),
      .rst(rst),
      .valid(in_valid),
      .ready(in_ready),
      .data(in_b)
  );
  vec_stream_rules #(
      .WIDTH(WIDTH)
  ) out_rules (
      .clk(clk),
      .rst(rst),
      .valid(out_valid),
      .ready(out_ready),
      .data(head)
  );
endmodule
