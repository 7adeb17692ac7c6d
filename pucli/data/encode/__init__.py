"""Columns of any kind as numeric features: kinds, encoders, drift, label leakage."""
