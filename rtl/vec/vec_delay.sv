// Delay line beside a pipeline: stage i takes the value of stage i - 1 when en[i] is set.
module vec_delay #(
    parameter WIDTH = 1,
    parameter STAGES = 1
) (
    input  logic              clk,
    input  logic [STAGES-1:0] en,
    input  logic [ WIDTH-1:0] in,
    output logic [ WIDTH-1:0] out
);
  for (genvar i = 0; i < STAGES; i++) begin : stage
    logic [WIDTH-1:0] held;
    if (i == 0) begin : first
      always_ff @(posedge clk) if (en[0]) held <= in;
    end else begin : later
      always_ff @(posedge clk) if (en[i]) held <= stage[i-1].held;
    end
  end
  assign out = stage[STAGES-1].held;
endmodule
