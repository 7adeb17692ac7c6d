"""Unbiased and non-negative PU learning (du Plessis et al. 2015; Kiryo et al. 2017)."""
