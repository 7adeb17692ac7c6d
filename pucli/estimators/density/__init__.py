"""Deep density estimators: the Plummer autoencoder and its competitors (Sansone 2018, chapter 4)."""
