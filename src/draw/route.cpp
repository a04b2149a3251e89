// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "draw/route.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace leapp::draw {
namespace {

constexpr double kLane = 8;          // between lanes
constexpr double kFromBox = 12;      // between a box's right side and the first lane
constexpr double kToBox = 20;        // between the first lane and a box's left side: the arrow is in there
constexpr double kBandGap = 30;      // between rows without lanes
constexpr double kChannelEdge = 16;  // between a row and the first lane
constexpr double kRadius = 5;
constexpr double kArrow = 7;

using Place = std::pair<std::size_t, std::size_t>;  // band and gap

bool goes_up(const Route& route) { return route.to.band < route.from.band; }
bool comes_from_above(const Route& route) { return route.to.band > route.from.band; }

Place source_gap(const Route& route) { return {route.from.band, route.from.column + 1}; }
Place target_gap(const Route& route) { return {route.to.band, route.to.column}; }
std::size_t first_channel(const Route& route) { return route.from.band + (goes_up(route) ? 0 : 1); }
std::size_t last_channel(const Route& route) { return route.to.band + (comes_from_above(route) ? 0 : 1); }

/// The lanes on one side of a gap; lane 0 is next to the box. Of ports whose edges turn down the lowest takes the first
/// lane, of those that turn up the highest: then none crosses its neighbours.
class GapSide {
 public:
  void add(std::size_t key, double y, bool up) { wishes_.emplace(key, std::tuple(up, up ? y : -y, key)); }
  void assign() {
    std::vector<std::tuple<bool, double, std::size_t>> sorted;
    for (const auto& [key, wish] : wishes_) sorted.push_back(wish);
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < sorted.size(); ++i) lanes_[std::get<2>(sorted[i])] = static_cast<double>(i);
  }
  [[nodiscard]] double lane(std::size_t key) const { return lanes_.at(key); }
  [[nodiscard]] std::size_t size() const { return wishes_.size(); }

 private:
  std::map<std::size_t, std::tuple<bool, double, std::size_t>> wishes_;
  std::map<std::size_t, double> lanes_;
};

/// Stretches along one direction, packed into as few lanes as their lengths allow. The shortest are innermost.
class Channel {
 public:
  void add(std::size_t key, double a, double b) {
    const auto [entry, fresh] = stretches_.emplace(key, Extent{std::min(a, b), std::max(a, b)});
    if (fresh) return;
    entry->second.left = std::min({entry->second.left, a, b});
    entry->second.right = std::max({entry->second.right, a, b});
  }
  void assign() {
    std::vector<std::pair<double, std::size_t>> sorted;
    for (const auto& [key, stretch] : stretches_) sorted.emplace_back(stretch.right - stretch.left, key);
    std::sort(sorted.begin(), sorted.end());
    for (const auto& [length, key] : sorted) lanes_[key] = static_cast<double>(pack(stretches_.at(key)));
  }
  [[nodiscard]] double lane(std::size_t key) const { return lanes_.at(key); }
  [[nodiscard]] std::size_t size() const { return taken_.size(); }

 private:
  std::size_t pack(const Extent& stretch) {
    const auto fits = [&](const std::vector<Extent>& lane) {
      return std::none_of(lane.begin(), lane.end(), [&](const Extent& other) {
        return stretch.left < other.right + kLane && other.left < stretch.right + kLane;
      });
    };
    const auto lane = std::find_if(taken_.begin(), taken_.end(), fits);
    const auto index = static_cast<std::size_t>(lane - taken_.begin());
    if (lane == taken_.end()) taken_.emplace_back();
    taken_[index].push_back(stretch);
    return index;
  }

  std::map<std::size_t, Extent> stretches_;
  std::map<std::size_t, double> lanes_;
  std::vector<std::vector<Extent>> taken_;
};

