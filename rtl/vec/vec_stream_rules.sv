// Assertions for a valid/ready stream: offered data stay unchanged until they are accepted.
module vec_stream_rules #(
    parameter WIDTH = 1
) (
    input logic             clk,
    input logic             rst,
    input logic             valid,
    input logic             ready,
    input logic [WIDTH-1:0] data
);
`ifdef VERILATOR
  stays_valid :
  assert property (@(posedge clk) disable iff (rst) valid && !ready |=> valid)
  else $error("an offer was withdrawn");
  stays_same :
  assert property (@(posedge clk) disable iff (rst) valid && !ready |=> $stable(data))
  else $error("an offer was changed");
`else
  logic unused_rules;
  assign unused_rules = ^{clk, rst, valid, ready, data};
`endif
endmodule
