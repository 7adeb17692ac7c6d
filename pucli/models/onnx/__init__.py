"""Saved models as ONNX graphs, in double precision throughout."""
