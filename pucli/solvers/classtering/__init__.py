"""Classtering: variational Bayes for a mixture of factor analysers with class labels (Sansone 2018, chapter 2)."""