void add_straight(Polyline& path, const Point& to) {
  const Point from = path.points.back();
  path.points.push_back({from.x + (to.x - from.x) / 3, from.y + (to.y - from.y) / 3});
  path.points.push_back({from.x + (to.x - from.x) * 2 / 3, from.y + (to.y - from.y) * 2 / 3});
  path.points.push_back(to);
}

/// From `corner` at most `radius` towards `to`, both on a horizontal or vertical line.
Point towards(const Point& corner, const Point& to, double radius) {
  const double dx = std::clamp((to.x - corner.x) / 2, -radius, radius);
  const double dy = std::clamp((to.y - corner.y) / 2, -radius, radius);
  return {corner.x + dx, corner.y + dy};
}

/// The line through `corners`, which turns at right angles, with the corners rounded and room for the arrow.
Polyline rounded(const std::vector<Point>& corners) {
  Polyline path{.points = {corners.front()}, .tip = corners.back()};
  for (std::size_t i = 1; i + 1 < corners.size(); ++i) {
    add_straight(path, towards(corners[i], corners[i - 1], kRadius));
    const Point leave = towards(corners[i], corners[i + 1], kRadius);
    path.points.push_back(corners[i]);
    path.points.push_back(corners[i]);
    path.points.push_back(leave);
  }
  add_straight(path, {path.tip.x - kArrow, path.tip.y});
  return path;
}

class Router {
 public:
  Router(const std::vector<Band>& bands, const std::vector<Route>& routes) : bands_(bands), routes_(routes) {
    for (std::size_t i = 0; i < routes.size(); ++i) {
      sources_[source_gap(routes[i])].add(source_key(i), routes[i].from.at.y, goes_up(routes[i]));
      targets_[target_gap(routes[i])].add(i, routes[i].to.at.y, comes_from_above(routes[i]));
    }
    for (auto& [place, side] : sources_) side.assign();
    for (auto& [place, side] : targets_) side.assign();
  }

  [[nodiscard]] double needed_gap() const {
    double most = 0;
    for (std::size_t band = 0; band < bands_.size(); ++band) {
      for (std::size_t gap = 1; gap < bands_[band].columns.size(); ++gap) {
        const auto lanes = count(sources_, {band, gap}) + count(targets_, {band, gap});
        most = std::max(most, kFromBox + kToBox + kLane * static_cast<double>(lanes));
      }
    }
    return most;
  }

  Routed run(double top) {
    channels_.resize(bands_.size() + 1);
    for (std::size_t i = 0; i < routes_.size(); ++i) add_margin(i);
    margin_.assign();
    place_left();
    for (std::size_t i = 0; i < routes_.size(); ++i) add_to_channels(i);
    for (Channel& channel : channels_) channel.assign();
    place_bands(top);
    for (std::size_t i = 0; i < routes_.size(); ++i) routed_.paths.push_back(path(i));
    return std::move(routed_);
  }

 private:
  using Sides = std::map<Place, GapSide>;

  /// Routes of one port share a lane while they go the same way.
  [[nodiscard]] std::size_t source_key(std::size_t i) const {
    return routes_[i].source * 2 + (goes_up(routes_[i]) ? 1 : 0);
  }

  static std::size_t count(const Sides& sides, const Place& place) {
    const auto found = sides.find(place);
    return found == sides.end() ? 0 : found->second.size();
  }

  [[nodiscard]] bool uses_margin(std::size_t i) const { return first_channel(routes_[i]) != last_channel(routes_[i]); }

  void add_margin(std::size_t i) {
    if (!uses_margin(i)) return;
    margin_.add(source_key(i), static_cast<double>(first_channel(routes_[i])) * 1e3,
                static_cast<double>(last_channel(routes_[i])) * 1e3);
  }

