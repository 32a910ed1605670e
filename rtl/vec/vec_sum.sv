// Second pass: exponentials of all elements and their sum. It reads rows from the row buffer, LANES elements per cycle,
// and writes terms for the third pass. After a row's last element the sum becomes a reciprocal (plain softmax) or an
// FP32 number (online). A beat is issued only when there is room for all of its results.
module vec_sum #(
    parameter LANES = 8,
    parameter WORD = 32,
    parameter LENGTH_BITS = 24,
    parameter LOG_ROWS = 5
) (
    input logic clk,
    input logic rst,

    input  logic                    row_valid,
    input  logic [LENGTH_BITS+37:0] row,        // {nan, old 16, top 16, flags 5, length}
    output logic                    row_pop,
    input  logic                    word_valid,
    input  logic [     WORD*16-1:0] word,
    output logic                    word_pop,

    input  logic                term_room,   // for one more beat
    output logic                term_issue,  // a beat that will be pushed was issued
    output logic                term_push,
    output logic [LANES*22-1:0] terms,       // {shift 6, mantissa 16} each

    output logic                    meta_push,  // at the start of a row: its data for the third pass
    output logic [LENGTH_BITS+21:0] meta,       // {nan, top 16, flags 5, length}
    output logic                    side_push,  // after its end: {sum, scale}, FP32 each
    output logic [            63:0] side,
    output logic                    reciprocal_push,
    output logic [            21:0] reciprocal,  // {L 5, R 17}
    input  logic                    row_done     // the third pass has completed a row
);
  localparam FEED_SUM = 2'd2;
  localparam FEED_OUT = 2'd3;
  localparam logic [31:0] NAN = 32'h7FC0_0000;
  localparam PARTS = WORD / LANES;
  localparam LOG_PARTS = PARTS > 1 ? $clog2(PARTS) : 1;

  // Row at the head.
  logic [LENGTH_BITS-1:0] length;
  logic [4:0] flags;
  logic [15:0] top, old;
  logic nan;
  assign {nan, old, top, flags, length} = row;

  logic [LENGTH_BITS-1:0] done, left;
  logic issue, first, last, outputs;
  logic [LOG_PARTS-1:0] part;
  logic [LANES*16-1:0] beat;
  logic [LANES-1:0] present;
  logic [LOG_ROWS:0] rows_left;  // free entries of the FIFOs to the third pass
  assign left = length - done;
  assign first = done == 0;
  assign last = left <= LENGTH_BITS'(LANES);
  assign outputs = flags[1:0] != FEED_SUM;
  assign issue = row_valid && word_valid && term_room && (!first || rows_left > 1);
  assign row_pop = issue && last;
  assign word_pop = issue && (last || part == LOG_PARTS'(PARTS - 1));
  assign beat = word[part*LANES*16+:LANES*16];
  assign term_issue = issue && outputs;
  assign meta_push = issue && first && outputs;
  assign meta = {nan, top, flags, length};
  for (genvar i = 0; i < LANES; i++) begin : mask
    assign present[i] = LENGTH_BITS'(i) < left;
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      done <= 0;
      part <= 0;
      rows_left <= 1 << LOG_ROWS;
    end else begin
      if (issue) begin
        done <= last ? 0 : done + LENGTH_BITS'(LANES);
        part <= word_pop ? 0 : part + 1'b1;
      end
      rows_left <= rows_left - {{LOG_ROWS{1'b0}}, meta_push} + {{LOG_ROWS{1'b0}}, row_done};
    end
  end

  // v[i]: stage i is occupied: 1 difference, 2 product, 3 term, 4 tree, 5 sum. Signals of a stage have its number as
  // suffix.
  logic [5:1] held;
  logic [5:0] v;
  logic first3, last3, nan3, last4, first4, nan4, last5, nan5;
  logic [4:0] flags3, flags4, flags5;
  logic [LANES-1:0] present3;
  assign v = {held, issue};
  always_ff @(posedge clk) held <= rst ? 0 : v[4:0];
  vec_delay #(
      .WIDTH (8 + LANES),
      .STAGES(3)
  ) to_terms (
      .clk(clk),
      .en (v[2:0]),
      .in ({present, first, last, nan, flags}),
      .out({present3, first3, last3, nan3, flags3})
  );
  vec_delay #(
      .WIDTH(8)
  ) to_tree (
      .clk(clk),
      .en (v[3]),
      .in ({first3, last3, nan3, flags3}),
      .out({first4, last4, nan4, flags4})
  );
  vec_delay #(
      .WIDTH(7)
  ) to_sum (
      .clk(clk),
      .en (v[4]),
      .in ({last4, nan4, flags4}),
      .out({last5, nan5, flags5})
  );

  // Online, a row of only -inf so far has the sum zero.
  logic none;
  assign none = flags[2] && top == 16'hFC00;
  logic signed [31:0] top_fixed;
  vec_fixed fixed_top (
      .x(top),
      .fixed(top_fixed)
  );
  for (genvar i = 0; i < LANES; i++) begin : lane
    logic [15:0] mantissa;
    logic [5:0] shift;
    logic [40:0] term;
    vec_exp exponential (
        .clk(clk),
        .en(v[2:0]),
        .x(beat[i*16+:16]),
        .top(top_fixed),
        .none(none),
        .mantissa(mantissa),
        .shift(shift)
    );
    assign terms[i*22+:22] = {shift, mantissa};
    assign term = present3[i] ? {mantissa, 25'd0} >> shift : 0;
  end
  assign term_push = v[3] && flags3[1:0] != FEED_SUM;

  // Scale for a change of the maximum: an additional lane for the previous maximum.
  logic [15:0] scale_mantissa;
  logic [5:0] scale_shift;
  vec_exp scale_lane (
      .clk(clk),
      .en(v[2:0]),
      .x(old),
      .top(top_fixed),
      .none(none),
      .mantissa(scale_mantissa),
      .shift(scale_shift)
  );

  // Exponential as FP32: exact; zero from a shift of 41 on.
  function automatic logic [31:0] to_float(input logic [5:0] shift, input logic [14:0] fraction);
    to_float = shift >= 41 ? 32'd0 : {1'b0, 8'd127 - {2'd0, shift}, fraction, 8'd0};
  endfunction

  logic [LANES*41-1:0] all_terms;
  logic [43:0] tree, tree_next;
  logic [63:0] sum;
  for (genvar i = 0; i < LANES; i++) begin : gather
    assign all_terms[i*41+:41] = lane[i].term;
  end
  always_comb begin
    tree_next = 0;
    for (int i = 0; i < LANES; i++) tree_next = tree_next + {3'd0, all_terms[i*41+:41]};
  end
  always_ff @(posedge clk) begin
    if (v[3]) tree <= tree_next;
    if (v[4]) sum <= first4 ? {20'd0, tree} : sum + {20'd0, tree};
  end

  // After the end of a row with output: its sum as FP32, and its scale.
  logic [2:0] ended;
  logic [1:0] ended_held;
  logic [31:0] scale3, scale7, element7, sum7;
  logic nan7, scalar7;
  assign ended = {ended_held, v[5] && last5 && flags5[1:0] != FEED_SUM};
  always_ff @(posedge clk) ended_held <= rst ? 0 : ended[1:0];
  logic unused_bits;
  assign unused_bits = ^{scale_mantissa[15], flags5[3]};
  assign scale3 = flags3[3] ? 0 : nan3 ? NAN : to_float(scale_shift, scale_mantissa[14:0]);
  vec_delay #(
      .WIDTH (64),
      .STAGES(4)
  ) scales (
      .clk(clk),
      .en ({ended[1:0], v[4:3]}),
      .in ({to_float(terms[21:16], terms[14:0]), scale3}),
      .out({element7, scale7})
  );
  vec_delay #(
      .WIDTH (2),
      .STAGES(2)
  ) to_end (
      .clk(clk),
      .en (ended[1:0]),
      .in ({nan5, flags5[4]}),
      .out({nan7, scalar7})
  );
  vec_to_float to_fp32 (
      .clk(clk),
      .en(ended[1:0]),
      .sum(sum),
      .value(sum7)
  );
  assign side_push = ended[2];
  assign side = {nan7 ? NAN : scalar7 ? element7 : sum7, scale7};

  vec_reciprocal reciprocal_of_sum (
      .clk(clk),
      .rst(rst),
      .start(v[5] && last5 && !flags5[2] && flags5[1:0] != FEED_OUT),
      .sum(sum),
      .done(reciprocal_push),
      .value(reciprocal[16:0]),
      .exponent(reciprocal[21:17])
  );
endmodule
