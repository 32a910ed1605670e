// Technology scaling by the equations of A. Stillmaker and B. Baas, "Scaling equations for the accurate prediction of
// CMOS device performance from 180 nm to 7 nm", Integration 58 (2017), high-performance devices. Values between the
// published nodes are interpolated linearly in logarithms. Below 7 nm the line from 10 nm to 7 nm continues: 30% less
// energy at 5 nm than at 7 nm, as TSMC announced (N5 and N7, at equal speed).

#pragma once

namespace attnvp::energy {

constexpr double kLargestNode = 65, kSmallestNode = 4;  // nm

double nominal_volts(double node_nm);
// Ratio of an operation's energy at the target node and voltage to that at the source.
double energy_scale(double from_nm, double from_volts, double to_nm, double to_volts);
double energy_scale(double from_nm, double to_nm);  // both at nominal voltage
double area_scale(double from_nm, double to_nm);

}  // namespace attnvp::energy