  /// The margin holds the lanes between rows, then those that lead to the first columns.
  void place_left() {
    std::size_t first_gap = 0;
    for (std::size_t band = 0; band < bands_.size(); ++band)
      first_gap = std::max(first_gap, count(targets_, {band, 0}));
    margin_left_ = kLane * static_cast<double>(margin_.size());
    routed_.left = margin_left_ + (first_gap == 0 ? 0 : kToBox + kLane * static_cast<double>(first_gap));
    if (margin_.size() != 0) routed_.left += kFromBox;
  }

  [[nodiscard]] double source_x(std::size_t i) const {
    const RouteEnd& from = routes_[i].from;
    const double lane = sources_.at(source_gap(routes_[i])).lane(source_key(i));
    return routed_.left + bands_[from.band].columns[from.column].right + kFromBox + kLane * lane;
  }
  [[nodiscard]] double target_x(std::size_t i) const {
    const RouteEnd& to = routes_[i].to;
    const double lane = targets_.at(target_gap(routes_[i])).lane(i);
    return routed_.left + bands_[to.band].columns[to.column].left - kToBox - kLane * lane;
  }
  [[nodiscard]] double margin_x(std::size_t i) const { return margin_left_ - kLane * margin_.lane(source_key(i)); }

  void add_to_channels(std::size_t i) {
    const double begin = source_x(i);
    const double end = target_x(i);
    if (!uses_margin(i)) {
      channels_[first_channel(routes_[i])].add(source_key(i), begin, end);
    } else {
      channels_[first_channel(routes_[i])].add(source_key(i), begin, margin_x(i));
      channels_[last_channel(routes_[i])].add(source_key(i), margin_x(i), end);
    }
    routed_.right = std::max({routed_.right, begin, end});
  }

  void place_bands(double y) {
    for (std::size_t i = 0; i <= bands_.size(); ++i) {
      channel_tops_.push_back(y + kChannelEdge);
      const bool inner = i > 0 && i < bands_.size();
      const auto lanes = static_cast<double>(channels_[i].size());
      if (lanes > 0) y += 2 * kChannelEdge + kLane * (lanes - 1);
      if (lanes == 0 && inner) y += kBandGap;
      if (i == bands_.size()) break;
      routed_.band_tops.push_back(y);
      y += bands_[i].height;
      if (!bands_[i].columns.empty()) {
        routed_.right = std::max(routed_.right, routed_.left + bands_[i].columns.back().right);
      }
    }
    routed_.bottom = y;
  }

  [[nodiscard]] double channel_y(std::size_t channel, std::size_t i) const {
    return channel_tops_[channel] + kLane * channels_[channel].lane(source_key(i));
  }

  [[nodiscard]] Polyline path(std::size_t i) const {
    const Route& route = routes_[i];
    const Point begin{routed_.left + route.from.at.x, routed_.band_tops[route.from.band] + route.from.at.y};
    const Point end{routed_.left + route.to.at.x, routed_.band_tops[route.to.band] + route.to.at.y};
    const double leave = channel_y(first_channel(route), i);
    const double arrive = channel_y(last_channel(route), i);
    std::vector<Point> corners = {begin, {source_x(i), begin.y}, {source_x(i), leave}};
    if (uses_margin(i)) {
      corners.push_back({margin_x(i), leave});
      corners.push_back({margin_x(i), arrive});
    }
    corners.push_back({target_x(i), arrive});
    corners.push_back({target_x(i), end.y});
    corners.push_back(end);
    return rounded(corners);
  }

  const std::vector<Band>& bands_;
  const std::vector<Route>& routes_;
  Sides sources_;
  Sides targets_;
  std::vector<Channel> channels_;
  std::vector<double> channel_tops_;
  Channel margin_;
  double margin_left_ = 0;
  Routed routed_;
};

}  // namespace

double needed_gap(const std::vector<Band>& bands, const std::vector<Route>& routes) {
  return Router(bands, routes).needed_gap();
}

Routed run_routes(const std::vector<Band>& bands, const std::vector<Route>& routes, double top) {
  return Router(bands, routes).run(top);
}

}  // namespace leapp::draw
