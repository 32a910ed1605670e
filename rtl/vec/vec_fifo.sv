// FIFO whose head is visible before it is popped. Pushing a full FIFO or popping an empty one is an error of the user.
// Most users count entries in flight instead of using `full`.
module vec_fifo #(
    parameter WIDTH = 8,
    parameter LOG_DEPTH = 4
) (
    input  logic             clk,
    input  logic             rst,
    input  logic             push,
    input  logic [WIDTH-1:0] push_data,
    input  logic             pop,
    output logic             valid,
    output logic             full,
    output logic [WIDTH-1:0] data
);
  logic [WIDTH-1:0] memory[0:(1<<LOG_DEPTH)-1]  /*verilator tracing_off*/;
  logic [LOG_DEPTH:0] head, tail;

  assign valid = head != tail;
  assign full  = head[LOG_DEPTH-1:0] == tail[LOG_DEPTH-1:0] && head[LOG_DEPTH] != tail[LOG_DEPTH];
  assign data  = memory[head[LOG_DEPTH-1:0]];

  always_ff @(posedge clk) begin
    if (push) memory[tail[LOG_DEPTH-1:0]] <= push_data;
    if (rst) begin
      head <= 0;
      tail <= 0;
    end else begin
      if (push) tail <= tail + 1'b1;
      if (pop) head <= head + 1'b1;
    end
  end

`ifdef VERILATOR
  no_overflow :
  assert property (@(posedge clk) disable iff (rst) push |-> !full || pop)
  else $error("a full buffer is pushed");
  no_underflow :
  assert property (@(posedge clk) disable iff (rst) pop |-> valid)
  else $error("an empty buffer is popped");
`endif
endmodule
