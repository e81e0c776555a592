"""From a data file to a fitted model that is judged, saved and explained."""
