#include "platform/machine/energy/scaling.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace attnvp::energy {

namespace {

struct ProcessNode {
  double nm;
  double volts;          // nominal, of the predictive models of the equations
  double v2, v1, v0;     // energy = v2 V^2 + v1 V + v0
  double relative_area;  // relative to 65 nm
};

// Largest first.
constexpr ProcessNode kNodes[] = {
    {65, 1.1, 3.755, -4.398, 1.975, 1},           {45, 1.0, 1.018, -0.3107, 0.1539, 0.66},
    {32, 0.9, 0.8367, -0.4341, 0.1701, 0.31},     {20, 0.9, 0.373, -0.1582, 0.04104, 0.14},
    {16, 0.85, 0.2958, -0.1241, 0.03024, 0.13},   {14, 0.8, 0.2363, -0.09675, 0.02239, 0.12},
    {10, 0.75, 0.2068, -0.09311, 0.02375, 0.068}, {7, 0.7, 0.1776, -0.09097, 0.02447, 0.039}};

// Interpolates a positive value of the nodes in logarithms.
template <class Figure>
double between(double nm, const Figure& figure) {
  const ProcessNode* below =
      std::find_if(std::begin(kNodes), std::end(kNodes), [nm](const ProcessNode& n) { return n.nm <= nm; });
  below = std::clamp(below, std::begin(kNodes) + 1, std::end(kNodes) - 1);
  const ProcessNode& above = *(below - 1);
  const double share = std::log(above.nm / nm) / std::log(above.nm / below->nm);
  return figure(above) * std::pow(figure(*below) / figure(above), share);
}

double energy(double nm, double volts) {
  return between(nm, [volts](const ProcessNode& n) { return (n.v2 * volts + n.v1) * volts + n.v0; });
}

}  // namespace

double nominal_volts(double nm) {
  return between(nm, [](const ProcessNode& n) { return n.volts; });
}

double energy_scale(double from_nm, double from_volts, double to_nm, double to_volts) {
  return energy(to_nm, to_volts) / energy(from_nm, from_volts);
}

double energy_scale(double from_nm, double to_nm) {
  return energy_scale(from_nm, nominal_volts(from_nm), to_nm, nominal_volts(to_nm));
}

double area_scale(double from_nm, double to_nm) {
  const auto area = [](double nm) { return between(nm, [](const ProcessNode& n) { return n.relative_area; }); };
  return area(to_nm) / area(from_nm);
}

}  // namespace attnvp::energy
