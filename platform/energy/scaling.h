// From one technology node to another: the published equations of A. Stillmaker and B. Baas, "Scaling equations for the
// accurate prediction of CMOS device performance from 180 nm to 7 nm", Integration 58 (2017), high-performance devices.
// Nodes between the published ones lie on straight lines between logarithms.
#pragma once

namespace attnvp::energy {

constexpr double kLargestNode = 65, kSmallestNode = 7;  // nm

double nominal_volts(double node_nm);
// Energy of an operation at one node and voltage over that at another.
double energy_scale(double from_nm, double from_volts, double to_nm, double to_volts);
double energy_scale(double from_nm, double to_nm);  // both at their nominal voltage
double area_scale(double from_nm, double to_nm);

}  // namespace attnvp::energy
