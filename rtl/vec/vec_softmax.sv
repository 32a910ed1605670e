// Row softmax and its online form: three passes that work on three rows at a time.
//
//   vec_max  ->  row buffer (words as loaded)  ->  vec_sum  ->  term buffer  ->  vec_output
//
// Equals models/arith/softmax.h and online.h bit for bit. Control depends on commands and handshakes only, never on
// data.
module vec_softmax #(
    parameter LANES = 8,
    parameter WORD = 32,
    parameter LENGTH_BITS = 24,
    parameter LOG_WORDS = 7  // capacity of the row buffer; the term buffer holds as many elements
) (
    input logic clk,
    input logic rst,

    input  logic                   cmd_valid,
    output logic                   cmd_ready,
    input  logic [            5:0] cmd_flags,
    input  logic [LENGTH_BITS-1:0] cmd_length,
    input  logic [           15:0] cmd_max,

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

    output logic row_taken  // the second pass has read a row's last element
);
  localparam LOG_ROWS = 5;
  localparam LOG_BEATS = LOG_WORDS + $clog2(WORD / LANES);

  logic word_push, word_valid, word_full, word_pop;
  logic [WORD*16-1:0] word_in, word;
  logic row_valid;
  logic [LENGTH_BITS+37:0] row;
  vec_max #(
      .WORD(WORD),
      .LENGTH_BITS(LENGTH_BITS)
  ) max_pass (
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
      .word_push(word_push),
      .word(word_in),
      .word_full(word_full),
      .row_valid(row_valid),
      .row(row),
      .row_pop(row_taken)
  );
  vec_fifo #(
      .WIDTH(WORD * 16),
      .LOG_DEPTH(LOG_WORDS)
  ) row_buffer (
      .clk(clk),
      .rst(rst),
      .push(word_push),
      .push_data(word_in),
      .pop(word_pop),
      .valid(word_valid),
      .full(word_full),
      .data(word)
  );

  // Entries of the term buffer are counted from issue to use.
  logic term_issue, term_push, term_valid, term_pop, unused_term_full;
  logic [LANES*22-1:0] terms_in, terms;
  logic [LOG_BEATS:0] term_room;
  always_ff @(posedge clk) begin
    if (rst) term_room <= 1 << LOG_BEATS;
    else term_room <= term_room - {{LOG_BEATS{1'b0}}, term_issue} + {{LOG_BEATS{1'b0}}, term_pop};
  end
  logic meta_push, meta_valid, unused_meta_full;
  logic [LENGTH_BITS+21:0] meta_in, meta;
  logic side_push, side_valid, unused_side_full;
  logic [63:0] side_in, side;
  logic reciprocal_push, reciprocal_valid, reciprocal_pop, unused_reciprocal_full;
  logic [21:0] reciprocal_in, reciprocal;
  logic row_done;
  vec_sum #(
      .LANES(LANES),
      .WORD(WORD),
      .LENGTH_BITS(LENGTH_BITS),
      .LOG_ROWS(LOG_ROWS)
  ) sum_pass (
      .clk(clk),
      .rst(rst),
      .row_valid(row_valid),
      .row(row),
      .row_pop(row_taken),
      .word_valid(word_valid),
      .word(word),
      .word_pop(word_pop),
      .term_room(term_room != 0),
      .term_issue(term_issue),
      .term_push(term_push),
      .terms(terms_in),
      .meta_push(meta_push),
      .meta(meta_in),
      .side_push(side_push),
      .side(side_in),
      .reciprocal_push(reciprocal_push),
      .reciprocal(reciprocal_in),
      .row_done(row_done)
  );
  vec_fifo #(
      .WIDTH(LANES * 22),
      .LOG_DEPTH(LOG_BEATS)
  ) term_buffer (
      .clk(clk),
      .rst(rst),
      .push(term_push),
      .push_data(terms_in),
      .pop(term_pop),
      .valid(term_valid),
      .full(unused_term_full),
      .data(terms)
  );
  vec_fifo #(
      .WIDTH(LENGTH_BITS + 22),
      .LOG_DEPTH(LOG_ROWS)
  ) metas (
      .clk(clk),
      .rst(rst),
      .push(meta_push),
      .push_data(meta_in),
      .pop(row_done),
      .valid(meta_valid),
      .full(unused_meta_full),
      .data(meta)
  );
  vec_fifo #(
      .WIDTH(64),
      .LOG_DEPTH(LOG_ROWS)
  ) sides (
      .clk(clk),
      .rst(rst),
      .push(side_push),
      .push_data(side_in),
      .pop(row_done),
      .valid(side_valid),
      .full(unused_side_full),
      .data(side)
  );
  vec_fifo #(
      .WIDTH(22),
      .LOG_DEPTH(LOG_ROWS)
  ) reciprocals (
      .clk(clk),
      .rst(rst),
      .push(reciprocal_push),
      .push_data(reciprocal_in),
      .pop(reciprocal_pop),
      .valid(reciprocal_valid),
      .full(unused_reciprocal_full),
      .data(reciprocal)
  );
  vec_output #(
      .LANES(LANES),
      .LENGTH_BITS(LENGTH_BITS)
  ) output_pass (
      .clk(clk),
      .rst(rst),
      .meta_valid(meta_valid),
      .meta(meta),
      .term_valid(term_valid),
      .terms(terms),
      .term_pop(term_pop),
      .reciprocal_valid(reciprocal_valid),
      .reciprocal(reciprocal),
      .reciprocal_pop(reciprocal_pop),
      .side_valid(side_valid),
      .side(side),
      .row_done(row_done),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(out_data),
      .out_last(out_last),
      .out_max(out_max),
      .out_sum(out_sum),
      .out_scale(out_scale)
  );
endmodule
