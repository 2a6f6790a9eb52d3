"""The model: tracks, lanes, slices, flows and counters, and the layer and activity each belongs to."""
