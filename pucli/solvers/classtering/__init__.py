"""Classtering: variational Bayes for a mixture of factor analyzers with class labels (Sansone 2018, chapter 2)."""
