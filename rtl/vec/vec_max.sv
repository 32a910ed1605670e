// First pass: accepts rows of FP16 words at the rate of their loading, forwards them to the row buffer and finds their
// maximum. A row is passed on in `row_*` when its maximum is known.
//
// A row longer than the buffers is fed for the maximum (kept here), for the sum (kept after the reciprocal) and for the
// output. The row is then passed on with its first word.
module vec_max #(
    parameter WORD = 32,  // elements per input word
    parameter LENGTH_BITS = 24,
    parameter LOG_ROWS = 4  // rows in flight to the next pass
) (
    input logic clk,
    input logic rst,

    // One command per row, accepted with its last word.
    input  logic                   cmd_valid,
    output logic                   cmd_ready,
    input  logic [            5:0] cmd_flags,   // {given, scalar, first, online, feed[1:0]}
    input  logic [LENGTH_BITS-1:0] cmd_length,
    input  logic [           15:0] cmd_max,     // online: the running maximum so far

    input  logic               in_valid,
    output logic               in_ready,
    input  logic [WORD*16-1:0] in_data,

    output logic               word_push,
    output logic [WORD*16-1:0] word,
    input  logic               word_full,

    output logic                    row_valid,
    output logic [LENGTH_BITS+37:0] row,  // {nan, old 16, top 16, flags 5, length}
    input  logic                    row_pop
);
  localparam FEED_WHOLE = 2'd0;
  localparam FEED_MAX = 2'd1;

  localparam logic [15:0] NAN = 16'h7E00;

  // Maps halves to integers of the same order, -0 just below +0.
  function automatic logic [15:0] key_of(input logic [15:0] half);
    key_of = half ^ {1'b0, {15{half[15]}}};
  endfunction
  function automatic logic less(input logic [15:0] a, input logic [15:0] b);
    less = $signed(a) < $signed(b);
  endfunction
  function automatic logic is_nan(input logic [14:0] magnitude);
    is_nan = magnitude > 15'h7C00;
  endfunction

  // Word at the input.
  logic [LENGTH_BITS-1:0] done, left;
  logic take, first, last, room;
  logic [LOG_ROWS:0] rows_left;
  assign left = cmd_length - done;
  assign first = done == 0;
  assign last = left <= LENGTH_BITS'(WORD);
  assign room = cmd_flags[1:0] == FEED_MAX || (!word_full && (!first || rows_left != 0));
  assign in_ready = cmd_valid && room;
  assign take = in_valid && in_ready;
  assign cmd_ready = take && last;
  assign word_push = take && cmd_flags[1:0] != FEED_MAX;
  assign word = in_data;

  logic [15:0] word_key;
  logic word_nan;
  always_comb begin
    word_key = 16'h8000;
    word_nan = 0;
    for (int i = 0; i < WORD; i++) begin
      if (LENGTH_BITS'(i) < left) begin
        if (less(word_key, key_of(in_data[i*16+:16]))) word_key = key_of(in_data[i*16+:16]);
        if (is_nan(in_data[i*16+:15])) word_nan = 1;
      end
    end
  end

  // Stage 2: the row so far.
  logic a_valid, a_first, a_last, a_nan;
  logic [5:0] a_flags;
  logic [LENGTH_BITS-1:0] a_length;
  logic [15:0] a_old, a_key;
  logic [15:0] row_key, key;
  logic row_nan, nan;
  logic keep;  // the maximum comes from an earlier feed
  assign keep = a_flags[1] == 1;
  assign key = keep || (!a_first && !less(row_key, a_key)) ? row_key : a_key;
  assign nan = keep ? row_nan : a_first ? a_nan : row_nan || a_nan;

  logic [15:0] greatest, top;
  logic unusable, told;
  always_comb begin
    greatest = nan ? NAN : key_of(key);
    top = greatest;
    if (a_flags[2] && !a_flags[3]) begin
      if (is_nan(a_old[14:0]) || is_nan(greatest[14:0])) top = NAN;
      else if (!less(key_of(a_old), key_of(greatest))) top = a_old;
    end
    if (a_flags[5]) top = a_old;
    // NaN or infinity, as in an IEEE softmax; online, a row of only -inf is valid so far.
    unusable = top[14:10] == 31 && !(a_flags[2] && top == 16'hFC00);
    told = a_valid && a_flags[1:0] != FEED_MAX && (a_flags[1:0] == FEED_WHOLE ? a_last : a_first);
  end

  logic begins;
  assign begins = word_push && first;

  always_ff @(posedge clk) begin
    a_valid <= take && !rst;
    if (take) begin
      a_first <= first;
      a_last <= last;
      a_flags <= cmd_flags;
      a_length <= cmd_length;
      a_old <= cmd_max;
      a_key <= word_key;
      a_nan <= word_nan;
    end
    if (a_valid) begin
      row_key <= key;
      row_nan <= nan;
    end
    if (rst) begin
      done <= 0;
      rows_left <= 1 << LOG_ROWS;
    end else begin
      if (take) done <= last ? 0 : done + LENGTH_BITS'(WORD);
      rows_left <= rows_left - {{LOG_ROWS{1'b0}}, begins} + {{LOG_ROWS{1'b0}}, row_pop};
    end
  end

  logic unused_rows_full;
  vec_fifo #(
      .WIDTH(LENGTH_BITS + 38),
      .LOG_DEPTH(LOG_ROWS)
  ) rows (
      .clk(clk),
      .rst(rst),
      .push(told),
      .push_data({unusable, a_old, top, a_flags[4:0], a_length}),
      .pop(row_pop),
      .valid(row_valid),
      .full(unused_rows_full),
      .data(row)
  );
endmodule
