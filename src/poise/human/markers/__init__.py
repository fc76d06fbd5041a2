"""Marker sets: which label sits where on the body, as data files; and labels of a trial brought together with one."""

from poise.human.markers.loading import load_marker_set, marker_sets
from poise.human.markers.marker_set import Marker, MarkerSet, landmark_links, segments
from poise.human.markers.matching import Matched, match

__all__ = [
    "Marker",
    "MarkerSet",
    "Matched",
    "landmark_links",
    "load_marker_set",
    "marker_sets",
    "match",
    "segments",
]
