"""Semi-supervised classification and clustering: Classtering (Sansone 2018, chapter 2) and its baselines."""
