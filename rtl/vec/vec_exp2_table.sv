// kExp2Table of models/arith/softmax.cpp: segment i of 2^g is {base, slope}, 20 and 12 bits.
module vec_exp2_table (
    input  logic [ 5:0] index,
    output logic [31:0] segment
);
  always_comb begin
    case (index)
      6'd0: segment = 32'h80004593;
      6'd1: segment = 32'h816515A3;
      6'd2: segment = 32'h82CDC5B3;
      6'd3: segment = 32'h843A75C2;
      6'd4: segment = 32'h85AB05D2;
      6'd5: segment = 32'h871FA5E3;
      6'd6: segment = 32'h889855F3;
      6'd7: segment = 32'h8A151604;
      6'd8: segment = 32'h8B960614;
      6'd9: segment = 32'h8D1B2625;
      6'd10: segment = 32'h8EA47637;
      6'd11: segment = 32'h90321648;
      6'd12: segment = 32'h91C41659;
      6'd13: segment = 32'h935A666B;
      6'd14: segment = 32'h94F5367D;
      6'd15: segment = 32'h9694668F;
      6'd16: segment = 32'h983826A1;
      6'd17: segment = 32'h99E086B4;
      6'd18: segment = 32'h9B8D76C6;
      6'd19: segment = 32'h9D3F16D9;
      6'd20: segment = 32'h9EF566EC;
      6'd21: segment = 32'hA0B08700;
      6'd22: segment = 32'hA2707713;
      6'd23: segment = 32'hA4354727;
      6'd24: segment = 32'hA5FF073B;
      6'd25: segment = 32'hA7CDC74F;
      6'd26: segment = 32'hA9A19763;
      6'd27: segment = 32'hAB7A6778;
      6'd28: segment = 32'hAD58778D;
      6'd29: segment = 32'hAF3BA7A2;
      6'd30: segment = 32'hB12427B7;
      6'd31: segment = 32'hB311F7CD;
      6'd32: segment = 32'hB50527E2;
      6'd33: segment = 32'hB6FDC7F8;
      6'd34: segment = 32'hB8FBD80F;
      6'd35: segment = 32'hBAFF8825;
      6'd36: segment = 32'hBD08D83C;
      6'd37: segment = 32'hBF17C853;
      6'd38: segment = 32'hC12C786A;
      6'd39: segment = 32'hC346F881;
      6'd40: segment = 32'hC5675899;
      6'd41: segment = 32'hC78D98B1;
      6'd42: segment = 32'hC9B9E8C9;
      6'd43: segment = 32'hCBEC38E2;
      6'd44: segment = 32'hCE24B8FB;
      6'd45: segment = 32'hD0635914;
      6'd46: segment = 32'hD2A8492D;
      6'd47: segment = 32'hD4F37947;
      6'd48: segment = 32'hD7451960;
      6'd49: segment = 32'hD99D397B;
      6'd50: segment = 32'hDBFBD995;
      6'd51: segment = 32'hDE6119B0;
      6'd52: segment = 32'hE0CCF9CB;
      6'd53: segment = 32'hE33FA9E6;
      6'd54: segment = 32'hE5B92A02;
      6'd55: segment = 32'hE8398A1D;
      6'd56: segment = 32'hEAC0DA3A;
      6'd57: segment = 32'hED4F4A56;
      6'd58: segment = 32'hEFE4CA73;
      6'd59: segment = 32'hF2818A90;
      6'd60: segment = 32'hF5258AAE;
      6'd61: segment = 32'hF7D0FACB;
      6'd62: segment = 32'hFA83CAE9;
      default: segment = 32'hFD3E1B08;
    endcase
  end
endmodule
